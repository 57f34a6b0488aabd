//! A key between two others, for a place that goes by keys.

/// A key for a layer that had `own` and passes the one with the key `past`, upward or downward. `others` are the keys of
/// the place without its own. Where keys begin with a number, only the number changes.
///
/// # Errors
///
/// When no key fits between: one sentence, lower case, without a full stop.
pub(super) fn beside(own: &str, past: &str, up: bool, others: &[&str]) -> Result<String, String> {
    let (low, high) = if up {
        (others.iter().copied().filter(|key| *key < past).max(), Some(past))
    } else {
        (Some(past), others.iter().copied().filter(|key| *key > past).min())
    };
    let fits = |key: &String| low.is_none_or(|low| &**key > low) && high.is_none_or(|high| &**key < high);
    candidates(own, low, high).into_iter().find(fits).ok_or_else(|| {
        let (low, high) = (low.unwrap_or("the first"), high.unwrap_or("the last"));
        format!("no key fits between {low} and {high}; change the keys in the bench")
    })
}

/// A key's number, how many digits it has, and what stands behind it.
fn divided(key: &str) -> (Option<(u64, usize)>, &str) {
    let digits = key.bytes().take_while(u8::is_ascii_digit).count();
    (key[..digits].parse().ok().map(|number| (number, digits)), &key[digits..])
}

/// Keys that may fit, the most natural first.
fn candidates(own: &str, low: Option<&str>, high: Option<&str>) -> Vec<String> {
    let (number, name) = divided(own);
    let mut keys = Vec::new();
    if let Some((_, width)) = number {
        let of = |key: Option<&str>| key.and_then(|key| divided(key).0);
        let numbered = |number: u64, width: usize| format!("{number:0width$}{name}");
        match (of(low), of(high)) {
            (Some((low, _)), None) => keys.extend([low + 10, low + 5, low + 1].map(|n| numbered(n, width))),
            (low, Some((high, digits))) => {
                let low = low.map_or(0, |(low, _)| low);
                let middle = low + high.saturating_sub(low) / 2;
                keys.extend([middle, high.saturating_sub(1), low + 1, high, low].map(|n| numbered(n, width)));
                // More digits come before fewer: `_` stands behind all of them.
                keys.push(numbered(high, digits + 1));
                keys.push(numbered(0, digits + 1));
            }
            (None, None) => {}
        }
    }
    let name = name.trim_start_matches(['_', '-']);
    let name = if name.is_empty() { own } else { name };
    match low {
        Some(low) => keys.push(format!("{low}_{name}")),
        None => keys.push(format!("0_{name}")),
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_between_is_found_where_there_is_one() {
        let others = ["00_base", "05_channel", "05_project_hint", "15_agents", "30_sender"];
        for (own, past, up, key) in [
            ("10_skills", "05_project_hint", true, "05_channel_skills"),
            ("10_skills", "05_channel", true, "02_skills"),
            ("10_skills", "00_base", true, "000_skills"),
            ("10_skills", "15_agents", false, "22_skills"),
            ("10_skills", "30_sender", false, "40_skills"),
            ("extra", "15_agents", false, "15_agents_extra"),
            ("extra", "00_base", true, ""),
        ] {
            assert_eq!(beside(own, past, up, &others).unwrap_or_default(), key, "{own} past {past}");
        }
        assert_eq!(beside("b", "a", true, &["a"]), Ok("0_b".to_owned()));
        assert_eq!(
            beside("b", "0", true, &["0"]),
            Err("no key fits between the first and 0; change the keys in the bench".to_owned())
        );
    }

    #[test]
    fn what_is_found_stands_between() {
        let names = ["", "0", "00_a", "05_b", "5", "9_x", "a", "a_b", "b", "z"];
        for own in names {
            for past in names.into_iter().filter(|past| *past != own) {
                let others: Vec<&str> = names.into_iter().filter(|other| *other != own).collect();
                for up in [true, false] {
                    let Ok(key) = beside(own, past, up, &others) else { continue };
                    let (below, above) = (
                        others.iter().filter(|other| **other < &*key).count(),
                        others.iter().filter(|other| **other < past).count(),
                    );
                    assert_eq!(below, if up { above } else { above + 1 }, "{own} past {past}: {key}");
                    assert!(!others.contains(&&*key));
                }
            }
        }
    }
}
