//! Integers of any length, as far as reading and writing long doubles needs them.

use std::cmp::Ordering;

/// What a limb of [`BigInteger`] can hold, and one more.
const LIMB: u64 = 1 << 32;

/// An integer that is not negative.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct BigInteger {
    /// In base 2^32, the lowest first; the highest is not zero.
    limbs: Vec<u32>,
}

impl From<u64> for BigInteger {
    fn from(value: u64) -> Self {
        let limbs = vec![(value % LIMB) as u32, (value / LIMB) as u32];
        BigInteger { limbs }.trimmed()
    }
}

impl BigInteger {
    fn trimmed(mut self) -> Self {
        while self.limbs.last() == Some(&0) {
            self.limbs.pop();
        }
        self
    }

    pub(super) fn is_zero(&self) -> bool {
        self.limbs.is_empty()
    }

    /// How many bits it has without leading zeros.
    pub(super) fn bits(&self) -> u32 {
        let highest = self
            .limbs
            .last()
            .map_or(0, |limb| 32 - limb.leading_zeros());
        (self.limbs.len() as u32).saturating_sub(1) * 32 + highest
    }

    /// Its lowest 64 bits.
    pub(super) fn low(&self) -> u64 {
        let limb = |index| self.limbs.get(index).copied().map_or(0, u64::from);
        limb(0) + limb(1) * LIMB
    }

    /// Makes it `self * factor + addend`.
    pub(super) fn multiply_add(&mut self, factor: u32, addend: u32) {
        let mut carry = u64::from(addend);
        for limb in &mut self.limbs {
            let product = u64::from(*limb) * u64::from(factor) + carry;
            *limb = (product % LIMB) as u32;
            carry = product / LIMB;
        }
        if carry > 0 {
            self.limbs.push(carry as u32);
        }
    }

    pub(super) fn multiply_by_power_of_ten(&mut self, exponent: u32) {
        for _ in 0..exponent {
            self.multiply_add(10, 0);
        }
    }

    /// Divides it and returns the remainder.
    fn divide(&mut self, divisor: u32) -> u32 {
        let mut remainder = 0;
        for limb in self.limbs.iter_mut().rev() {
            let dividend = remainder * LIMB + u64::from(*limb);
            *limb = (dividend / u64::from(divisor)) as u32;
            remainder = dividend % u64::from(divisor);
        }
        while self.limbs.last() == Some(&0) {
            self.limbs.pop();
        }
        remainder as u32
    }

    pub(super) fn shifted_left(&self, bits: u32) -> Self {
        let mut limbs = vec![0; (bits / 32) as usize];
        let mut carry = 0;
        for limb in &self.limbs {
            let shifted = u64::from(*limb) << (bits % 32) | carry;
            limbs.push((shifted % LIMB) as u32);
            carry = shifted / LIMB;
        }
        limbs.push(carry as u32);
        BigInteger { limbs }.trimmed()
    }

    /// Without the lowest bits, rounded to the nearest, and to an even one between two. `more`
    /// says that there is a little more than what is here.
    pub(super) fn rounded_right(&self, bits: u32, more: bool) -> Self {
        if bits == 0 {
            return self.clone();
        }
        let whole = (bits / 32) as usize;
        let shift = bits % 32;
        let limb = |index: usize| self.limbs.get(index).copied().map_or(0, u64::from);
        let limbs = (whole..self.limbs.len())
            .map(|index| ((limb(index) + limb(index + 1) * LIMB) >> shift) as u32)
            .collect();
        let mut shifted = BigInteger { limbs }.trimmed();
        let half = self.bit(bits - 1);
        let below = more || (0..bits - 1).any(|bit| self.bit(bit));
        if half && (below || shifted.bit(0)) {
            shifted = shifted.plus(&BigInteger::from(1));
        }
        shifted
    }

    fn bit(&self, bit: u32) -> bool {
        let limb = self.limbs.get((bit / 32) as usize);
        limb.is_some_and(|limb| limb >> (bit % 32) & 1 == 1)
    }

    pub(super) fn plus(&self, other: &Self) -> Self {
        let length = self.limbs.len().max(other.limbs.len());
        let limb = |of: &Self, index: usize| of.limbs.get(index).copied().map_or(0, u64::from);
        let mut carry = 0;
        let mut limbs = Vec::with_capacity(length + 1);
        for index in 0..length {
            let sum = limb(self, index) + limb(other, index) + carry;
            limbs.push((sum % LIMB) as u32);
            carry = sum / LIMB;
        }
        limbs.push(carry as u32);
        BigInteger { limbs }.trimmed()
    }

    /// The difference to one that is not greater.
    pub(super) fn minus(&self, other: &Self) -> Self {
        let mut borrow = 0;
        let mut limbs = Vec::with_capacity(self.limbs.len());
        for (index, limb) in self.limbs.iter().enumerate() {
            let taken = other.limbs.get(index).copied().map_or(0, u64::from) + borrow;
            borrow = u64::from(taken > u64::from(*limb));
            limbs.push((borrow * LIMB + u64::from(*limb)).wrapping_sub(taken) as u32);
        }
        BigInteger { limbs }.trimmed()
    }

    /// The quotient of a division, if it is less than 2^96, and whether something remains.
    pub(super) fn divided_by(&self, divisor: &Self) -> (Self, bool) {
        const QUOTIENT_BITS: u32 = 96;
        let mut remainder = self.clone();
        let mut quotient = BigInteger::default();
        for bit in (0..QUOTIENT_BITS).rev() {
            let part = divisor.shifted_left(bit);
            quotient.multiply_add(2, 0);
            if remainder >= part {
                remainder = remainder.minus(&part);
                quotient = quotient.plus(&BigInteger::from(1));
            }
        }
        (quotient, !remainder.is_zero())
    }

    pub(super) fn to_decimal(&self) -> String {
        const DIGITS: u32 = 1_000_000_000;
        let mut rest = self.clone();
        let mut groups = Vec::new();
        while !rest.is_zero() {
            groups.push(rest.divide(DIGITS));
        }
        let first = groups.pop().unwrap_or(0).to_string();
        let others = groups.iter().rev().map(|group| format!("{group:09}"));
        std::iter::once(first).chain(others).collect()
    }
}

impl Ord for BigInteger {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_length = self.limbs.len().cmp(&other.limbs.len());
        by_length.then_with(|| self.limbs.iter().rev().cmp(other.limbs.iter().rev()))
    }
}

impl PartialOrd for BigInteger {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::BigInteger;

    fn power_of_ten(exponent: u32) -> BigInteger {
        let mut power = BigInteger::from(1);
        power.multiply_by_power_of_ten(exponent);
        power
    }

    #[test]
    fn arithmetic_goes_over_limbs() {
        let large = power_of_ten(30);
        assert_eq!(large.to_decimal(), format!("1{}", "0".repeat(30)));
        assert_eq!(BigInteger::default().to_decimal(), "0");
        let one = BigInteger::from(1);
        assert_eq!(large.minus(&one).to_decimal(), "9".repeat(30));
        assert_eq!(large.minus(&one).plus(&one), large);
        assert_eq!(large.shifted_left(67).rounded_right(67, false), large);
        assert_eq!(one.shifted_left(100).bits(), 101);
        assert_eq!(BigInteger::from(u64::MAX).low(), u64::MAX);
        assert!(large > one && one > BigInteger::default());
    }

    #[test]
    fn a_tie_goes_to_the_even() {
        for (value, more, rounded) in [
            (5, false, 1),
            (6, false, 2),
            (10, false, 2),
            (10, true, 3),
            (7, false, 2),
        ] {
            let rounded_value = BigInteger::from(value).rounded_right(2, more);
            assert_eq!(rounded_value, BigInteger::from(rounded), "{value}");
        }
    }

    #[test]
    fn division_tells_what_remains() {
        let (quotient, remains) = power_of_ten(30).divided_by(&power_of_ten(12));
        assert_eq!((quotient, remains), (power_of_ten(18), false));
        let (quotient, remains) =
            power_of_ten(30).divided_by(&BigInteger::from(7).shifted_left(60));
        assert_eq!(
            (quotient.to_decimal().as_str(), remains),
            ("123908819712", true)
        );
    }
}
