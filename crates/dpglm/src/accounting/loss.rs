//! The privacy loss of one release, and its pessimistic discretisation.
//!
//! # Which pairs dominate
//! * Gaussian(mu): the loss is `N(mu^2/2, mu^2)`.
//! * Laplace(w): atoms `1/2` at `w` and `e^-w/2` at `-w`, and density `e^{(l-w)/2}/4` between.
//! * pure(w): atoms at `w` and `-w` with odds `e^w` (randomized response).
//! * selection of bounded range w: no single pair of fixed shift dominates. Its log-ratios lie in `[t-w, t]` for a `t`
//!   that depends on the data, so the tight two-point pair has
//!   `delta_t(e) = (1-e^{t-w})(1-e^{e-t})/(1-e^-w)`. The largest over `t` (at `t = (e+w)/2`) is
//!   `delta(e) = (1-e^{(e-w)/2})^2/(1-e^-w)` on `[-w, w]`: convex in `e^e`, hence the curve of a pair, which therefore
//!   dominates the selection whatever the shift. Its loss has density `e^{(l-w)/2}/(2(1-e^-w))` on `[-w, w]`.
//! * several selections of equal range: the atoms of [`super::selections`], which are fewer than those of so many envelopes.
//!
//! Laplace, pure and one selection are one family: `C e^{(l-w)/2}` on `[-w, w]` plus two atoms (`Loss::Bounded`). Dominating pairs
//! compose adaptively (`docs/proofs/composition.md`).
//!
//! # Discretisation ("connect the dots")
//! The mass `p` of a cell `(x, x+h]` moves to the cell's ends so that both its P-mass and its Q-mass are kept: the share
//! of the upper end is `int (1 - e^{-(l-x)}) dP / (1 - e^-h)`. Splitting a likelihood ratio while keeping its mean can
//! only raise every convex function of it, so the discrete pair dominates (Doroshenko et al. 2022), and the
//! error is of second order in `h`. Mass below the lattice moves up to its lowest point; mass above it is infinite loss.

use super::moments;
use super::quadrature::integrate_cell;
use super::selections::Together;
use crate::privacy::Noise;
use std::sync::Arc;

/// The loss distribution of one release, or of several selections, under its dominating pair.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Loss {
    Gaussian {
        mu: f64,
    },
    /// Density `density * e^{(l-width)/2}` on [-width, width] and two atoms, as the shape says.
    Bounded {
        width: f64,
        shape: Shape,
    },
    /// Several selections of equal range.
    Selections(Arc<Together>),
}

/// Which member of the bounded family.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Shape {
    Laplace,
    TwoPoint,
    Envelope,
}

impl Shape {
    /// `(density, atom at width, atom at -width)`.
    fn masses(self, width: f64) -> (f64, f64, f64) {
        match self {
            Shape::Laplace => (0.25, 0.5, 0.5 * (-width).exp()),
            Shape::TwoPoint => (0.0, 1.0 / (1.0 + (-width).exp()), 1.0 / (1.0 + width.exp())),
            Shape::Envelope => (-0.5 / (-width).exp_m1(), 0.0, 0.0),
        }
    }
}

/// Largest width (or mu) whose exponentials stay far inside the range of f64.
const LARGEST: f64 = 300.0;

/// The P-masses of a discretised loss at `step * (first + i)`, exponentially tilted by `order` and normalised.
pub(crate) struct Lattice {
    pub first: i64,
    pub tilted: Vec<f64>,
    /// `ln sum p e^{order x}`: what the normalisation took out.
    pub log_moment: f64,
    /// `ln` of the P-mass of infinite loss.
    pub ln_infinite: f64,
}

impl Loss {
    /// The loss of one release, or `None` where no loss distribution is known or its numbers are extreme.
    pub(crate) fn of(noise: &Noise) -> Option<Self> {
        let x = noise.intensity();
        if x > LARGEST {
            return None;
        }
        let bounded = |shape| Some(Loss::Bounded { width: x, shape });
        match noise {
            Noise::Gaussian { .. } => Some(Loss::Gaussian { mu: x }),
            Noise::Laplace { .. } => bounded(Shape::Laplace),
            Noise::Pure { .. } => bounded(Shape::TwoPoint),
            Noise::Selection { .. } => bounded(Shape::Envelope),
            Noise::Zcdp { .. } | Noise::Approximate { .. } => None,
        }
    }

    /// `ln E e^{order L}`; for several selections nearly. It says where to look: no bound rests on it.
    pub(crate) fn log_moment(&self, order: f64) -> f64 {
        match self {
            Loss::Gaussian { mu } => moments::gaussian(*mu, order),
            Loss::Bounded { width, shape: Shape::Laplace } => moments::laplace(*width, order),
            Loss::Bounded { width, shape: Shape::TwoPoint } => moments::two_point(*width, order),
            Loss::Bounded { width, shape: Shape::Envelope } => moments::bounded_range_envelope(*width, order),
            Loss::Selections(all) => {
                (all.count - 1) as f64 * moments::bounded_range(all.range, order)
                    + moments::bounded_range_envelope(all.range, order)
            }
        }
    }

    /// The loss's variance, up to a constant.
    pub(crate) fn spread_squared(&self) -> f64 {
        // Between a two-point loss (width^2) and a uniform one (width^2 / 3); large widths saturate.
        let saturating = |square: f64| square / (1.0 + 0.1 * square);
        match self {
            Loss::Gaussian { mu } => mu * mu,
            Loss::Bounded { width, .. } => 0.4 * saturating(width * width),
            Loss::Selections(all) => 0.25 * (all.count as f64 + 0.6) * saturating(all.range * all.range),
        }
    }

    /// The largest loss, if there is one.
    pub(crate) fn width(&self) -> Option<f64> {
        match self {
            Loss::Gaussian { .. } => None,
            Loss::Bounded { width, .. } => Some(*width),
            Loss::Selections(all) => Some(all.width()),
        }
    }

    /// What the distances between the atoms are multiples of, if there are atoms.
    pub(crate) fn grain(&self) -> Option<f64> {
        match self {
            Loss::Gaussian { .. } => None,
            Loss::Bounded { width, .. } => Some(*width),
            Loss::Selections(all) => Some(all.grain),
        }
    }

    /// The discretisation on the lattice of multiples of `step`, tilted by `order`; `None` if it needs more than
    /// `most_points`.
    pub(crate) fn discretise(&self, step: f64, order: f64, most_points: usize) -> Option<Lattice> {
        // The tilted loss has all but e^-90 of its mass between low and high.
        let (low, high) = match self {
            Loss::Gaussian { mu } => {
                let centre = mu * mu * (0.5 + order);
                (centre - 14.0 * mu, centre + 14.0 * mu)
            }
            Loss::Bounded { width, .. } => ((width - 90.0 / (order + 0.5)).max(-width), *width),
            Loss::Selections(all) => (-all.width(), all.width()),
        };
        let first = (low / step).floor();
        let cells = (high / step).ceil() - first;
        if !cells.is_finite() || cells + 2.0 > most_points as f64 {
            return None;
        }
        let cells = (cells as usize).max(1);
        let point = |i: usize| step * (first + i as f64);
        let mut mass = vec![0.0; cells + 1];
        let share = -(-step).exp_m1();
        let mut split = |cell: usize, p: f64, upper: f64| {
            // The rounding of the split is pushed to the upper end.
            let upper = (upper / share * (1.0 + 1e-13)).min(p);
            mass[cell] += p - upper;
            mass[cell + 1] += upper;
        };
        let rule = CellRule::new(step);
        for cell in 0..cells {
            let (p, upper) = self.cell(point(cell), point(cell + 1), &rule);
            split(cell, p, upper);
        }
        for (place, atom) in self.atoms() {
            if place > point(0) {
                let cell = (((place / step).ceil() - first) as usize).clamp(1, cells) - 1;
                split(cell, atom, -atom * (point(cell) - place).exp_m1());
            } else {
                split(0, atom, 0.0);
            }
        }
        mass[0] += self.continuous_below(point(0));
        // A lattice that lost mass would certify too much: refuse it. Gaussian mass above the top is infinite loss.
        let ln_infinite = self.ln_mass_above(point(cells));
        if mass.iter().sum::<f64>() + ln_infinite.exp() < 1.0 - 1e-11 {
            return None;
        }
        // Tilt relative to the lattice's top, so that nothing overflows.
        let top = point(cells);
        let powers = Powers::new(-order * step, cells);
        for (i, m) in mass.iter_mut().rev().enumerate() {
            *m *= powers.of(i);
        }
        let sum: f64 = mass.iter().sum();
        mass.iter_mut().for_each(|m| *m /= sum);
        Some(Lattice { first: first as i64, tilted: mass, log_moment: sum.ln() + order * top, ln_infinite })
    }

    /// `(int dP, int (1 - e^{-(l - start)}) dP)` of the continuous part over `(start, end]`.
    fn cell(&self, start: f64, end: f64, rule: &CellRule) -> (f64, f64) {
        match *self {
            Loss::Gaussian { mu } => {
                let log_scale = -(mu * (2.0 * std::f64::consts::PI).sqrt()).ln();
                // Beyond 40 standard deviations the density is below the smallest f64; a cell may be far wider than that.
                let (low, high) = (start.max(0.5 * mu * mu - 40.0 * mu), end.min(0.5 * mu * mu + 40.0 * mu));
                if low >= high {
                    return (0.0, 0.0);
                }
                if low == start && high == end && rule.step < 0.004 * mu {
                    return rule.gaussian(start, mu, log_scale);
                }
                integrate_cell(low, high, 0.02 * mu, |l| {
                    let z = (l - 0.5 * mu * mu) / mu;
                    let p = (log_scale - 0.5 * z * z).exp();
                    (p, -p * (-(l - start)).exp_m1())
                })
            }
            Loss::Bounded { width, shape } => {
                let (density, ..) = shape.masses(width);
                let (a, b) = (start.max(-width), end.min(width));
                if b > a {
                    let scale = density * (0.5 * (a - width)).exp();
                    let sinh = (0.25 * (b - a)).sinh();
                    let (inside, from_a) =
                        (2.0 * scale * (0.5 * (b - a)).exp_m1(), 8.0 * scale * sinh * sinh);
                    (inside, -inside * (start - a).exp_m1() + (start - a).exp() * from_a)
                } else {
                    (0.0, 0.0)
                }
            }
            Loss::Selections(_) => (0.0, 0.0),
        }
    }

    fn atoms(&self) -> Vec<(f64, f64)> {
        match self {
            Loss::Gaussian { .. } => Vec::new(),
            Loss::Bounded { width, shape } => {
                let (_, top, bottom) = shape.masses(*width);
                vec![(-width, bottom), (*width, top)]
            }
            Loss::Selections(all) => all.atoms().collect(),
        }
    }

    /// The P-mass of the continuous part at or below `place`.
    fn continuous_below(&self, place: f64) -> f64 {
        match *self {
            Loss::Gaussian { mu } => {
                let z = (place - 0.5 * mu * mu) / mu;
                0.5 * libm::erfc(-z / std::f64::consts::SQRT_2) * (1.0 + 1e-12)
            }
            Loss::Bounded { width, shape } => {
                let (density, ..) = shape.masses(width);
                if place < -width {
                    return 0.0;
                }
                let span = (place + width).min(2.0 * width);
                2.0 * density * (-width).exp() * (0.5 * span).exp_m1()
            }
            Loss::Selections(_) => 0.0,
        }
    }

    /// `ln` of the P-mass above `place`, where `place` is at least the top of the lattice.
    fn ln_mass_above(&self, place: f64) -> f64 {
        match *self {
            Loss::Gaussian { mu } => {
                // Phi(-z) <= e^{-z^2/2} / (z sqrt(2 pi)) for z > 0; the lattice reaches at least 14 standard deviations.
                let z = (place - 0.5 * mu * mu) / mu;
                -0.5 * z * z - (z * (2.0 * std::f64::consts::PI).sqrt()).ln()
            }
            Loss::Bounded { .. } | Loss::Selections(_) => f64::NEG_INFINITY,
        }
    }
}

/// Powers `e^{k x}` of one number, k from 0, as products of two that are exponentials themselves: a few units of round-off, and no
/// exponential to compute for each.
pub(super) struct Powers {
    near: [f64; 64],
    far: Vec<f64>,
}

impl Powers {
    pub(super) fn new(exponent: f64, most: usize) -> Self {
        let near = std::array::from_fn(|k| (exponent * k as f64).exp());
        let far = (0..=most / 64).map(|k| (exponent * (64 * k) as f64).exp()).collect();
        Self { near, far }
    }

    pub(super) fn of(&self, k: usize) -> f64 {
        self.far[k / 64] * self.near[k % 64]
    }
}

/// Three points of a narrow cell, with their weights, the step among them, and `1 - e^{-x}` of their distances from its start. Of a
/// Gaussian density over a cell of `0.004` of its deviation, at most 40 deviations out, the rule errs by a share of `h^6 z^6 /
/// 2,016,000 < 1e-11`, and within 14 deviations, where all but `1e-40` of the mass lies, by less than `2e-14`: far below what composition
/// charges for the rounding of masses.
struct CellRule {
    step: f64,
    points: [(f64, f64, f64); 3],
}

impl CellRule {
    fn new(step: f64) -> Self {
        let half = 0.5 * (0.6_f64).sqrt();
        let rule = [(0.5 - half, 5.0 / 18.0), (0.5, 4.0 / 9.0), (0.5 + half, 5.0 / 18.0)];
        let point = |(place, weight): (f64, f64)| (step * place, step * weight, -(-step * place).exp_m1());
        Self { step, points: rule.map(point) }
    }

    fn gaussian(&self, start: f64, mu: f64, log_scale: f64) -> (f64, f64) {
        let (mut mass, mut upper) = (0.0, 0.0);
        for (place, weight, share) in self.points {
            let z = (start + place - 0.5 * mu * mu) / mu;
            let p = weight * (log_scale - 0.5 * z * z).exp();
            mass += p;
            upper += p * share;
        }
        (mass, upper)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::quadrature::integrate;

    fn losses() -> Vec<Loss> {
        let mut losses = Vec::new();
        for x in [0.003_f64, 0.4, 3.0, 40.0] {
            losses.extend(
                [
                    Noise::Gaussian { sensitivity: x.min(8.0), sigma: 1.0 },
                    Noise::Laplace { sensitivity: x, scale: 1.0 },
                    Noise::Pure { epsilon: x },
                    Noise::Selection { sensitivity: x, scale: 2.0 },
                ]
                .iter()
                .filter_map(Loss::of),
            );
        }
        let blocks = [(0.05, 3), (1.0, 5)].map(|(range, count)| Together::blocks(range, count).unwrap());
        losses.extend(blocks.into_iter().flatten().map(|(all, _)| Loss::Selections(all)));
        losses
    }

    /// The moments of a loss of atoms alone, by their sum.
    fn exact_log_moment(loss: &Loss, order: f64) -> f64 {
        match loss {
            Loss::Selections(all) => all.atoms().map(|(x, p)| p * (order * x).exp()).sum::<f64>().ln(),
            _ if order == 0.0 => 0.0,
            _ => loss.log_moment(order),
        }
    }

    /// Both measures have mass one, and the moments barely exceed the continuous ones.
    #[test]
    fn discretisation_keeps_both_masses_and_dominates() {
        for loss in losses() {
            let spread = match loss {
                Loss::Gaussian { mu } => mu,
                Loss::Bounded { width, .. } => width,
                Loss::Selections(ref all) => all.range,
            };
            for order in [0.0, 0.5, 2.0] {
                // Not a divisor of the width: the atoms fall between lattice points.
                let step = spread / 173.3;
                let lattice = loss.discretise(step, order, 1 << 22).unwrap();
                let untilt = |i: usize, shift: f64| {
                    let x = step * (lattice.first + i as i64) as f64;
                    lattice.tilted[i] * (lattice.log_moment - (order + shift) * x).exp()
                };
                let p: f64 = (0..lattice.tilted.len()).map(|i| untilt(i, 0.0)).sum();
                let q: f64 = (0..lattice.tilted.len()).map(|i| untilt(i, 1.0)).sum();
                assert!((p - 1.0).abs() < 1e-9, "{loss:?} {order}: {p}");
                if order == 0.0 {
                    assert!((q - 1.0).abs() < 1e-9, "{loss:?}: {q}");
                } else {
                    assert!(q <= 1.0 + 1e-9, "{loss:?}: {q}");
                }
                let exact = exact_log_moment(&loss, order);
                assert!(lattice.log_moment >= exact - 1e-11 * (1.0 + exact), "{loss:?} {order}");
                let curvature = (1.0 + order) * (1.0 + order) * step * step;
                assert!(lattice.log_moment <= exact + curvature + 1e-9 * exact, "{loss:?} {order}");
            }
        }
    }

    /// Shifts of several coordinates, against one number that is shifted by their sum (`docs/proofs/laplace.md`). One that is
    /// shifted by the root of the sum of squares would not dominate.
    #[test]
    fn a_laplace_vector_costs_no_more_than_one_number() {
        let one = |a: f64, e: f64| (-(0.5 * (e - a)).exp_m1()).max(-e.exp_m1()).max(0.0);
        // One more coordinate, shifted by `a`, before a curve: the mean over its loss.
        fn with(a: f64, e: f64, rest: &dyn Fn(f64) -> f64) -> f64 {
            let density = |l: f64| 0.25 * (0.5 * (l - a)).exp() * rest(e - l);
            0.5 * rest(e - a) + 0.5 * (-a).exp() * rest(e + a) + integrate(-a, a, 40, density)
        }
        let (mut nearest, mut beyond) = (0.0_f64, 0.0_f64);
        for shifts in [[0.5, 0.5, 0.0], [0.1, 0.9, 0.3], [2.0, 1.0, 1.0], [0.01, 0.02, 3.0]] {
            let [a, b, c]: [f64; 3] = shifts;
            let (sum, root) = (a + b + c, (a * a + b * b + c * c).sqrt());
            for i in -10..=10 {
                let e = 0.099 * sum * f64::from(i);
                let all = with(a, e, &|e| with(b, e, &|e| one(c, e)));
                assert!(all <= one(sum, e) + 1e-5, "{shifts:?} {e}: {all} {}", one(sum, e));
                nearest = nearest.max(all / one(sum, e));
                beyond = beyond.max(all - one(root, e));
            }
        }
        assert!(nearest > 0.9 && beyond > 0.01, "{nearest} {beyond}");
    }

    /// The envelope lies on or above the curve of every two-point pair of bounded range.
    #[test]
    fn envelope_dominates_every_shift() {
        for w in [0.1_f64, 1.0, 5.0] {
            for i in 0..=100 {
                let e = -w + 2.0 * w * f64::from(i) / 100.0;
                let envelope = (1.0 - (0.5 * (e - w)).exp()).powi(2) / -(-w).exp_m1();
                for j in 0..=100 {
                    let t = w * f64::from(j) / 100.0;
                    let top = (1.0 - (t - w).exp()) / -(-w).exp_m1();
                    let two_point = top * (1.0 - (e - t).exp()).max(0.0)
                        + (1.0 - top) * (1.0 - (e - t + w).exp()).max(0.0);
                    assert!(two_point <= envelope + 1e-12, "w {w} e {e} t {t}");
                }
            }
        }
    }
}
