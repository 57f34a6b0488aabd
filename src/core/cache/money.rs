//! Amounts of money as whole numbers: sums of thousands of calls stay exact.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Sub};

use serde::{Serialize, Serializer};

/// An amount in US dollars, held in picodollars (10^-12 dollars).
///
/// A price of 1 dollar for a million tokens is 1,000,000 picodollars a token, so prices with up to six decimals are
/// whole numbers, too. Serialized as a number of dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Money(u128);

const PICO: u128 = 1_000_000_000_000;

impl Money {
    /// Nothing.
    pub const ZERO: Money = Money(0);

    /// An amount of picodollars.
    #[must_use]
    pub const fn pico(amount: u128) -> Money {
        Money(amount)
    }

    /// The amount in picodollars.
    #[must_use]
    pub const fn as_pico(self) -> u128 {
        self.0
    }

    /// The amount in dollars, for what draws or serializes it; never for sums.
    #[must_use]
    pub fn dollars(self) -> f64 {
        self.0 as f64 / PICO as f64
    }

    /// The amount with this many decimals (at most 12), rounded half up, without a sign of currency: `64.38`.
    #[must_use]
    pub fn decimals(self, decimals: u32) -> String {
        let decimals = decimals.min(12);
        let step = 10_u128.pow(12 - decimals);
        let rounded = (self.0 + step / 2) / step;
        let unit = 10_u128.pow(decimals);
        if decimals == 0 {
            return rounded.to_string();
        }
        format!("{}.{:0width$}", rounded / unit, rounded % unit, width = decimals as usize)
    }

    /// The difference, zero where `other` is more.
    #[must_use]
    pub const fn saturating_sub(self, other: Money) -> Money {
        Money(self.0.saturating_sub(other.0))
    }
}

/// With four decimals: `$0.0213`; what rounds to zero but is not says so: `<$0.0001`.
impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 > 0 && self.0 < PICO / 20_000 {
            return f.write_str("<$0.0001");
        }
        write!(f, "${}", self.decimals(4))
    }
}

impl Serialize for Money {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.dollars())
    }
}

impl Add for Money {
    type Output = Money;

    fn add(self, other: Money) -> Money {
        Money(self.0 + other.0)
    }
}

impl Sub for Money {
    type Output = Money;

    /// # Panics
    ///
    /// When `other` is more.
    fn sub(self, other: Money) -> Money {
        Money(self.0 - other.0)
    }
}

impl AddAssign for Money {
    fn add_assign(&mut self, other: Money) {
        self.0 += other.0;
    }
}

impl Mul<u64> for Money {
    type Output = Money;

    fn mul(self, times: u64) -> Money {
        Money(self.0 * u128::from(times))
    }
}

impl Sum for Money {
    fn sum<I: Iterator<Item = Money>>(items: I) -> Money {
        items.fold(Money::ZERO, Add::add)
    }
}

/// A price for a token.
///
/// Written in dollars for a million tokens, as vendors do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rate(u64);

impl Rate {
    /// Reads a price in dollars for a million tokens: `2.50`, `0.125`, at most six decimals. None for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Rate> {
        let (whole, part) = text.split_once('.').unwrap_or((text, ""));
        let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
        if whole.is_empty() || whole.len() > 9 || part.len() > 6 || !digits(whole) || !digits(part) {
            return None;
        }
        let part: u64 = format!("{part:0<6}").parse().ok()?;
        Some(Rate(whole.parse::<u64>().ok()? * 1_000_000 + part))
    }

    /// The cost of this many tokens.
    #[must_use]
    pub fn of(self, tokens: u32) -> Money {
        Money(u128::from(self.0) * u128::from(tokens))
    }

    /// The price in dollars for a million tokens, for what draws or serializes it.
    #[must_use]
    pub fn per_million(self) -> f64 {
        self.0 as f64 / 1_000_000.0
    }

    /// The price times a factor in thousandths: 2,000 doubles it.
    #[must_use]
    pub fn times(self, thousandths: u32) -> Rate {
        Rate(self.0 * u64::from(thousandths) / 1_000)
    }
}

/// In dollars for a million tokens, with as many decimals as it needs but at least two: `2.50`, `0.125`.
impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = format!("{:06}", self.0 % 1_000_000);
        let part = part.trim_end_matches('0');
        write!(f, "{}.{part:0<2}", self.0 / 1_000_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_exact_and_shown_rounded() {
        let rate = Rate::parse("2.25").unwrap();
        assert_eq!(rate.of(9_472).to_string(), "$0.0213");
        assert_eq!((rate.of(9_472) * 1_000).decimals(2), "21.31");
        assert_eq!(Money::ZERO.to_string(), "$0.0000");
        assert_eq!(Rate::parse("0.01").unwrap().of(1).to_string(), "<$0.0001");
        assert_eq!(Money::pico(50_000_000).to_string(), "$0.0001");
        assert_eq!(Money::pico(1_500_000_000_000).decimals(0), "2");
    }

    #[test]
    fn prices_are_read_and_shown() {
        for (text, shown) in [("2", "2.00"), ("2.5", "2.50"), ("0.125", "0.125"), ("0.003", "0.003")] {
            assert_eq!(Rate::parse(text).unwrap().to_string(), shown);
        }
        for wrong in ["", ".5", "-1", "1e3", "0.0000001", "1.2.3"] {
            assert_eq!(Rate::parse(wrong), None, "{wrong}");
        }
        assert_eq!(Rate::parse("0.25").unwrap().times(2_000), Rate::parse("0.5").unwrap());
    }
}
