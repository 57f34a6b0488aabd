//! Times on the command line.

use jiff::{Span, Timestamp, ZonedDateTime};

use crate::cli::output::{Failure, Result};
use crate::core::audit::time;

/// A time in milliseconds since the Unix epoch: a time as RFC 3339 has it, a day (its beginning here), or how long ago.
pub(super) fn parse(flag: &str, text: &str) -> Result<i64> {
    ago(text, &ZonedDateTime::now()).or_else(|| day(text)).or_else(|| time::of_text(text)).ok_or_else(|| {
        let examples = "2026-05-01T09:00:00Z, 2026-05-01, 90min, 2h or 7d";
        Failure::message(format!("{flag} {text}: write a time such as {examples}"))
    })
}

fn day(text: &str) -> Option<i64> {
    let day: jiff::civil::Date = text.parse().ok()?;
    let here = jiff::tz::TimeZone::system();
    Some(here.to_timestamp(day.at(0, 0, 0, 0)).ok()?.as_millisecond())
}

fn ago(text: &str, now: &ZonedDateTime) -> Option<i64> {
    if !text.starts_with(|c: char| c.is_ascii_digit()) || !text.ends_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let span: Span = text.parse().ok()?;
    let then: Timestamp = now.checked_sub(span).ok()?.timestamp();
    Some(then.as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_days_and_spans() {
        let at = |text: &str| parse("--since", text).ok();
        assert_eq!(at("2026-05-01T09:00:00Z"), Some(1_777_626_000_000));
        assert!(at("2026-05-01").is_some_and(|day| (day - 1_777_593_600_000).abs() <= 14 * 3_600_000));
        let now: ZonedDateTime = "2026-05-01T09:00:00+00:00[UTC]".parse().expect("a time");
        assert_eq!(ago("2h", &now), Some(1_777_626_000_000 - 7_200_000));
        assert_eq!(ago("7d", &now), Some(1_777_626_000_000 - 7 * 86_400_000));
        for text in ["soon", "", "2026-13-01", "2 parsecs"] {
            assert_eq!(at(text), None, "{text}");
        }
    }
}
