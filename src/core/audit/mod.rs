//! Logs of real requests: what their provider reported of its cache, what was to be expected, and who is to blame.
//!
//! A line of a log goes through [`Reader`], which finds the call in it and takes over what lines before had in common with
//! it, and then to the [`Judge`], which finds the conversation that the call goes on with, plays it against the caches of
//! [`crate::core::cache`] at its real time, and compares. Where a log keeps the pieces of a call is told by a [`Shape`].

mod body;
mod call;
mod conversation;
mod judge;
mod matched;
mod params;
mod pieces;
mod reader;
mod repeats;
mod scan;
#[cfg(test)]
mod tests;
pub mod time;
mod totals;
mod usage;
mod walk;

pub use call::{Call, Figures, Found, time as duration};
pub use judge::{Calibration, Judge};
pub use matched::{Layers, Matched};
pub use pieces::{Look, Pieces, Shape, format_of_url};
pub use reader::{Exchange, Reader, Skipped};
pub use repeats::Repeats;
pub use scan::Balance;
pub use totals::{Group, GroupBy, NO_CAUSE, Seen, Sums, Totals};
pub use usage::{Answered, Reported};
pub use walk::{Field, Fields};

/// The fields of a line, read in full.
///
/// # Errors
///
/// At the first byte that cannot be JSON.
pub fn fields(line: &[u8]) -> Result<Fields, crate::core::wire::lossless::Mistake> {
    walk::walk(line, &[])
}

/// The items of a line that is a list; none where it is something else.
#[must_use]
pub fn items(line: &[u8]) -> Option<Vec<std::ops::Range<usize>>> {
    let mut scan = scan::Scan::new(line);
    scan.space();
    let mut items = Vec::new();
    if scan.peek() != Some(b'[') {
        return None;
    }
    scan.at += 1;
    scan.space();
    if scan.peek() == Some(b']') {
        scan.at += 1;
    } else {
        loop {
            scan.space();
            items.push(scan.value(1).ok()?);
            scan.space();
            match scan.peek()? {
                b',' => scan.at += 1,
                b']' => {
                    scan.at += 1;
                    break;
                }
                _ => return None,
            }
        }
    }
    scan.end().ok()?;
    Some(items)
}
