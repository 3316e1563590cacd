//! The sum of a round's reports: exact, mergeable, on all processors.
//!
//! # Algorithm
//! 1. The direction that a report names is a vector of length at most one. Each of its coordinates is rounded to a multiple of 2^-32.
//! 2. Multiples are added as whole numbers. There are at most 2^30 reports, so that no sum leaves 64 bits.
//! 3. The total is multiplied by `radius / gain` once, at the end.
//!
//! Adding is without error, so the sum does not depend on the order of the reports, on how they are cut into parts, or on the
//! number of threads. Rounding moves a mean by less than 2^-33 of the radius over the gain, far below the deviates' own 32 bits.
//!
//! # Guarantee
//! None is needed: reports are private before they arrive.

use super::randomizer::{Randomizer, Report};
use crate::error::{Error, Result};

/// Units of a direction's coordinate.
const UNITS: f64 = 4_294_967_296.0;
/// Reports in one sum at most.
const MOST: u64 = 1 << 30;

/// A sum of reports of one randomizer.
#[derive(Debug, Clone)]
pub struct ReportSum {
    randomizer: Randomizer,
    units: Vec<i64>,
    count: u64,
}

impl ReportSum {
    /// The sum of no reports.
    pub fn new(randomizer: &Randomizer) -> Self {
        Self { units: vec![0; randomizer.dimension()], count: 0, randomizer: randomizer.clone() }
    }

    /// How many reports were added.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Adds reports, each as its bytes, on all processors. All or none.
    pub fn add<B: AsRef<[u8]> + Sync>(&mut self, reports: &[B]) -> Result<()> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        self.add_on(reports, threads)
    }

    fn add_on<B: AsRef<[u8]> + Sync>(&mut self, reports: &[B], threads: usize) -> Result<()> {
        if reports.len() as u64 > MOST - self.count {
            return Err(Error::Conflict("a round has more than 2^30 reports: divide the study".into()));
        }
        let randomizer = &self.randomizer;
        let parts: Vec<Result<Vec<i64>>> = std::thread::scope(|scope| {
            let handles: Vec<_> = reports
                .chunks(reports.len().div_ceil(threads).max(1))
                .map(|part| scope.spawn(move || units(randomizer, part)))
                .collect();
            let stopped =
                |_| Err(Error::Conflict("a thread stopped while reports were added: try again".into()));
            handles.into_iter().map(|handle| handle.join().unwrap_or_else(stopped)).collect()
        });
        let parts = parts.into_iter().collect::<Result<Vec<_>>>()?;
        parts.iter().for_each(|part| self.units.iter_mut().zip(part).for_each(|(sum, unit)| *sum += unit));
        self.count += reports.len() as u64;
        Ok(())
    }

    /// The sum of the estimates of the vectors behind the reports.
    pub fn total(&self) -> Vec<f64> {
        let factor = self.randomizer.radius() / self.randomizer.gain() / UNITS;
        self.units.iter().map(|&units| units as f64 * factor).collect()
    }
}

fn units<B: AsRef<[u8]>>(randomizer: &Randomizer, reports: &[B]) -> Result<Vec<i64>> {
    let mut units = vec![0; randomizer.dimension()];
    // Steps 1 and 2
    for report in reports {
        randomizer.named_direction(&Report::from_bytes(report.as_ref())?, |direction, sign| {
            let scale = sign * UNITS;
            units.iter_mut().zip(direction).for_each(|(sum, u)| *sum += nearest(u * scale));
        })?;
    }
    Ok(units)
}

/// The whole number nearest to one of at most 2^33 in size. Added to 1.5 * 2^52, where numbers are one apart, it is rounded, and
/// the last bits are the whole number; a conversion would be no vector instruction.
fn nearest(x: f64) -> i64 {
    const MIDDLE: f64 = 6_755_399_441_055_744.0;
    (x + MIDDLE).to_bits().cast_signed() - MIDDLE.to_bits().cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local::randomizer::Kind;
    use crate::local::seed;
    use crate::noise::RandomSource;

    #[test]
    fn numbers_are_rounded_to_the_nearest() {
        for x in [
            0.0,
            -0.0,
            0.49,
            -0.49,
            0.5,
            1.5,
            -2.5,
            4_294_967_296.0,
            -4_294_967_296.0,
            -4_294_967_295.75,
            1e-300,
        ] {
            assert_eq!(nearest(x), x.round_ties_even() as i64, "{x}");
        }
    }

    #[test]
    fn sums_are_those_of_the_estimates_in_any_order_and_on_any_number_of_threads() {
        let rng = &mut RandomSource::insecure_seeded(seed("report sums"));
        for kind in [Kind::PrivUnit, Kind::Duchi] {
            let randomizer = Randomizer::new(kind, 7, 3.0, 2.0).unwrap();
            let mut plain = vec![0.0; 7];
            let mut reports: Vec<Vec<u8>> = (0..501)
                .map(|_| {
                    let report = randomizer.randomize(&[0.3; 7], rng).unwrap();
                    randomizer.estimate(&report, &mut plain).unwrap();
                    report.to_bytes().to_vec()
                })
                .collect();
            let mut all = ReportSum::new(&randomizer);
            all.add_on(&reports, 1).unwrap();
            for (sum, expected) in all.total().iter().zip(&plain) {
                assert!((sum - expected).abs() < 1e-6, "{kind:?}: {sum} and {expected}");
            }
            reports.reverse();
            for (threads, cut) in [(2, 1), (3, 100), (64, 501)] {
                let mut parts = ReportSum::new(&randomizer);
                reports.chunks(cut).for_each(|part| parts.add_on(part, threads).unwrap());
                assert_eq!((parts.count(), parts.total()), (501, all.total()));
            }
            // A report of another kind changes nothing.
            let before = all.total();
            reports[500][1] = 3 - reports[500][1];
            assert!(all.add_on(&reports, 2).is_err());
            assert_eq!((all.count(), all.total()), (501, before));
        }
    }
}
