//! Clipping that holds after floating-point rounding.
//!
//! A guarantee needs `norm(row) <= bound` for the numbers the program goes on with, not for the real numbers they
//! approximate. A computed norm of d entries is within `(d + 4) u` of the true one (u = 2^-53), so the factor is
//! shrunk by twice that, and what comes out is inside the ball exactly.

/// Clips a row to the l2 ball of radius `bound`, in place. A row with a NaN or an infinite entry follows a public
/// rule: it becomes the zero row.
pub(crate) fn clip_l2(row: &mut [f64], bound: f64) {
    let largest = row.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    if row.iter().any(|x| !x.is_finite()) {
        row.fill(0.0);
        return;
    }
    // A row whose entries all vanish beside the bound is inside the ball, and dividing by it would be 0/0 or worse.
    if largest <= bound * f64::EPSILON / (row.len() as f64).max(1.0) {
        return;
    }
    // Dividing by the largest entry keeps the squares in range; what underflows is below the margin.
    let squares: f64 = row.iter().map(|x| (x / largest) * (x / largest)).sum();
    let margin = 1.0 - (row.len() as f64 + 8.0) * f64::EPSILON;
    let allowed = bound * margin / largest;
    let norm = squares.sqrt();
    if norm <= allowed {
        return;
    }
    for x in row.iter_mut() {
        // In this order nothing overflows: |x / largest| <= 1 and allowed * largest is about the bound.
        *x = (*x / largest) * (bound * margin / norm);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dashu_int::IBig;
    use proptest::prelude::*;

    /// The exact sum of squares as an integer times 2^-2200.
    fn exact_square(row: &[f64]) -> IBig {
        row.iter()
            .map(|x| {
                let bits = x.abs().to_bits();
                let (exponent, fraction) = ((bits >> 52) as i64, bits & ((1 << 52) - 1));
                let (mantissa, exponent) =
                    if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) };
                let mantissa = IBig::from(mantissa);
                (&mantissa * &mantissa) << (2200 + 2 * exponent) as usize
            })
            .fold(IBig::ZERO, |a, b| a + b)
    }

    proptest! {
        #[test]
        fn the_clipped_row_is_inside_the_ball_exactly(
            mut row in prop::collection::vec(prop_oneof![
                any::<f64>(), -2.0..2.0, Just(1e300), Just(1e-310), Just(0.0)
            ], 0..40),
            bound in prop_oneof![1e-3..1e3_f64, Just(1.0)],
        ) {
            clip_l2(&mut row, bound);
            prop_assert!(row.iter().all(|x| x.is_finite()));
            prop_assert!(exact_square(&row) <= exact_square(&[bound]));
        }

        #[test]
        fn a_row_well_inside_is_left_alone(row in prop::collection::vec(-1.0..1.0_f64, 1..40)) {
            let mut clipped = row.clone();
            clip_l2(&mut clipped, (row.len() as f64).sqrt() * 1.001);
            prop_assert_eq!(clipped, row);
        }

        #[test]
        fn direction_and_length_are_kept(row in prop::collection::vec(-1e3..1e3_f64, 1..40)) {
            let norm = row.iter().map(|x| x * x).sum::<f64>().sqrt();
            prop_assume!(norm > 1.0);
            let mut clipped = row.clone();
            clip_l2(&mut clipped, 1.0);
            for (x, c) in row.iter().zip(&clipped) {
                prop_assert!((x / norm - c).abs() < 1e-12);
            }
        }
    }
}
