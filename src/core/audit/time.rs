//! Times as logs write them.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use crate::core::wire::lossless::{Json, Kind};

/// A time in milliseconds since the Unix epoch: a text as RFC 3339 has it (without a zone: UTC), or a number of seconds,
/// milliseconds, microseconds or nanoseconds, told apart by their size.
#[must_use]
pub fn read(json: &Json, text: &str) -> Option<i64> {
    match &json.kind {
        Kind::Text(time) => of_text(time),
        Kind::Number => of_number(text[json.span.clone()].parse().ok()?),
        _ => None,
    }
}

/// A time that was written as a text.
#[must_use]
pub fn of_text(time: &str) -> Option<i64> {
    let time = time.trim();
    if let Ok(time) = time.parse::<Timestamp>() {
        return Some(time.as_millisecond());
    }
    if let Ok(time) = time.parse::<DateTime>() {
        return TimeZone::UTC.to_timestamp(time).ok().map(|time| time.as_millisecond());
    }
    time.parse().ok().and_then(of_number)
}

fn of_number(number: f64) -> Option<i64> {
    // Between 1973 and 5138 in every unit.
    let milliseconds = match number {
        1e8..1e11 => number * 1e3,
        1e11..1e14 => number,
        1e14..1e17 => number / 1e3,
        1e17..1e20 => number / 1e6,
        _ => return None,
    };
    Some(milliseconds as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_in_all_units_and_spellings() {
        for text in [
            "1700000000",
            "1700000000.0",
            "1700000000000",
            "1700000000000000",
            "1700000000000000000",
            "\"2023-11-14T22:13:20Z\"",
            "\"2023-11-14T22:13:20.000+00:00\"",
            "\"2023-11-15T06:13:20+08:00\"",
            "\"2023-11-14 22:13:20\"",
            "\"2023-11-14T22:13:20\"",
            "\"1700000000\"",
        ] {
            assert_eq!(read(&Json::parse(text).expect("JSON"), text), Some(1_700_000_000_000), "{text}");
        }
        for text in ["null", "5", "-1700000000", "\"soon\"", "1e400", "\"\""] {
            assert_eq!(read(&Json::parse(text).expect("JSON"), text), None, "{text}");
        }
    }
}
