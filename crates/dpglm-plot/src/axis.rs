//! An axis: from values to places, and its ticks.

/// An axis between two places of the drawing.
pub(crate) struct Axis {
    low: f64,
    high: f64,
    is_logarithmic: bool,
    ends: (f64, f64),
    ticks: Vec<(f64, String)>,
}

impl Axis {
    /// One place an index.
    pub(crate) fn named(count: usize, ends: (f64, f64)) -> Self {
        Self { low: -0.5, high: count.max(1) as f64 - 0.5, is_logarithmic: false, ends, ticks: Vec::new() }
    }

    /// An even axis over the values, with room at both ends if asked for.
    pub(crate) fn linear(values: &[f64], ends: (f64, f64), roomy: bool) -> Self {
        let (low, high) = range(values.iter().copied().filter(|v| v.is_finite()));
        let room = if roomy { 0.04 * (high - low) } else { 0.0 };
        let (low, high) = (low - room, high + room);
        Self { low, high, is_logarithmic: false, ends, ticks: labelled(even_ticks(low, high)) }
    }

    /// From zero to the first tick that is not below the value.
    pub(crate) fn from_zero(highest: f64, ends: (f64, f64)) -> Self {
        let step = round_step(if highest > 0.0 { highest } else { 1.0 } / 8.0);
        let count = (highest / step).ceil().max(1.0);
        let ticks = labelled((0..=count as u32).map(|i| step * f64::from(i)).collect());
        Self { low: 0.0, high: step * count, is_logarithmic: false, ends, ticks }
    }

    /// From 0 to 1, in fifths.
    pub(crate) fn shares(ends: (f64, f64)) -> Self {
        let ticks = labelled((0..=5).map(|i| f64::from(i) / 5.0).collect());
        Self { low: 0.0, high: 1.0, is_logarithmic: false, ends, ticks }
    }

    /// Whole powers of ten between two exponents, at most about a dozen of them marked.
    pub(crate) fn decades((low, high): (f64, f64), ends: (f64, f64)) -> Self {
        let stride = ((high - low) / 12.0).ceil().max(1.0) as usize;
        // Beginning with the largest, so that it is marked.
        let marked = (low as i32..=high as i32).rev().step_by(stride);
        let ticks = marked.map(|decade| (10f64.powi(decade), power_of_ten(decade))).collect();
        Self { low, high, is_logarithmic: true, ends, ticks }
    }

    /// A logarithmic axis over the positive values.
    pub(crate) fn logarithmic(values: &[f64], ends: (f64, f64)) -> Self {
        let (low, high) = range(values.iter().copied().filter(|v| v.is_finite() && *v > 0.0).map(f64::log10));
        let room = 0.04 * (high - low).max(0.1);
        let (low, high) = (low - room, high + room);
        let within = |v: &f64| (low..=high).contains(&v.log10());
        let decades = low.floor() as i32..=high.ceil() as i32;
        // The fewest marks per decade that give at least three ticks.
        let sets: [&[f64]; 3] = [&[1.0], &[1.0, 2.0, 5.0], &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0]];
        let marks = |set: &[f64]| -> Vec<f64> {
            let in_decade = |k: i32| set.iter().map(move |m| m * 10f64.powi(k));
            decades.clone().flat_map(in_decade).filter(within).collect()
        };
        let mut ticks =
            sets.iter().map(|set| marks(set)).find(|t| t.len() >= 3).unwrap_or_else(|| marks(sets[2]));
        if ticks.len() > 9 {
            let stride = ticks.len().div_ceil(9);
            ticks = ticks.into_iter().step_by(stride).collect();
        } else if ticks.len() < 2 {
            // Too narrow for marks of decades: even ones.
            ticks = even_ticks(10f64.powf(low), 10f64.powf(high));
        }
        Self { low, high, is_logarithmic: true, ends, ticks: labelled(ticks) }
    }

    /// Whether it has names in place of numbers.
    pub(crate) fn is_named(&self) -> bool {
        self.ticks.is_empty()
    }

    /// Where a value lies; values beyond the axis lie at its end.
    pub(crate) fn place(&self, value: f64) -> f64 {
        let at = if self.is_logarithmic { value.max(1e-300).log10() } else { value };
        let share = ((at - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        self.ends.0 + (self.ends.1 - self.ends.0) * share
    }

    /// Places and labels of the ticks.
    pub(crate) fn ticks(&self) -> impl Iterator<Item = (f64, &str)> {
        self.ticks.iter().map(|(value, label)| (self.place(*value), label.as_str()))
    }
}

fn labelled(ticks: Vec<f64>) -> Vec<(f64, String)> {
    ticks.into_iter().map(|value| (value, label(value))).collect()
}

fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    if low > high {
        (0.0, 1.0)
    } else if high - low < 1e-12 * high.abs().max(1e-12) {
        (low - 0.5, high + 0.5)
    } else {
        (low, high)
    }
}

/// Multiples of a round step between two ends.
fn even_ticks(low: f64, high: f64) -> Vec<f64> {
    let step = round_step((high - low) / 7.0);
    let (first, last) = ((low / step).ceil() as i64, (high / step).floor() as i64);
    (first..=last).map(|k| k as f64 * step).collect()
}

/// The next of 1, 2, 5, 10 times a power of ten.
fn round_step(least: f64) -> f64 {
    let power = 10f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|s| *s >= least).unwrap_or(10.0 * power)
}

/// `10^decade` in one run of text: renderers disagree on how to raise part of a label.
fn power_of_ten(decade: i32) -> String {
    const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    match decade {
        0 => "1".into(),
        1 => "10".into(),
        _ => {
            let sign = if decade < 0 { "10⁻" } else { "10" };
            let digits = decade.unsigned_abs().to_string();
            sign.chars().chain(digits.bytes().map(|b| RAISED[usize::from(b - b'0')])).collect()
        }
    }
}

/// A tick's number: thousands apart, no digits that mean nothing.
fn label(value: f64) -> String {
    let size = value.abs();
    if size >= 1e6 || (size > 0.0 && size < 1e-3) {
        return format!("{value:.0e}");
    }
    let shortest: f64 = format!("{value:.3e}").parse().unwrap_or(value);
    let text = if shortest.abs() < 1e-12 { "0".into() } else { format!("{shortest}") };
    let text = text.replace('-', "−");
    match text.parse::<u32>() {
        Ok(whole) if whole >= 10_000 => format!("{},{:03}", whole / 1_000, whole % 1_000),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels() {
        for (value, text) in [
            (0.1 + 0.2, "0.3"),
            (40_000.0, "40,000"),
            (-2.5, "−2.5"),
            (1e-4, "1e-4"),
            (0.0, "0"),
            (2e6, "2e6"),
        ] {
            assert_eq!(label(value), text);
        }
    }

    #[test]
    fn decades_are_marked_from_the_largest() {
        let axis = Axis::decades((-30.0, 2.0), (0.0, 1.0));
        let labels: Vec<&str> = axis.ticks().map(|tick| tick.1).collect();
        assert_eq!(labels[..2], ["10²", "10⁻¹"]);
        assert_eq!((labels.len(), axis.place(1e2), axis.place(1e-30)), (11, 1.0, 0.0));
    }

    #[test]
    fn axes_have_ticks() {
        for values in [vec![0.0, 1.0], vec![0.012, 0.013], vec![5.0, 100_000.0], vec![3.0], vec![]] {
            for axis in [Axis::linear(&values, (0.0, 1.0), true), Axis::logarithmic(&values, (0.0, 1.0))] {
                let count = axis.ticks().count();
                assert!((2..=10).contains(&count), "{values:?}: {count}");
            }
        }
    }
}
