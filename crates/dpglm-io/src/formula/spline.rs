//! Curves of one number with public knots, as columns.
//!
//! * **Natural cubic splines** in the basis of values at knots: a column is the natural spline that is 1 at its knot and 0 at the others. They
//!   add up to 1, so the first inner knot has none: a coefficient is what the predictor has there more than at that knot.
//! * **B-splines**: non-negative, adding up to 1; the first has no column.
//! * **Pieces**: `x` itself and `max(x - knot, 0)`: a coefficient is a change of slope.

/// A curve's columns.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Basis {
    /// Ends and knots, ascending, and the second derivatives at them of each basis function.
    Natural {
        knots: Vec<f64>,
        second: Vec<Vec<f64>>,
    },
    /// Knots with the ends as often as a B-spline of this degree needs.
    B {
        knots: Vec<f64>,
        degree: usize,
    },
    Pieces {
        knots: Vec<f64>,
    },
}

impl Basis {
    /// A natural spline between and beyond these ends.
    pub(super) fn natural(knots: &[f64], (low, high): (f64, f64)) -> Self {
        let knots: Vec<f64> = [&[low], knots, &[high]].concat();
        let second = (0..knots.len()).map(|j| second_derivatives(&knots, j)).collect();
        Self::Natural { knots, second }
    }

    pub(super) fn b(knots: &[f64], (low, high): (f64, f64), degree: usize) -> Self {
        let end = |x: f64| vec![x; degree + 1];
        Self::B { knots: [end(low), knots.to_vec(), end(high)].concat(), degree }
    }

    pub(super) fn pieces(knots: &[f64]) -> Self {
        Self::Pieces { knots: knots.to_vec() }
    }

    /// The basis functions that are columns, each with what it is called.
    pub(super) fn columns(&self) -> Vec<(usize, String)> {
        match self {
            // The second of the knots, the first inner one, is what others are compared to.
            Self::Natural { knots, .. } => {
                (0..knots.len()).filter(|&j| j != 1).map(|j| (j, knots[j].to_string())).collect()
            }
            Self::B { knots, degree } => (1..knots.len() - degree - 1).map(|j| (j, j.to_string())).collect(),
            Self::Pieces { knots } => std::iter::once((0, "slope".to_owned()))
                .chain((1..).zip(knots).map(|(j, knot)| (j, format!("bend at {knot}"))))
                .collect(),
        }
    }

    /// The least and the largest value of a basis function between two ends.
    pub(super) fn bounds(&self, j: usize, (low, high): (f64, f64)) -> (f64, f64) {
        let mut at = vec![low, high];
        if let Self::B { .. } = self {
            return (0.0, 1.0);
        }
        if let Self::Natural { knots, second } = self {
            let inside = |x: &f64| low <= *x && *x <= high;
            at.extend(knots.iter().copied().filter(inside));
            for i in 0..knots.len() - 1 {
                let (_, b, c, d) = piece(knots, &second[j], j, i);
                at.extend(
                    roots(b, 2.0 * c, 3.0 * d)
                        .into_iter()
                        .flatten()
                        .map(|u| knots[i] + u)
                        .filter(|x| inside(x) && (knots[i]..=knots[i + 1]).contains(x)),
                );
            }
        }
        let values = at.into_iter().map(|x| self.value(j, x));
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
    }

    /// A basis function.
    pub(super) fn value(&self, j: usize, x: f64) -> f64 {
        match self {
            Self::Pieces { .. } if j == 0 => x,
            Self::Pieces { knots } => (x - knots[j - 1]).max(0.0),
            Self::Natural { knots, second } => {
                let last = knots.len() - 2;
                let i = knots[1..=last].partition_point(|knot| *knot <= x);
                let (a, b, c, d) = piece(knots, &second[j], j, i);
                let (u, h) = (x - knots[i], knots[i + 1] - knots[i]);
                if u < 0.0 {
                    a + b * u
                } else if u <= h {
                    a + u * (b + u * (c + u * d))
                } else {
                    let (end, slope) = (a + h * (b + h * (c + h * d)), b + h * (2.0 * c + 3.0 * h * d));
                    end + slope * (u - h)
                }
            }
            Self::B { knots, degree } => {
                let (first, last) = (*degree, knots.len() - degree - 2);
                let x = x.clamp(knots[first], knots[last + 1]);
                let span = first + knots[first + 1..=last].partition_point(|knot| *knot <= x);
                // The functions that are not zero here, by the recursion of Cox and de Boor.
                let mut values = vec![1.0];
                for k in 1..=*degree {
                    let mut next = vec![0.0; k + 1];
                    for (r, value) in values.iter().enumerate() {
                        let (left, right) = (knots[span + 1 + r - k], knots[span + 1 + r]);
                        let share = (x - left) / (right - left);
                        next[r + 1] += value * share;
                        next[r] += value * (1.0 - share);
                    }
                    values = next;
                }
                (j + degree).checked_sub(span).and_then(|r| values.get(r)).copied().unwrap_or(0.0)
            }
        }
    }
}

/// The cubic of a natural basis function from knot i on: `a + b u + c u^2 + d u^3` at `knot + u`.
fn piece(knots: &[f64], second: &[f64], j: usize, i: usize) -> (f64, f64, f64, f64) {
    let h = knots[i + 1] - knots[i];
    let at = |k: usize| f64::from(u8::from(k == j));
    let b = (at(i + 1) - at(i)) / h - h * (2.0 * second[i] + second[i + 1]) / 6.0;
    (at(i), b, 0.5 * second[i], (second[i + 1] - second[i]) / (6.0 * h))
}

/// The second derivatives at the knots of the natural spline that is 1 at knot j and 0 at the others: a system of three diagonals.
fn second_derivatives(knots: &[f64], j: usize) -> Vec<f64> {
    let m = knots.len();
    let value = |k: usize| f64::from(u8::from(k == j));
    let width = |k: usize| knots[k + 1] - knots[k];
    let (mut above, mut right) = (vec![0.0; m], vec![0.0; m]);
    for k in 1..m - 1 {
        let jump = (value(k + 1) - value(k)) / width(k) - (value(k) - value(k - 1)) / width(k - 1);
        let pivot = 2.0 * (width(k - 1) + width(k)) - width(k - 1) * above[k - 1];
        above[k] = width(k) / pivot;
        right[k] = (6.0 * jump - width(k - 1) * right[k - 1]) / pivot;
    }
    let mut second = vec![0.0; m];
    for k in (1..m - 1).rev() {
        second[k] = right[k] - above[k] * second[k + 1];
    }
    second
}

/// Where `a + b u + c u^2` is zero.
fn roots(a: f64, b: f64, c: f64) -> [Option<f64>; 2] {
    if c.abs() < 1e-300 {
        return [(b != 0.0).then(|| -a / b), None];
    }
    let inner = b * b - 4.0 * a * c;
    if inner < 0.0 {
        return [None, None];
    }
    // Without cancellation.
    let q = -0.5 * (b + inner.sqrt().copysign(b));
    [Some(q / c), (q != 0.0).then(|| a / q)]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against SciPy: `CubicSpline(t, e_j, bc_type="natural")` and `BSpline`.
    #[test]
    fn curves_are_those_of_scipy() {
        let natural = Basis::natural(&[30.0, 45.0, 60.0], (18.0, 64.0));
        let b = Basis::b(&[30.0, 45.0, 60.0], (18.0, 64.0), 3);
        for (x, expected) in SCIPY_NATURAL {
            for (j, value) in expected.iter().enumerate() {
                assert!((natural.value(j, x) - value).abs() < 1e-9, "{x} {j} {}", natural.value(j, x));
            }
        }
        for (x, expected) in SCIPY_B {
            for (j, value) in expected.iter().enumerate() {
                assert!((b.value(j, x) - value).abs() < 1e-9, "{x} {j} {}", b.value(j, x));
            }
        }
    }

    #[test]
    fn bases_add_up_to_one_and_stay_within_their_bounds() {
        let ends = (18.0, 64.0);
        for (basis, count) in [
            (Basis::natural(&[30.0, 31.0, 60.0], ends), 5),
            (Basis::natural(&[40.0], (25.0, 50.0)), 3),
            (Basis::b(&[30.0, 45.0, 60.0], ends, 3), 7),
            (Basis::b(&[], ends, 1), 2),
        ] {
            let bounds: Vec<_> = (0..count).map(|j| basis.bounds(j, ends)).collect();
            let mut reached = vec![(f64::INFINITY, f64::NEG_INFINITY); count];
            for i in 0..=4600 {
                let x = 18.0 + f64::from(i) / 100.0;
                let values: Vec<f64> = (0..count).map(|j| basis.value(j, x)).collect();
                assert!((values.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{basis:?} at {x}");
                for (j, value) in values.into_iter().enumerate() {
                    let (low, high) = bounds[j];
                    assert!(low - 1e-12 <= value && value <= high + 1e-12, "{basis:?} {j} at {x}: {value}");
                    reached[j] = (reached[j].0.min(value), reached[j].1.max(value));
                }
            }
            if let Basis::Natural { .. } = basis {
                for (bounds, reached) in bounds.iter().zip(&reached) {
                    assert!((bounds.0 - reached.0).abs() < 1e-3 && (bounds.1 - reached.1).abs() < 1e-3);
                }
            }
            assert_eq!(basis.columns().len(), count - 1);
        }
    }

    #[test]
    fn beyond_its_ends_a_natural_spline_is_straight() {
        let basis = Basis::natural(&[30.0, 45.0], (20.0, 60.0));
        for j in 0..4 {
            let steps: Vec<f64> = (0..5).map(|i| basis.value(j, 60.0 + 5.0 * f64::from(i))).collect();
            let bends = steps.windows(3).map(|w| w[0] - 2.0 * w[1] + w[2]);
            assert!(bends.map(f64::abs).fold(0.0, f64::max) < 1e-12);
        }
    }

    #[test]
    fn pieces_bend_at_their_knots() {
        let basis = Basis::pieces(&[30.0, 50.0]);
        let at = |x| (0..3).map(|j| basis.value(j, x)).collect::<Vec<_>>();
        assert_eq!((at(20.0), at(60.0)), (vec![20.0, 0.0, 0.0], vec![60.0, 30.0, 10.0]));
        assert_eq!(basis.bounds(2, (18.0, 64.0)), (0.0, 14.0));
    }

    const SCIPY_NATURAL: [(f64, [f64; 5]); 4] = [
        (18.0, [1.0, 0.0, 0.0, 0.0, 0.0]),
        (27.5, [0.137184687846, 0.935521957178, -0.0947263718024, 0.045389719822, -0.0233699930434]),
        (45.0, [0.0, 0.0, 1.0, 0.0, 0.0]),
        (62.25, [-0.00103620317992, 0.00484943088203, -0.017905590949, 0.49324773108, 0.520844632167]),
    ];
    const SCIPY_B: [(f64, [f64; 7]); 4] = [
        (18.0, [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
        (27.5, [0.00904224537037, 0.473835983939, 0.454116553171, 0.0630052175191, 0.0, 0.0, 0.0]),
        (45.0, [0.0, 0.0, 0.178571428571, 0.600840336134, 0.220588235294, 0.0, 0.0]),
        (62.25, [0.0, 0.0, 0.0, 0.00207406153251, 0.0974730948041, 0.722474328038, 0.177978515625]),
    ];
}
