//! Scalars with a meaning of their own: time spans, paths, model names.

/// The longest time span: 100 years. What is longer is a slip of the pen, and times that no calendar holds are wrong
/// everywhere behind it.
const LONGEST: u64 = 100 * 365 * 86_400;

/// What a time span looks like, for those who wrote another.
pub(crate) const DURATIONS: &str =
    "a number with a unit, at most 100 years: `90s`, `5m`, `1h`, `7d`, `1h30m`";

/// The seconds of a time span: numbers with the units `s`, `m`, `h`, `d`, added up; at most 100 years.
pub(crate) fn duration(text: &str) -> Option<u64> {
    let mut rest = text.trim();
    let mut total: u64 = 0;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let number: u64 = rest[..digits].parse().ok()?;
        let factor = match rest[digits..].chars().next()? {
            's' => 1,
            'm' => 60,
            'h' => 3600,
            'd' => 86400,
            _ => return None,
        };
        total = total.checked_add(number.checked_mul(factor)?)?;
        rest = rest[digits + 1..].trim_start();
    }
    (total <= LONGEST).then_some(total)
}

/// What is wrong with a path that has to stay below the folder it starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BadPath {
    /// It starts at the root of the disk.
    Absolute,
    /// It has `..` in it.
    Leaves,
    /// It is empty, or has a character in it that no path has.
    Unusable,
}

/// A relative path with `/`, without `.` and doubled or final slashes.
pub(crate) fn path(text: &str) -> Result<String, BadPath> {
    if text.starts_with('/') || text.starts_with('\\') || text.as_bytes().get(1) == Some(&b':') {
        return Err(BadPath::Absolute);
    }
    if text.is_empty() || text.contains(['\0', '\n', '\r']) {
        return Err(BadPath::Unusable);
    }
    let mut parts = Vec::new();
    for part in text.split('/') {
        match part {
            "" | "." => {}
            ".." => return Err(BadPath::Leaves),
            part => parts.push(part),
        }
    }
    Ok(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_add_up() {
        assert_eq!(duration("90s"), Some(90));
        assert_eq!(duration("1h30m"), Some(5400));
        assert_eq!(duration("7d"), Some(604_800));
        assert_eq!(duration("36500d"), Some(LONGEST));
        for bad in
            ["", "36500d1s", "90", "s", "1.5h", "-1s", "1w", "99999999999999999999s", "9999999999999999999d"]
        {
            assert_eq!(duration(bad), None, "{bad}");
        }
    }

    #[test]
    fn paths_stay_below_their_folder() {
        assert_eq!(path("./a//b/"), Ok("a/b".to_owned()));
        assert_eq!(path("."), Ok(String::new()));
        assert_eq!(path("a/../b"), Err(BadPath::Leaves));
        assert_eq!(path("/etc/passwd"), Err(BadPath::Absolute));
        assert_eq!(path("C:/x"), Err(BadPath::Absolute));
        assert_eq!(path(""), Err(BadPath::Unusable));
    }
}
