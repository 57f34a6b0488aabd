//! Amounts are whole fen. Discounts are percentages: 85 leaves 85 % of the price.

/// What is left of `price` after a discount, in fen.
pub fn discounted(price: u64, percent: u64) -> u64 {
    price / 100 * percent
}

/// What has to be paid after a discount and a coupon, in fen; never below zero.
pub fn payable(price: u64, percent: u64, coupon: u64) -> u64 {
    discounted(price, percent).saturating_sub(coupon)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_half_up() {
        assert_eq!(discounted(1_990, 85), 1_692);
        assert_eq!(discounted(10, 85), 9);
    }

    #[test]
    fn a_coupon_never_makes_it_negative() {
        assert_eq!(payable(500, 100, 800), 0);
    }
}
