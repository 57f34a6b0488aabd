//! Texts as YAML.

pub(crate) use super::quote::quoted;

use super::quote::hidden;

/// A text as a scalar on one line: without quotes where nobody could take it for anything else, else in double quotes.
pub(crate) fn scalar(text: &str) -> String {
    if is_plain(text) { text.to_owned() } else { quoted(text) }
}

/// True for words that need no quotes anywhere.
fn is_plain(text: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    // What starts with a digit, a sign or a point may be a number; these words are values of another kind.
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(word)
        && !matches!(
            text.to_ascii_lowercase().as_str(),
            "true" | "false" | "null" | "yes" | "no" | "on" | "off" | "y" | "n"
        )
}

/// A text as the value of a key: over several lines as a block where it has some, else as [`scalar`]. `indent` is that of
/// the key.
pub(crate) fn value(text: &str, indent: usize) -> String {
    block(text, indent + 2).unwrap_or_else(|| scalar(text))
}

/// A text of several lines as a block, its lines indented by `indent`; none where a block could not hold it.
pub(crate) fn block(text: &str, indent: usize) -> Option<String> {
    let body = text.trim_end_matches('\n');
    let ends = text.len() - body.len();
    if !body.contains('\n') || body.starts_with([' ', '\n', '\t']) {
        return None;
    }
    // What cannot be seen stays spelled out, and so do spaces that an editor would take away.
    let odd = |line: &str| {
        line.ends_with([' ', '\t']) || line.starts_with('\t') || line.chars().any(|c| c != '\t' && hidden(c))
    };
    if body.split('\n').any(odd) {
        return None;
    }
    let mut out = String::from(match ends {
        0 => "|-",
        1 => "|",
        _ => "|+",
    });
    for line in body.split('\n') {
        out.push('\n');
        if !line.is_empty() {
            out.push_str(&" ".repeat(indent));
            out.push_str(line);
        }
    }
    out.push_str(&"\n".repeat(ends.saturating_sub(1)));
    Some(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::io::syntax;

    /// What a reader makes of the text as a value, with another key behind it.
    fn read(text: &str) -> String {
        let yaml = format!("a:\n  text: {}\n  flow: [{}]\n  next: 1\n", value(text, 2), scalar(text));
        let root =
            syntax::parse(&"x".into(), &yaml).unwrap_or_else(|problems| panic!("{}\n{yaml}", problems[0]));
        let map = root.get("a").expect("a");
        assert_eq!(map.get("next").expect("next").text.as_ref(), "1", "{yaml}");
        let flow = &map.get("flow").expect("flow").items()[0];
        assert_eq!(flow.as_text().map(|t| &**t), Some(text), "{yaml}");
        map.get("text").expect("text").as_text().unwrap_or_else(|| panic!("no text: {yaml}")).to_string()
    }

    #[test]
    fn texts_look_as_people_write_them() {
        assert_eq!(scalar("AGENTS.md"), "AGENTS.md");
        assert_eq!(scalar("No"), "\"No\"");
        assert_eq!(scalar("a: b"), "\"a: b\"");
        assert_eq!(scalar("\u{200b}你\u{1}"), "\"\u{200b}你\\u0001\"");
        assert_eq!(value("one\n\n  two\n", 2), "|\n    one\n\n      two");
        assert_eq!(value("one\ntwo", 0), "|-\n  one\n  two");
        assert_eq!(value("one\ntwo ", 0), "\"one\\ntwo \"");
    }

    #[test]
    fn odd_texts_come_back() {
        for text in [
            "",
            " ",
            "\n",
            "a\n\n\n",
            "a\nb\n\n",
            "# no comment",
            "- a\n- b",
            "a #b\nc: d",
            "null",
            "1.0",
            "~",
            "---\na",
            "a\n...\nb",
            "\ta\nb",
            "a\r\nb\r\n",
            "a\u{2028}b",
            "\u{feff}a\nb",
            "%a\nb",
            "{{ x }}\n{% y %}",
            "'\"\\",
            "|\n>",
            "a\n\u{85}\nb",
        ] {
            assert_eq!(read(text), text);
        }
    }

    proptest! {
        #[test]
        fn any_text_comes_back(text in "[a-c \\n\\t\\r:#'\"\\\\{}|>&*!%@`~,\\[\\]?0-9.\\-\\u{4e00}\\u{1f642}\\u{a0}\\u{2028}\\u{feff}\\u{1}]{0,24}") {
            prop_assert_eq!(read(&text), text);
        }
    }
}
