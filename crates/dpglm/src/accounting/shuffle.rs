//! What one report of the local model costs when an independent party shuffles it among others.
//!
//! # Algorithm
//! n users run the same randomizer, pure `e0` each, and only the multiset of their reports is seen. With `E = e^e0` and
//! `p = 1 / (E + 1)`, let `C ~ Bin(n - 1, 2p)`, `A ~ Bin(C, 1/2)`, `D ~ Bernoulli(E p)`. Then the shuffled reports are
//! (epsilon, delta) private under replacement of one user's record, with delta the distance of the two pairs
//! `(A + D, C - A + 1 - D)` and `(A + 1 - D, C - A + D)` at `e^epsilon`. Given `C = c` the ratio of their probabilities at
//! `(x, c + 1 - x)` grows with x, so that the distance is that of a half line. With `G = e^epsilon`, `f` the probabilities of
//! Bin(c, 1/2), `F` its upper tail and k the smallest x of the half line,
//!
//! `delta(c) = f(k - 1) (E - G) / (E + 1) - (G - 1) F(k)`, `k = ceil((c + 1) (G E - 1) / ((E - 1) (G + 1)))`,
//!
//! and delta is the mean of `delta(C)`.
//!
//! # Why it is true
//! Let a and b be the densities of the report of the user in question under two records, and c that of any other user's.
//! All ratios lie within `e^e0`. Let `m` be the total variation distance of a and b, `r = m / (E - 1) <= p`,
//! `q0 = (a - b)^+ / m`, `q1 = (b - a)^+ / m`. Where `a >= b`:
//!
//! * `c >= a / E >= (a - b) / (E - 1) = r (q0 + q1)`, since `b >= a / E`; and the same where `a < b`. So
//!   `c = r q0 + r q1 + (1 - 2r) (something)`: any other user says q0 or q1 with probability r each.
//! * `a = E r q0 + r q1 + rest` and `b = r q0 + E r q1 + rest`, where the rest `(E b - a) / (E - 1) >= 0` is common.
//!
//! So all that the reports tell about the user's record is told by how many were drawn from q0 and how many from q1: the
//! reports themselves follow from these counts without the record. That is the pair above with r for p, and with a user who
//! may also say neither. Dropping each such message with probability `1 - r/p` turns the pair for p into the one for r: the
//! pair for p is the worst. A larger c is a post-processing of a smaller one (add a fair coin), so `delta(c)` falls with c.
//!
//! Rounds of a study: a user answers in one round, what is published after it depends on its reports only, and the users of
//! other rounds say nothing about this one's record. The loss is that of the round.
//!
//! # Outward rounding
//! E is rounded up and G down: a larger local loss, and a smaller epsilon, give a larger delta. Probabilities of C come from
//! the recurrence, divided by their sum over a window, which is at most one; what lies outside is bounded by Bernstein's
//! inequality and added. Values of C are taken in blocks at their smallest c. `f` is bounded above by Stirling's series, `F / f`
//! below by a truncated sum of positive terms; each number of operations is charged in units of the last place.
//!
//! # What it rests on
//! That somebody independent shuffles, and that the other reports are made as the protocol says. Neither can be checked by
//! the curator's software, so a certificate from this is conditional. Without them the local loss still holds.
//!
//! # References
//! Feldman, McMillan and Talwar, *Stronger privacy amplification by shuffling for Rényi and approximate differential privacy*,
//! SODA 2023; the decomposition of a pair of densities is that of Kairouz, Oh and Viswanath, ICML 2015.

use crate::error::{Error, Parameter, Result, require_nonzero};
use crate::numeric::turning_point;
use crate::privacy::budget::check_delta;

/// Half a unit in the last place of one.
const UNIT: f64 = f64::EPSILON;
/// Probability that C lies outside the window: far below any delta of use.
const OUTSIDE: f64 = 1e-40;
/// Blocks into which the window is cut.
const BLOCKS: u64 = 2048;
/// The largest local loss: beyond it nothing is amplified, and numbers would overflow.
const LARGEST: f64 = 32.0;

/// The smallest epsilon at `delta` of one report, pure `local`, that is shuffled among `reports` in all; never above `local`.
///
/// ```
/// use dpglm::accounting::shuffle;
///
/// // Four thousand people who each spend 2 in the local model spend about a quarter towards whoever sees shuffled reports.
/// let epsilon = shuffle::epsilon(2.0, 4_000, 1e-8)?;
/// assert!((0.2..0.3).contains(&epsilon));
/// # Ok::<(), dpglm::Error>(())
/// ```
pub fn epsilon(local: f64, reports: u64, delta: f64) -> Result<f64> {
    check_local(local)?;
    require_nonzero(Parameter::Reports, reports, "say among how many a report is shuffled")?;
    if delta == 0.0 || reports == 1 {
        return Ok(local);
    }
    check_delta(delta)?;
    if distance(local, reports, 0.0) <= delta {
        return Ok(0.0);
    }
    Ok(turning_point((0.0, local), 36, |epsilon| distance(local, reports, epsilon) > delta).1)
}

/// The delta at `epsilon` of one report, pure `local`, that is shuffled among `reports` in all.
pub fn delta(local: f64, reports: u64, epsilon: f64) -> Result<f64> {
    check_local(local)?;
    require_nonzero(Parameter::Reports, reports, "say among how many a report is shuffled")?;
    if !(epsilon >= 0.0 && epsilon.is_finite()) {
        return Err(Error::OutOfRange {
            parameter: Parameter::Epsilon,
            range: "a finite number from 0",
            value: format!("{epsilon}"),
            remedy: "ask for a point of the privacy curve",
        });
    }
    Ok(distance(local, reports, epsilon))
}

/// The largest local loss whose shuffled reports stay within (`epsilon`, `delta`), up to `most`.
pub fn local_epsilon(epsilon_wanted: f64, delta: f64, reports: u64, most: f64) -> Result<f64> {
    check_local(most)?;
    check_delta(delta)?;
    if !(epsilon_wanted > 0.0 && epsilon_wanted.is_finite()) {
        return Err(Error::OutOfRange {
            parameter: Parameter::Epsilon,
            range: "a finite number above 0",
            value: format!("{epsilon_wanted}"),
            remedy: "say what the shuffled reports may cost",
        });
    }
    if epsilon(most, reports, delta)? <= epsilon_wanted {
        return Ok(most);
    }
    // A pure loss of what is wanted is always enough.
    let ends = (epsilon_wanted.min(most), most);
    Ok(turning_point(ends, 24, |local| distance(local, reports, epsilon_wanted) <= delta).0)
}

fn check_local(local: f64) -> Result<()> {
    if local > 0.0 && local <= LARGEST {
        return Ok(());
    }
    Err(Error::OutOfRange {
        parameter: Parameter::LocalEpsilon,
        range: "above 0 and at most 32",
        value: format!("{local}"),
        remedy: "give what one report costs before it is shuffled",
    })
}

/// An upper bound on delta. Arguments were checked.
fn distance(local: f64, reports: u64, epsilon: f64) -> f64 {
    if epsilon >= local {
        return 0.0;
    }
    // More than the exponential function errs by.
    let large = local.exp() * (1.0 + 8.0 * UNIT);
    let small = (epsilon.exp() * (1.0 - 8.0 * UNIT)).max(1.0);
    if small >= large {
        return 0.0;
    }
    let others = reports - 1;
    let share = 2.0 / (large + 1.0);
    let mean = others as f64 * share;
    let spread = (mean * (1.0 - share)).max(0.0);
    let exponent = (2.0 / OUTSIDE).ln();
    let reach = exponent / 3.0 + (exponent * exponent / 9.0 + 2.0 * exponent * spread).sqrt() + 2.0;
    let first = (mean - reach).floor().max(0.0) as u64;
    let last = ((mean + reach).ceil() as u64).min(others);
    let outside = if first == 0 && last == others { 0.0 } else { OUTSIDE };
    let weights = window(others, share, first, last, mean);
    let total: f64 = weights.iter().sum();
    let width = ((last - first + 1).div_ceil(BLOCKS)).max(1) as usize;
    let sum: f64 = weights
        .chunks(width)
        .enumerate()
        .map(|(block, weights)| {
            let c = first + (block * width) as u64;
            weights.iter().sum::<f64>() * given(c, large, small)
        })
        .sum();
    // Each weight is a product of at most so many factors, each of a few roundings; so are the sums.
    let steps = (last - first + 1) as f64;
    (sum / total * (1.0 + 32.0 * UNIT * (steps + 8.0)) + outside).min(1.0)
}

/// Numbers in proportion to the probabilities of Bin(others, share) on a window, the largest near one.
fn window(others: u64, share: f64, first: u64, last: u64, mean: f64) -> Vec<f64> {
    let mut weights = vec![0.0; (last - first + 1) as usize];
    let mode = (mean.floor() as u64).clamp(first, last);
    let odds = share / (1.0 - share);
    let at = |c: u64| (c - first) as usize;
    weights[at(mode)] = 1.0;
    for c in mode..last {
        weights[at(c + 1)] = weights[at(c)] * ((others - c) as f64 / (c + 1) as f64 * odds);
    }
    for c in (first..mode).rev() {
        weights[at(c)] = weights[at(c + 1)] * ((c + 1) as f64 / (others - c) as f64 / odds);
    }
    weights
}

/// An upper bound on delta given that c others are clones.
fn given(c: u64, large: f64, small: f64) -> f64 {
    let border = (small * large - 1.0) / ((large - 1.0) * (small + 1.0));
    let k = ((c + 1) as f64 * border).ceil().max(1.0) as u64;
    if k > c + 1 {
        return 0.0;
    }
    let own = (large - small) / (large + 1.0);
    // F(k) / f(k - 1), from below: a truncated sum of positive terms.
    let (mut tail, mut term, mut steps) = (0.0, 1.0, 1.0);
    for j in k..=c {
        term *= (c - j + 1) as f64 / j as f64;
        tail += term;
        steps += 1.0;
        if term < 1e-17 * tail {
            break;
        }
    }
    let tail = tail * (1.0 - 8.0 * UNIT * steps);
    // A k that rounding has moved by one loses less than this.
    let slack = 1e-12;
    let rest = (own * (1.0 + 8.0 * UNIT + slack) - (small - 1.0) * (1.0 - 4.0 * UNIT) * tail).max(0.0);
    rest * half_binomial(c, k - 1)
}

/// The probability of x under Bin(c, 1/2), rounded up.
fn half_binomial(c: u64, x: u64) -> f64 {
    let (x, y) = (x.max(c - x), x.min(c - x));
    let size = c as f64;
    if y == 0 {
        return (-size * std::f64::consts::LN_2).exp() * (1.0 + 8.0 * UNIT * (size + 1.0));
    }
    let lean = (x - y) as f64 / size;
    // x ln(2x / c) + y ln(2y / c)
    let deviance = x as f64 * lean.ln_1p() + y as f64 * (-lean).ln_1p();
    let root = size / (std::f64::consts::TAU * x as f64 * y as f64);
    let exponent = stirling(c) - stirling(x) - stirling(y) - deviance;
    let error = 8.0 * UNIT * (size * lean + deviance.abs() + 8.0) + 1e-12;
    root.sqrt() * (exponent + error).exp() * (1.0 + 8.0 * UNIT)
}

/// `ln m! - ln(sqrt(2 pi m) (m / e)^m)`, within 1e-13.
fn stirling(m: u64) -> f64 {
    let x = m as f64;
    if m < 32 {
        let factorial: f64 = (2..=m).map(|i| i as f64).product();
        return factorial.ln() - (0.5 * (std::f64::consts::TAU * x).ln() + x * x.ln() - x);
    }
    // The series alternates: the next term, below 1.8e-14, bounds the rest.
    let square = x * x;
    (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / (1260.0 * square)) / square) / x
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ln_factorials(n: usize) -> Vec<f64> {
        let mut logs = vec![0.0; n + 1];
        (1..=n).for_each(|i| logs[i] = logs[i - 1] + (i as f64).ln());
        logs
    }

    /// The distance of the two pairs, point by point.
    fn by_sum(local: f64, n: usize, epsilon: f64) -> f64 {
        let (large, small) = (local.exp(), epsilon.exp());
        let p = 1.0 / (large + 1.0);
        let logs = ln_factorials(n);
        let binomial = |n: usize, k: usize, q: f64| {
            let tail = if k == n { 0.0 } else { (n - k) as f64 * (1.0 - q).ln() };
            (logs[n] - logs[k] - logs[n - k] + k as f64 * q.ln() + tail).exp()
        };
        let mut delta = 0.0;
        for c in 0..n {
            let weight = binomial(n - 1, c, 2.0 * p);
            for x in 0..=c + 1 {
                let one = if x > 0 { binomial(c, x - 1, 0.5) } else { 0.0 };
                let none = if x <= c { binomial(c, x, 0.5) } else { 0.0 };
                let (first, second) = ((1.0 - p) * one + p * none, p * one + (1.0 - p) * none);
                delta += weight * (first - small * second).max(0.0);
            }
        }
        delta
    }

    /// What binary randomized response really costs when it is shuffled, all other users alike: a lower bound of any bound.
    fn randomized_response(local: f64, n: usize, epsilon: f64) -> f64 {
        let p = 1.0 / (local.exp() + 1.0);
        let logs = ln_factorials(n);
        let binomial = |k: usize| {
            (logs[n - 1] - logs[k] - logs[n - 1 - k]
                + k as f64 * p.ln()
                + (n - 1 - k) as f64 * (1.0 - p).ln())
            .exp()
        };
        let ones = |own: f64, k: usize| {
            let mut sum = if k < n { (1.0 - own) * binomial(k) } else { 0.0 };
            if k > 0 {
                sum += own * binomial(k - 1);
            }
            sum
        };
        (0..=n).map(|k| (ones(1.0 - p, k) - epsilon.exp() * ones(p, k)).max(0.0)).sum()
    }

    #[test]
    fn the_bound_is_the_distance_of_the_two_pairs() {
        for (local, n) in [(0.1, 2), (1.0, 3), (2.0, 17), (0.5, 60), (4.0, 200), (1.0, 900), (8.0, 900)] {
            for part in [0.0, 0.05, 0.3, 0.7, 0.99] {
                let (ours, sum) = (distance(local, n as u64, part * local), by_sum(local, n, part * local));
                assert!(ours >= sum * (1.0 - 1e-10), "{local} {n} {part}: {ours:e} below {sum:e}");
                assert!(ours <= sum * (1.0 + 1e-6) + 1e-14, "{local} {n} {part}: {ours:e} far above {sum:e}");
            }
        }
    }

    /// Above what randomized response truly costs, and not far; a bound for more reports than there are is caught.
    #[test]
    fn shuffled_randomized_response_costs_no_more() {
        for (local, n, delta) in
            [(1.0, 1_000, 1e-6), (2.0, 4_000, 1e-8), (0.5, 300, 1e-5), (3.0, 4_000, 1e-6)]
        {
            let bound = epsilon(local, n as u64, delta).unwrap();
            let (mut low, mut high) = (0.0, local);
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                if randomized_response(local, n, middle) <= delta { high = middle } else { low = middle }
            }
            println!("{local} {n} {delta:e}: bound {bound:.4}, randomized response {high:.4}");
            assert!(bound >= high * (1.0 - 1e-9), "{bound} below {high}");
            assert!(bound < 2.0 * high, "{bound} far above {high}");
            assert!(
                epsilon(local, 30 * n as u64, delta).unwrap() < high,
                "thirty times the reports must be caught"
            );
        }
    }

    /// Below the closed form of Feldman, McMillan and Talwar 2021 (Theorem 3.1), where that applies.
    #[test]
    fn the_numerical_bound_is_below_the_closed_form() {
        for (local, n, delta) in
            [(1.0_f64, 100_000_u64, 1e-6_f64), (2.0, 1_000_000, 1e-8), (4.0, 10_000_000, 1e-6)]
        {
            let size = n as f64;
            assert!(local <= (size / (16.0 * (2.0 / delta).ln())).ln());
            let e = local.exp();
            let closed = ((e - 1.0) / (e + 1.0)
                * (8.0 * (e * (4.0 / delta).ln() / size).sqrt() + 8.0 * e / size))
                .ln_1p();
            let ours = epsilon(local, n, delta).unwrap();
            println!("{local} {n}: {ours:.5} against {closed:.5}");
            assert!(ours < 0.5 * closed);
        }
    }

    #[test]
    fn laws() {
        let at = |local, n, delta| epsilon(local, n, delta).unwrap();
        // More reports, a larger delta and a smaller local loss all cost less; nothing costs more than the local loss.
        assert!(at(2.0, 2_000, 1e-6) < at(2.0, 1_000, 1e-6) && at(2.0, 1_000, 1e-5) < at(2.0, 1_000, 1e-6));
        assert!(at(1.0, 1_000, 1e-6) < at(2.0, 1_000, 1e-6));
        assert_eq!((at(2.0, 1, 1e-6), at(2.0, 1_000, 0.0)), (2.0, 2.0));
        assert!(at(2.0, 3, 1e-12) <= 2.0);
        // Very many reports, in little time.
        let many = at(4.0, 1_000_000_000, 1e-10);
        assert!(many > 0.0 && many < 0.01, "{many}");
        assert_eq!(distance(1.0, 100, 1.0), 0.0);
        let local = local_epsilon(0.5, 1e-6, 10_000, 20.0).unwrap();
        assert!(at(local, 10_000, 1e-6) <= 0.5 && at(1.01 * local, 10_000, 1e-6) > 0.5, "{local}");
        assert_eq!(local_epsilon(5.0, 1e-6, 10_000, 3.0).unwrap(), 3.0);
        for wrong in [0.0, -1.0, f64::NAN, 33.0] {
            assert!(epsilon(wrong, 10, 1e-6).is_err());
        }
        assert!(
            epsilon(1.0, 0, 1e-6).is_err() && epsilon(1.0, 10, 1.0).is_err() && delta(1.0, 10, -1.0).is_err()
        );
    }

    /// Stirling's series and the probabilities, against exact products.
    #[test]
    fn probabilities_are_rounded_up() {
        for c in [1_u64, 2, 5, 31, 32, 33, 100, 1_000] {
            let mut exact = 1.0_f64;
            let mut scale = -(c as f64) * std::f64::consts::LN_2;
            for x in 0..=c {
                let expected = exact.ln() + scale;
                let ours = half_binomial(c, x);
                if expected > -690.0 {
                    let error = ours.ln() - expected;
                    assert!((-1e-13 * c as f64..1e-9).contains(&error), "{c} {x}: {error:e}");
                }
                exact *= (c - x) as f64 / (x + 1) as f64;
                if exact > 1e200 {
                    exact *= 1e-200;
                    scale += 200.0 * std::f64::consts::LN_10;
                } else if exact < 1e-200 && exact > 0.0 {
                    exact *= 1e200;
                    scale -= 200.0 * std::f64::consts::LN_10;
                }
            }
        }
    }
}
