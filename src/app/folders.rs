//! Completion of folders, as prompts name them.

use std::sync::Arc;

/// What `typed` can become: one entry for each folder one level below its last `/`, in order, written as the user
/// began (relative stays relative). `folders` are absolute and sorted.
#[must_use]
pub fn complete(typed: &str, cwd: &str, folders: &[Arc<str>]) -> Vec<String> {
    let (stem, begun) = typed.rfind('/').map_or(("", typed), |slash| typed.split_at(slash + 1));
    let mut inside = resolve(cwd, stem);
    if !inside.ends_with('/') {
        inside.push('/');
    }
    let mut names: Vec<&str> = folders
        .iter()
        .filter_map(|folder| folder.strip_prefix(&inside))
        .filter_map(|below| below.split('/').next())
        .filter(|name| !name.is_empty() && name.starts_with(begun))
        .collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().map(|name| format!("{stem}{name}")).collect()
}

/// The absolute path that `typed` names from `cwd`, without `.` and `..`.
#[must_use]
pub fn resolve(cwd: &str, typed: &str) -> String {
    let mut parts: Vec<&str> = if typed.starts_with('/') { Vec::new() } else { cwd.split('/').collect() };
    parts.extend(typed.split('/'));
    let mut out: Vec<&str> = Vec::new();
    for part in parts {
        match part {
            "" | "." => {}
            ".." => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    format!("/{}", out.join("/"))
}

/// The longest beginning that all have in common, cut at a character boundary.
#[must_use]
pub fn common_start(texts: &[String]) -> &str {
    let Some(first) = texts.first() else { return "" };
    let mut len = first.len();
    for text in &texts[1..] {
        let same = first.bytes().zip(text.bytes()).take_while(|(a, b)| a == b).count();
        len = len.min(same);
    }
    while !first.is_char_boundary(len) {
        len -= 1;
    }
    &first[..len]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_complete_one_level_at_a_time() {
        let folders: Vec<Arc<str>> =
            ["/home/shop", "/home/shop/api", "/home/shop/api/v1", "/home/shop/app", "/home/shop/网页"]
                .map(Arc::from)
                .to_vec();
        for (typed, want) in [
            ("", &["api", "app", "网页"][..]),
            ("ap", &["api", "app"]),
            ("api/", &["api/v1"]),
            ("/home/shop/网", &["/home/shop/网页"]),
            ("/home/shop/", &["/home/shop/api", "/home/shop/app", "/home/shop/网页"]),
            ("/h", &["/home"]),
            ("../", &["../shop"]),
            ("x", &[]),
        ] {
            assert_eq!(complete(typed, "/home/shop", &folders), want, "{typed}");
        }
        assert_eq!(common_start(&complete("a", "/home/shop", &folders)), "ap");
    }

    #[test]
    fn a_common_start_ends_between_characters() {
        assert_eq!(common_start(&["目录".to_owned(), "目标".to_owned()]), "目");
        // Both begin with the same two bytes of three.
        assert_eq!(common_start(&["一".to_owned(), "丁".to_owned()]), "");
    }
}
