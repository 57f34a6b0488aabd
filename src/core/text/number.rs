//! Numbers as people read them.

use std::fmt;

/// A whole number, not below zero, with a comma between each three digits: `9,472`. Keeps to a width that a format asks
/// for.
#[derive(Clone, Copy, Debug)]
pub struct Thousands<N>(pub N);

impl<N: fmt::Display> fmt::Display for Thousands<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        let mut text = String::with_capacity(digits.len() + digits.len() / 3);
        for (index, digit) in digits.char_indices() {
            if index > 0 && (digits.len() - index).is_multiple_of(3) {
                text.push(',');
            }
            text.push(digit);
        }
        f.pad_integral(true, "", &text)
    }
}

/// [`Thousands`] as a text.
#[must_use]
pub fn grouped<N: fmt::Display>(number: N) -> String {
    Thousands(number).to_string()
}

/// So many of something, in words: `1 call`, `1,200 calls`.
#[must_use]
pub fn counted(number: u64, word: &str) -> String {
    format!("{} {word}{}", Thousands(number), if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_commas() {
        for (number, text) in [(0_u64, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), text);
        }
        assert_eq!(grouped(12_345_678_u32), "12,345,678");
        assert_eq!(format!("{:>7}", Thousands(1_000)), "  1,000");
    }

    #[test]
    fn one_is_one() {
        assert_eq!((&*counted(1, "call"), &*counted(1_200, "call")), ("1 call", "1,200 calls"));
    }
}
