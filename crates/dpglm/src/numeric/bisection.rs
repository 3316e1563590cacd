//! Where a condition turns.

/// The ends of the last of `halvings` intervals around the place in `[low, high]` where `holds` turns false: it holds at the first,
/// unless that is `low`, and not at the second, unless that is `high`.
pub(crate) fn turning_point(
    (mut low, mut high): (f64, f64),
    halvings: u32,
    holds: impl Fn(f64) -> bool,
) -> (f64, f64) {
    for _ in 0..halvings {
        let middle = 0.5 * (low + high);
        if holds(middle) { low = middle } else { high = middle }
    }
    (low, high)
}

/// The smallest number from `low` to `high` at which `enough` holds, which it does from some number on, within a relative
/// `precision`; `None` if it does not hold at `high`.
pub(crate) fn first_on_log_scale(
    (low, high): (f64, f64),
    precision: f64,
    enough: impl Fn(f64) -> bool,
) -> Option<f64> {
    if enough(low) {
        return Some(low);
    }
    if !enough(high) {
        return None;
    }
    let ends = (low.ln(), high.ln());
    let halvings = ((ends.1 - ends.0) / precision).log2().ceil().max(0.0) as u32;
    Some(turning_point(ends, halvings, |x| !enough(x.exp())).1.exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_on_their_sides() {
        let (low, high) = turning_point((0.0, 8.0), 60, |x| x * x < 2.0);
        assert!(low * low < 2.0 && high * high >= 2.0 && high - low < 1e-15);
        assert_eq!(turning_point((0.0, 1.0), 3, |_| true), (0.875, 1.0));
    }

    #[test]
    fn the_first_that_is_enough() {
        let found = first_on_log_scale((1e-3, 1e3), 1e-6, |x| x >= 7.0);
        assert!(found.is_some_and(|x| (7.0..7.000_01).contains(&x)));
        assert_eq!(first_on_log_scale((1.0, 2.0), 1e-3, |x| x > 5.0), None);
        assert_eq!(first_on_log_scale((1.0, 2.0), 1e-3, |_| true), Some(1.0));
    }
}
