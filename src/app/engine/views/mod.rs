//! The data of the views besides the panes, worked out only while their view is open.

mod injectors;
mod ledger;
mod log;
mod steps;
mod zones;

pub use injectors::injectors;
pub use ledger::{Lanes, ledger};
pub use log::{Chosen, log};
pub use steps::steps;
pub use zones::{Asked, zones};

use crate::core::wire::CallNo;

/// Calls in words: `2, 4-6`.
fn calls(calls: &[CallNo]) -> String {
    let mut out = String::new();
    let mut at = 0;
    while at < calls.len() {
        let mut end = at;
        while calls.get(end + 1).is_some_and(|next| next.0 == calls[end].0 + 1) {
            end += 1;
        }
        let gap = if out.is_empty() { "" } else { ", " };
        out.push_str(&match end - at {
            0 => format!("{gap}{}", calls[at].0),
            1 => format!("{gap}{}, {}", calls[at].0, calls[end].0),
            _ => format!("{gap}{}-{}", calls[at].0, calls[end].0),
        });
        at = end + 1;
    }
    let word = if calls.len() == 1 { "call" } else { "calls" };
    format!("{word} {out}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_follow_one_another_are_a_range() {
        let words = |numbers: &[u32]| calls(&numbers.iter().copied().map(CallNo).collect::<Vec<_>>());
        assert_eq!(words(&[3]), "call 3");
        assert_eq!(words(&[2, 3]), "calls 2, 3");
        assert_eq!(words(&[2, 4, 5, 6, 9]), "calls 2, 4-6, 9");
    }
}
