//! Composition of privacy-loss distributions by a tilted Fourier transform.
//!
//! # Algorithm
//! 1. All Gaussian events become one ([`super::gaussian`]), and selections of equal range become blocks
//!    ([`super::selections`]); other equal events are counted, not repeated.
//! 2. A saddle point gives the tilting order `a` at which the composed loss, weighted by `e^{a L}`, is centred on the
//!    wanted epsilon.
//! 3. Each loss is discretised pessimistically on one lattice ([`super::loss`]), tilted by `a`, and transformed; the
//!    transforms are raised to their counts, multiplied and transformed back: the tilted composed loss, folded into a
//!    window around the centre.
//! 4. `delta(e) = E (1 - e^{e-L})^+` is read off by two running sums from the right, each term scaled back by `e^{-aL}`.
//!
//! # Why the result is an upper bound
//! * The discrete losses dominate the true ones, and domination survives adaptive composition (`docs/proofs/composition.md`).
//! * Folding: what lies left of the window reappears inside it, which can only raise delta. What lies right of it is
//!   bounded by Chernoff's inequality, `P(L > R) <= e^{K(a+s) - (a+s)R}` with the discrete moments, and added.
//! * Round-off: a transform of length N errs by at most `kappa = 20 u (log2 N + 3)` of its result in the 2-norm, whichever of the
//!   library's code paths runs (`docs/proofs/transform.md`). All tilted
//!   measures have mass one, so their transforms are at most one in modulus, and a product of them moves by at most the sum of
//!   the moves of its factors: the composed measure is off by at most `(sum_i n_i (kappa + 3u) |p_i|_2 + kappa) g` in the
//!   2-norm, where g is next to one. By Cauchy-Schwarz that, times the 2-norm of the weights `e^{-a(L-e)}(1-e^{e-L})^+`, is added to delta.
//!   Because the weights fall off from epsilon at the rate of the tilt, this charge is small *relative to delta*, for
//!   delta = 1e-30 as for 1e-5. An untilted transform would add about 1e-16 and certify nothing below it.
//!
//! # References
//! Koskela, Jälkö and Honkela 2020 (Fourier accounting); Doroshenko et al. 2022 (connect the dots); Higham, *Accuracy
//! and Stability of Numerical Algorithms*, 2002.

use super::loss::{Lattice, Loss, Powers, Shape};
use super::selections::Together;
use crate::privacy::Event;
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// Unit round-off of f64.
const U: f64 = f64::EPSILON / 2.0;
/// Longest transform: 64 MB of complex numbers.
const LONGEST: usize = 1 << 22;
/// Fewest lattice points in the window: with two more, and a step shrunk by a ninth, they fill a transform of 2^14.
const POINTS: f64 = 14_500.0;
/// Tail outside the window, in nats below the tilted mass.
const TAIL: f64 = 45.0;
/// Relative inflation of the loss's variance that the lattice may cause.
const INFLATION: f64 = 2e-5;

/// Precision of the logarithm of a tilt: a hundredth off, a bound is as tight but for the round-off's charge.
const ORDER: f64 = 0.01;

/// A mix of releases whose loss distributions are known.
pub(crate) struct Mix {
    terms: Vec<(Loss, u64)>,
}

/// The composed loss, tilted and folded into a window, ready to be read.
struct Composed {
    order: f64,
    step: f64,
    first: i64,
    /// `sum_j t_{i+j} e^{-a j h}` and the same with weights `1 - e^{-jh}`.
    mass: Vec<f64>,
    excess: Vec<f64>,
    /// Discrete log-moment at `order`.
    log_moment: f64,
    /// Round-off charge, relative to `e^{log_moment - order * epsilon}`.
    round_off: f64,
    /// `ln` of everything right of the window: Chernoff tail and infinite loss.
    ln_beyond: f64,
}

impl Mix {
    /// The mix, or `None` if one event's loss distribution is unknown.
    pub(crate) fn of(events: &[Event]) -> Option<Self> {
        let mut squared_mu = 0.0;
        let mut terms: Vec<(Loss, u64)> = Vec::new();
        for event in events {
            match Loss::of(&event.noise())? {
                Loss::Gaussian { mu } => squared_mu += event.count() as f64 * mu * mu,
                loss => match terms.iter_mut().find(|(known, _)| *known == loss) {
                    Some((_, count)) => *count += event.count(),
                    None => terms.push((loss, event.count())),
                },
            }
        }
        let mut terms: Vec<(Loss, u64)> = terms.into_iter().flat_map(together).collect();
        if squared_mu > 0.0 {
            terms.push((Loss::Gaussian { mu: squared_mu.sqrt() }, 1));
        }
        Some(Self { terms })
    }

    /// An epsilon that the mix meets at `delta`, or `None` where the lattice cannot resolve it.
    pub(crate) fn epsilon(&self, delta: f64) -> Option<f64> {
        let target = delta.ln();
        let order = self.order_where(|order| {
            let saddle = self.log_moment(order) - order * self.slope(order);
            saddle
                - (order * (1.0 + order)).ln()
                - 0.5 * (2.0 * std::f64::consts::PI * self.curvature(order)).ln()
                > target
        });
        self.compose(order)?.epsilon(target)
    }

    /// `ln` of a delta that the mix meets at `epsilon`, or `None` where the lattice cannot resolve it.
    pub(crate) fn ln_delta(&self, epsilon: f64) -> Option<f64> {
        let order = self.order_where(|order| self.slope(order) < epsilon);
        Some(self.compose(order)?.ln_delta(epsilon))
    }

    fn log_moment(&self, order: f64) -> f64 {
        self.terms.iter().map(|(loss, count)| *count as f64 * loss.log_moment(order)).sum()
    }

    fn slope(&self, order: f64) -> f64 {
        let d = 1e-3 * order;
        (self.log_moment(order + d) - self.log_moment(order - d)) / (2.0 * d)
    }

    fn curvature(&self, order: f64) -> f64 {
        let d = 1e-2 * order;
        let second = self.log_moment(order + d) - 2.0 * self.log_moment(order) + self.log_moment(order - d);
        (second / (d * d)).max(f64::MIN_POSITIVE)
    }

    fn releases(&self) -> f64 {
        self.terms.iter().map(|(_, count)| *count as f64).sum()
    }

    /// The loss's standard deviation without a tilt, up to a constant.
    fn spread(&self) -> f64 {
        let variance: f64 =
            self.terms.iter().map(|(loss, count)| *count as f64 * loss.spread_squared()).sum();
        variance.sqrt()
    }

    /// The largest order at which the decreasing predicate `low_enough` still holds, within sane ends. Any order gives
    /// a valid bound; this one gives a tight one.
    fn order_where(&self, low_enough: impl Fn(f64) -> bool) -> f64 {
        let narrowest = self.terms.iter().filter_map(|(loss, _)| loss.width()).fold(f64::INFINITY, f64::min);
        // Past 30 / width a bounded loss sits on its top atom, and the tilt has nothing left to do.
        let cap = if narrowest.is_finite() { 30.0 / narrowest } else { 1e3 / self.spread() };
        let (mut low, mut high) = ((0.05 / self.spread()).ln(), cap.max(0.1 / self.spread()).ln());
        for _ in 0..40 {
            // Ends of extreme events may be infinite.
            if high - low <= ORDER {
                break;
            }
            let middle = 0.5 * (low + high);
            if low_enough(middle.exp()) { low = middle } else { high = middle }
        }
        low.exp()
    }

    /// The window that holds the tilted loss but for e^-TAIL on each side, and the order at which Chernoff found its
    /// right end.
    fn window(&self, order: f64) -> (f64, f64, f64) {
        let here = self.log_moment(order);
        let scale = 1.0 / self.curvature(order).sqrt().max(1e-3 * self.spread());
        let steps = (-6..7).map(|i| scale * 2f64.powi(i));
        let (mut left, mut right, mut right_step) = (f64::NEG_INFINITY, f64::INFINITY, scale);
        for s in steps {
            let end = (self.log_moment(order + s) - here + TAIL) / s;
            if end < right {
                (right, right_step) = (end, s);
            }
            if s < order {
                left = left.max((here - self.log_moment(order - s) - TAIL) / s);
            }
            // The moments are symmetric about order -1/2.
            left = left.max((here - self.log_moment(s) - TAIL) / (order + 1.0 + s));
        }
        (left, right, right_step)
    }

    fn compose(&self, order: f64) -> Option<Composed> {
        // Step 2: window and lattice.
        let (left, right, right_step) = self.window(order);
        let width = right - left;
        let releases = self.releases();
        let step = (6.0 * INFLATION / releases).sqrt() * self.spread();
        let step = self.aligned(step.min(width / POINTS).max(1.001 * width / LONGEST as f64));
        // Beyond 2^50 steps from zero, lattice points are no longer told apart.
        let first = (left / step).floor();
        if first.is_nan() || first.abs() > 2f64.powi(50) {
            return None;
        }
        let first = first as i64;
        let length =
            ((width / step).ceil().min(LONGEST as f64) as usize + 2).next_power_of_two().min(LONGEST);
        let lattices: Vec<(Lattice, u64)> = self
            .terms
            .iter()
            .map(|(loss, count)| Some((loss.discretise(step, order, 4 * LONGEST)?, *count)))
            .collect::<Option<_>>()?;

        // Step 3: transform, multiply, transform back.
        let (forward, inverse) = transforms(length);
        let mut product = forward.make_output_vec();
        product.fill(realfft::num_complex::Complex::new(1.0, 0.0));
        let mut spectrum = forward.make_output_vec();
        let mut scratch = forward.make_scratch_vec();
        let kappa = transform_error(length);
        let (mut error_norm, mut largest_errors) = (kappa, 0.0);
        // Relative error of the sums below, and of the masses: those of a lattice are right to a few units of round-off, times
        // the exponents of their tilts.
        let mut rounding = 1e-9 + 8.0 * U * length as f64;
        let mut log_moment = 0.0;
        let mut ln_beyond = f64::NEG_INFINITY;
        let mut window = vec![0.0; length];
        for (lattice, count) in &lattices {
            window.fill(0.0);
            for (i, p) in lattice.tilted.iter().enumerate() {
                window[(lattice.first + i as i64).rem_euclid(length as i64) as usize] += p;
            }
            let norm = window.iter().map(|p| p * p).sum::<f64>().sqrt();
            error_norm += *count as f64 * (kappa + 3.0 * U) * norm;
            let points = lattice.tilted.len() as f64;
            largest_errors += *count as f64 * (kappa * (length as f64).sqrt() * norm + U * points);
            rounding += *count as f64 * U * (16.0 + 8.0 * order * step * points);
            forward.process_with_scratch(&mut window, &mut spectrum, &mut scratch).ok()?;
            let power = u32::try_from(*count).ok()?;
            for (total, factor) in product.iter_mut().zip(&spectrum) {
                *total *= factor.powu(power);
            }
            log_moment += *count as f64 * lattice.log_moment;
            ln_beyond = ln_add(ln_beyond, (*count as f64).ln() + lattice.ln_infinite);
        }
        // A real signal's first and last coefficients are real; the inverse insists on it.
        if let [head, .., tail] = product.as_mut_slice() {
            (head.im, tail.im) = (0.0, 0.0);
        }
        let mut scratch = inverse.make_scratch_vec();
        inverse.process_with_scratch(&mut product, &mut window, &mut scratch).ok()?;

        // Step 4: running sums from the right. Negative round-off is lifted to zero, which can only raise delta.
        let (fall, unit) = ((-order * step).exp(), -(-step).exp_m1());
        let mut mass = vec![0.0; length + 1];
        let mut excess = vec![0.0; length + 1];
        for i in (0..length).rev() {
            let place = (first + i as i64).rem_euclid(length as i64) as usize;
            mass[i] = (window[place] / length as f64).max(0.0) + fall * mass[i + 1];
            excess[i] = fall * (unit * mass[i + 1] + (1.0 - unit) * excess[i + 1]);
        }
        // |weights|_2^2 <= sum_j e^{-2ajh} min(1, (j+1)h)^2
        let decay = (-2.0 * order * step).exp();
        let weights =
            (1.0 / (1.0 - decay)).min(step * step * (1.0 + decay) / (1.0 - decay).powi(3)).min(length as f64);
        let end = step * (first + length as i64) as f64;
        let further: f64 = lattices
            .iter()
            .map(|(lattice, count)| {
                *count as f64 * (lattice.log_moment + lattice.moment_gain(right_step, step))
            })
            .sum();
        ln_beyond = ln_add(ln_beyond, further - (order + right_step) * end);
        Some(Composed {
            order,
            step,
            first,
            mass,
            excess,
            log_moment: log_moment + rounding,
            round_off: error_norm * largest_errors.exp() * weights.sqrt(),
            ln_beyond: ln_beyond + rounding,
        })
    }

    /// The step shrunk a little so that the atoms of the widest bounded events fall on lattice points.
    fn aligned(&self, step: f64) -> f64 {
        let widest = self
            .terms
            .iter()
            .filter_map(|(loss, count)| Some((loss.grain()?, loss.width()? * *count as f64)))
            .max_by(|a, b| a.1.total_cmp(&b.1));
        match widest {
            // Atoms that are few steps apart stay between lattice points: they are split, and an ever finer lattice would not fit.
            Some((grain, _)) if grain >= 8.0 * step => grain / (grain / step).ceil(),
            _ => step,
        }
    }
}

type Transforms = (Arc<dyn RealToComplex<f64>>, Arc<dyn ComplexToReal<f64>>);

/// The transforms of this length, planned once: their tables take as long as using them.
fn transforms(length: usize) -> Transforms {
    static PLANNER: LazyLock<Mutex<RealFftPlanner<f64>>> = LazyLock::new(Mutex::default);
    let mut planner = PLANNER.lock().unwrap_or_else(PoisonError::into_inner);
    (planner.plan_fft_forward(length), planner.plan_fft_inverse(length))
}

/// Selections of equal range as blocks; other releases as they are.
fn together((loss, count): (Loss, u64)) -> Vec<(Loss, u64)> {
    let blocks = match loss {
        Loss::Bounded { width, shape: Shape::Envelope } => Together::blocks(width, count),
        _ => None,
    };
    blocks.map_or_else(
        || vec![(loss, count)],
        |blocks| blocks.into_iter().map(|(all, number)| (Loss::Selections(all), number)).collect(),
    )
}

impl Lattice {
    /// `ln sum t e^{s x}` of the tilted masses: the further log-moment beyond the tilt.
    fn moment_gain(&self, s: f64, step: f64) -> f64 {
        let top = step * (self.first + self.tilted.len() as i64 - 1) as f64;
        let powers = Powers::new(-s * step, self.tilted.len());
        let sum: f64 = self.tilted.iter().rev().enumerate().map(|(i, p)| p * powers.of(i)).sum();
        sum.ln() + s * top
    }
}

impl Composed {
    /// `ln delta(epsilon)`, rounded up.
    fn ln_delta(&self, epsilon: f64) -> f64 {
        // The lattice point strictly above epsilon, and the distance to it.
        let above = (epsilon / self.step).floor() + 1.0 - self.first as f64;
        let above = above.clamp(0.0, self.mass.len() as f64 - 1.0) as i64;
        let gap = (self.step * (self.first + above) as f64 - epsilon).max(0.0);
        let i = above as usize;
        let inside =
            (-self.order * gap).exp() * (-(-gap).exp_m1() * self.mass[i] + (-gap).exp() * self.excess[i]);
        let scale = self.log_moment - self.order * epsilon;
        ln_add(scale + (inside + self.round_off).ln(), self.ln_beyond).min(0.0)
    }

    fn epsilon(&self, target: f64) -> Option<f64> {
        let mut low = self.step * self.first as f64;
        let mut high = self.step * (self.first + self.mass.len() as i64 - 1) as f64;
        if self.ln_delta(high) > target {
            // Right of the window only charges are left, and that of the round-off still falls.
            high += 250.0 / self.order;
            if self.ln_delta(high) > target {
                return None;
            }
        }
        // Delta at the window's left end already meets the target: that end is a valid answer.
        if self.ln_delta(low.max(0.0)) <= target {
            return Some(low.max(0.0));
        }
        low = low.max(0.0);
        while high - low > 1e-13 * high {
            let middle = 0.5 * (low + high);
            if self.ln_delta(middle) <= target { high = middle } else { low = middle }
        }
        // Atoms may sit a last digit off their lattice point.
        Some(high * (1.0 + 1e-12))
    }
}

/// The relative error of a transform in the 2-norm, at most.
fn transform_error(length: usize) -> f64 {
    20.0 * U * ((length as f64).log2() + 3.0)
}

/// `ln(e^a + e^b)`.
fn ln_add(a: f64, b: f64) -> f64 {
    let (large, small) = if a > b { (a, b) } else { (b, a) };
    if large == f64::NEG_INFINITY { large } else { large + (small - large).exp().ln_1p() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::gaussian;
    use crate::privacy::Noise;

    fn event(noise: Noise, count: u64) -> Event {
        Event::new("", noise, count).unwrap()
    }

    /// One Gaussian taken apart by the lattice is the exact Gaussian curve, from above.
    #[test]
    fn lattice_agrees_with_the_exact_gaussian() {
        for mu in [1e-4, 0.02, 0.3, 1.0, 4.0, 11.0] {
            let mix = Mix::of(&[event(Noise::Gaussian { sensitivity: mu, sigma: 1.0 }, 1)]).unwrap();
            for delta in [0.1, 1e-2, 1e-5, 1e-10, 1e-30, 1e-60] {
                let exact = gaussian::epsilon(mu, delta);
                let lattice = mix.epsilon(delta).unwrap();
                assert!(lattice >= exact, "mu {mu} delta {delta}: {lattice} < {exact}");
                assert!(lattice <= exact * (1.0 + 1e-4) + 1e-9, "mu {mu} delta {delta}: {lattice} > {exact}");
                let ln = mix.ln_delta(exact).unwrap();
                let exact_ln = gaussian::ln_delta(mu, exact);
                assert!(ln >= exact_ln && ln <= exact_ln + 1e-2, "mu {mu} delta {delta}: {ln} {exact_ln}");
            }
        }
    }

    /// Single releases have closed curves: Laplace `1 - e^{(e-w)/2}`, randomized response `top (1 - e^{e-w})`,
    /// the selection's envelope `(1-e^{(e-w)/2})^2/(1-e^-w)`. Widths on and off the lattice.
    #[test]
    fn single_releases_have_their_closed_curves() {
        for w in [0.01_f64, 0.1, 0.7, 1.0, 3.3, 20.0] {
            for share in [0.05, 0.5, 0.9, 0.999] {
                let e = share * w;
                let top = 1.0 / (1.0 + (-w).exp());
                let cases = [
                    (Noise::Laplace { sensitivity: w, scale: 1.0 }, -(0.5 * (e - w)).exp_m1()),
                    (Noise::Pure { epsilon: w }, -top * (e - w).exp_m1()),
                    (
                        Noise::Selection { sensitivity: w, scale: 2.0 },
                        (0.5 * (e - w)).exp_m1().powi(2) / -(-w).exp_m1(),
                    ),
                ];
                for (noise, exact) in cases {
                    let got = Mix::of(&[event(noise, 1)]).unwrap().ln_delta(e).unwrap();
                    assert!(got >= exact.ln(), "{noise:?} {e}: {got} < {}", exact.ln());
                    assert!(got <= exact.ln() + 5e-3, "{noise:?} {e}: {got} > {}", exact.ln());
                }
            }
        }
    }

    /// Randomized response composes to a binomial, whose curve is a finite sum. Down to delta = 1e-30.
    #[test]
    fn randomized_response_composes_to_the_binomial() {
        for (count, w) in [(1_u64, 0.3_f64), (7, 0.4), (20, 1.7), (100, 0.1), (100, 1.0), (1000, 0.2)] {
            let mix = Mix::of(&[event(Noise::Pure { epsilon: w }, count)]).unwrap();
            let (ln_top, ln_bottom) = (-(-w).exp().ln_1p(), -w.exp().ln_1p());
            let n = count as f64;
            let ln_curve = |e: f64| {
                (0..=count).fold(f64::NEG_INFINITY, |sum, k| {
                    let k = k as f64;
                    let loss = (2.0 * k - n) * w;
                    if loss <= e {
                        return sum;
                    }
                    let choose = libm::lgamma(n + 1.0) - libm::lgamma(k + 1.0) - libm::lgamma(n - k + 1.0);
                    let mass = choose + k * ln_top + (n - k) * ln_bottom;
                    ln_add(sum, mass + (-(e - loss).exp_m1()).ln())
                })
            };
            for delta in [0.03_f64, 1e-5, 1e-12, 1e-30] {
                let got = mix.epsilon(delta).unwrap();
                let slack = 1e-9 * (1.0 + n.ln());
                assert!(
                    got >= n * w || ln_curve(got) <= delta.ln() + slack,
                    "{count} {w} {delta}: too small"
                );
                let smaller = got * (1.0 - 1e-3);
                assert!(
                    got >= 0.999 * n * w || ln_curve(smaller) > delta.ln(),
                    "{count} {w} {delta}: too large"
                );
            }
        }
    }

    /// An adversary that sees a Gaussian release first, then picks every selection's shift and which of two ranges comes next.
    /// What it reaches on a lattice is a lower bound: the curve may not be below it, and is not far above.
    #[test]
    fn reacting_adversaries_stay_below_the_curve() {
        const STEP: f64 = 0.01;
        const RANGES: [i64; 2] = [40, 80];
        const COUNT: usize = 2;
        let reach = COUNT as i64 * (RANGES[0] + RANGES[1]);
        let trivial = |i: i64| -(STEP * i as f64).min(0.0).exp_m1();
        let at = |curve: &[f64], i: i64| {
            usize::try_from(i + reach).ok().and_then(|i| curve.get(i)).copied().unwrap_or_else(|| trivial(i))
        };
        let one_more = |curve: &[f64], range: i64| -> Vec<f64> {
            let best = |e: i64| {
                let chord = |t: i64| {
                    let top = (STEP * (t - range) as f64).exp_m1() / (-STEP * range as f64).exp_m1();
                    top * at(curve, e - t) + (1.0 - top) * at(curve, e - t + range)
                };
                (0..=range).map(chord).fold(0.0, f64::max)
            };
            (-reach..=reach).map(best).collect()
        };
        let mut best: Vec<Vec<Vec<f64>>> = Vec::new();
        for a in 0..=COUNT {
            best.push(Vec::new());
            for b in 0..=COUNT {
                let mut curve: Vec<f64> = (-reach..=reach).map(trivial).collect();
                let before = [(a > 0).then(|| (&best[a - 1][b], 0)), (b > 0).then(|| (&best[a][b - 1], 1))];
                for (earlier, which) in before.into_iter().flatten() {
                    let new = one_more(earlier, RANGES[which]);
                    curve.iter_mut().zip(new).for_each(|(c, n)| *c = c.max(n));
                }
                best[a].push(curve);
            }
        }
        let last = &best[COUNT][COUNT];
        for mu in [0.05_f64, 0.4, 1.5] {
            let above = |l: f64| 0.5 * libm::erfc((l / mu - 0.5 * mu) / std::f64::consts::SQRT_2);
            let selection = |range: i64| {
                event(Noise::Selection { sensitivity: STEP * range as f64, scale: 2.0 }, COUNT as u64)
            };
            let gaussian = event(Noise::Gaussian { sensitivity: mu, sigma: 1.0 }, 1);
            let mix = Mix::of(&[selection(RANGES[0]), gaussian, selection(RANGES[1])]).unwrap();
            for e in [0.1, 0.5, 1.0, 1.6] {
                // A Gaussian loss between two lattice points leaves at least what is left at the lower one.
                let low = -reach - (12.0 * mu / STEP).ceil() as i64;
                let reached: f64 = (low..=reach)
                    .map(|i| {
                        let loss = e - STEP * i as f64;
                        (above(loss) - above(loss + STEP)).max(0.0) * at(last, i)
                    })
                    .sum();
                let ours = mix.ln_delta(e).unwrap().exp();
                assert!(ours >= reached, "{mu} {e}: {ours} < {reached}");
                // Two ranges are charged apart.
                assert!(ours <= 1.35 * reached, "{mu} {e}: {ours} > {reached}");
            }
        }
    }

    /// The transforms of unit impulses are roots of unity, known to the last digit: they show the twiddle factors' errors. The
    /// real ones stay well below the bound, and are not so far below it that the bound says nothing.
    #[test]
    fn transforms_err_by_less_than_is_charged() {
        let mut planner = RealFftPlanner::<f64>::new();
        for length in [1_usize << 14, 1 << 15, 1 << 16, 1 << 18] {
            let (forward, inverse) = (planner.plan_fft_forward(length), planner.plan_fft_inverse(length));
            for place in [1, 3, length / 2 - 1, length - 1, length / 3, 5 * length / 7] {
                let mut signal = vec![0.0; length];
                signal[place] = 1.0;
                let mut spectrum = forward.make_output_vec();
                forward.process(&mut signal, &mut spectrum).unwrap();
                let square: f64 = spectrum
                    .iter()
                    .enumerate()
                    .map(|(k, z)| {
                        let (cos, sin) = root(place * k, length);
                        (z.re - cos).powi(2) + (z.im + sin).powi(2)
                    })
                    .sum();
                // Both halves of the spectrum err alike.
                let error = (2.0 * square / length as f64).sqrt();
                let allowed = transform_error(length);
                assert!(error <= allowed && error > 1e-3 * allowed, "{length} {place}: {error} {allowed}");
                let mut exact: Vec<_> = (0..=length / 2)
                    .map(|k| {
                        let (cos, sin) = root(place * k, length);
                        realfft::num_complex::Complex::new(cos, -sin)
                    })
                    .collect();
                (exact[0].im, exact[length / 2].im) = (0.0, 0.0);
                let mut back = vec![0.0; length];
                inverse.process(&mut exact, &mut back).unwrap();
                back[place] -= length as f64;
                let error = back.iter().map(|x| x * x).sum::<f64>().sqrt() / length as f64;
                assert!(error <= allowed, "{length} {place}: {error} {allowed}");
            }
        }
    }

    /// `e^{2 pi i k / n}` from an angle of at most an eighth of a turn.
    fn root(k: usize, n: usize) -> (f64, f64) {
        let (eighth, rest) = (8 * (k % n) / n, 8 * (k % n) % n);
        let turned = if eighth % 2 == 0 { rest } else { n - rest };
        let (sin, cos) = (std::f64::consts::FRAC_PI_4 * (turned as f64 / n as f64)).sin_cos();
        match eighth {
            0 => (cos, sin),
            1 => (sin, cos),
            2 => (-sin, cos),
            3 => (-cos, sin),
            4 => (-cos, -sin),
            5 => (-sin, -cos),
            6 => (sin, -cos),
            _ => (cos, -sin),
        }
    }

    /// The atoms' lattice points may round either way; no mass may be lost for it.
    #[test]
    fn aligned_atoms_keep_their_mass() {
        for i in 1..2000 {
            let w = 0.1 + f64::from(i) * 1e-3;
            for noise in [Noise::Laplace { sensitivity: w, scale: 1.0 }, Noise::Pure { epsilon: w }] {
                let step = w / f64::from(i % 97 + 3);
                let lattice = Loss::of(&noise).unwrap().discretise(step, 0.0, LONGEST).unwrap();
                assert!(lattice.log_moment.abs() < 1e-11, "{noise:?} {i}: {}", lattice.log_moment);
            }
        }
    }
}
