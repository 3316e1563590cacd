//! How many columns a budget can tell from noise: from public numbers alone.
//!
//! # The rule
//! A selection adds noise of a scale, and the largest of `2d` such noises is about `ln 2d` scales; a column is told from them if its
//! vote is `ln(2d / s) + 1` scales. How large votes are is private, so what a model of s columns would have is assumed: s coefficients
//! that are the larger half of 2s normal ones, whose columns together explain a share `strength^2` of the response, and a
//! smaller class of a fifth of the rows. The number chosen is the largest whose last column would be told. The same for every
//! smaller s, and the best of all: so a user who asks for more never gets fewer.
//!
//! # What for
//! With k columns each selection has noise of `sqrt k` times that of one. Asked for more than it can tell, a selection loses those
//! that it could have told.
//!
//! # Guarantee
//! None is needed: no private row is looked at, and what is chosen is paid for whatever the number is.

use crate::families::{Domain, Family};
use crate::numeric::normal_quantile;
use crate::release::Privacy;

/// A choice of columns: how many, and how it is paid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Affordable {
    /// At most so many columns are chosen.
    pub(crate) columns: usize,
    /// The share of the budget that choosing them deserves.
    pub(crate) share: f64,
    /// Whether the sign of a column's vote is chosen with it. With few columns so little is left for their coefficients that signs
    /// would be lost; a fifth of the budget tells the signs of all that are told from noise.
    pub(crate) signed: bool,
}

/// So few columns take nearly all of the budget: what matters is which.
const FEW: usize = 3;
/// The share of the rows in the smaller class.
const SMALLER_CLASS: f64 = 0.2;

impl Affordable {
    /// For `asked` of `columns` columns.
    pub(crate) fn of(family: &Family, units: usize, columns: usize, asked: usize, privacy: Privacy) -> Self {
        let count = match privacy {
            Privacy::None => asked,
            Privacy::Budget(_) => {
                let strength = strength(family) * SMALLER_CLASS * units as f64 * privacy.mu();
                sizes(asked).map(|size| told(strength, columns, size)).max().unwrap_or(1)
            }
        };
        Self { columns: count, share: share(count), signed: count <= FEW }
    }
}

/// The root of the share of a response that few columns explain. A binary response is mostly chance; a real one may be all
/// explained.
fn strength(family: &Family) -> f64 {
    if family.domain() == Domain::Real { 1.0 } else { 0.4 }
}

fn share(count: usize) -> f64 {
    match count {
        0 | 1 => 0.97,
        2..=FEW => 0.9,
        _ => 0.8,
    }
}

/// Sizes of models up to this one: all small ones, then a tenth apart, the same for every `asked`.
fn sizes(asked: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(1_usize), |&size| Some(size + (size / 10).max(1)))
        .take_while(move |&size| size <= asked)
}

/// How many of the `size` columns of a model are told from noise, at least one.
fn told(strength: f64, columns: usize, size: usize) -> usize {
    let needed = (2.0 * columns as f64 / size as f64).ln() + 1.0;
    let is_told = |count: usize| {
        // A selection of share r / k of the budget mu has scale 1 / (mu sqrt(r / k)) for votes that change by 1.
        let last = normal_quantile(1.0 - count as f64 / (4.0 * size as f64));
        (share(count) / count as f64).sqrt() * strength / (size as f64).sqrt() * last >= needed
    };
    if size <= FEW || !is_told(FEW + 1) {
        return (2..=size.min(FEW)).take_while(|&count| is_told(count)).last().unwrap_or(1);
    }
    // Beyond a few both factors fall.
    let (mut low, mut high) = (FEW + 1, size + 1);
    while high - low > 1 {
        let middle = low.midpoint(high);
        if is_told(middle) { low = middle } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::Budget;

    fn count(family: &Family, units: usize, columns: usize, asked: usize, epsilon: f64) -> usize {
        let privacy = Privacy::Budget(Budget::new(epsilon, 0.1 / units as f64).expect("valid"));
        Affordable::of(family, units, columns, asked, privacy).columns
    }

    /// Asking for more never gives fewer, nor more than asked for; nor does a larger budget.
    #[test]
    fn more_is_never_fewer() {
        for (units, columns) in [(800, 88_000), (24_000, 2_400), (1_000_000, 500)] {
            let mut before = vec![0; 300];
            for epsilon in [0.1, 0.5, 2.0, 8.0] {
                let counts: Vec<usize> =
                    (1..=300).map(|s| count(&Family::logistic(), units, columns, s, epsilon)).collect();
                assert!(counts.windows(2).all(|pair| pair[0] <= pair[1]), "{units}, {epsilon}");
                assert!(counts.iter().enumerate().all(|(i, &k)| (1..=i + 1).contains(&k)));
                assert!(counts.iter().zip(&before).all(|(now, before)| now >= before));
                before = counts;
            }
        }
    }

    #[test]
    fn small_budgets_choose_one_column_and_large_ones_all() {
        assert_eq!(count(&Family::logistic(), 1_451, 10_346, 5, 0.5), 1);
        assert_eq!(count(&Family::logistic(), 80_000, 10_000, 10, 0.5), 10);
        assert_eq!(count(&Family::gaussian(), 800, 1_000, 10, 5.0), 10);
        assert!((5..60).contains(&count(&Family::logistic(), 24_016, 2_400, 100, 0.2)));
        let all = Affordable::of(&Family::logistic(), 10, 1_000, 30, Privacy::None);
        assert_eq!((all.columns, all.signed), (30, false));
    }
}
