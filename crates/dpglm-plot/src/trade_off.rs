//! What a promise leaves an attacker: the most members found at each rate of false alarms.

use crate::axis::Axis;
use crate::frame::Frame;
use crate::svg::{Stroke, Svg};
use crate::{BLUE, GREY};

/// The most that (epsilon, delta) allows to be found at a rate of false alarms: by the promise, and by the same promise for the complements.
pub(crate) fn most_found((epsilon, delta): (f64, f64), alarms: f64) -> f64 {
    (epsilon.exp() * alarms + delta).min(1.0 - (1.0 - delta - alarms).max(0.0) / epsilon.exp()).min(1.0)
}

/// Draws the bound that all points of a privacy curve give together, beside what guessing reaches.
pub fn trade_off(points: &[(f64, f64)]) -> String {
    let frame = Frame { right: Frame::SMALL.left + Frame::SMALL.bottom - Frame::SMALL.top, ..Frame::SMALL };
    let (x, y) = (Axis::shares(frame.across()), Axis::shares(frame.up()));
    let mut svg = Svg::default();
    svg.heading(frame.left, "The most that any attacker can find out");
    frame.x_ticks(&mut svg, &x);
    frame.y_ticks(&mut svg, &y);
    frame.axes(&mut svg, "others taken for members", "members found", 44.0);
    let most = |alarms: f64| points.iter().map(|point| most_found(*point, alarms)).fold(1.0, f64::min);
    let places: Vec<(f64, f64)> = (0..=400)
        .map(|i| f64::from(i) / 400.0)
        .map(|alarms| (x.place(alarms), y.place(most(alarms))))
        .collect();
    let bound = Stroke::plain(BLUE, 2.2);
    svg.polyline(&places, bound);
    let guessing = Stroke { colour: GREY, width: 1.4, dashes: "5 4" };
    svg.segment((x.place(0.0), y.place(0.0)), (x.place(1.0), y.place(1.0)), guessing);
    let next = frame.legend(&mut svg, frame.top + 12.0, bound, None, ["the most that", "the promise allows"]);
    frame.legend(&mut svg, next + 4.0, guessing, None, ["guessing"]);
    svg.finish(frame.right + 236.0, 420.0, "The most members that any attacker finds, against false alarms")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_promise_of_nothing_lost_allows_guessing_and_a_large_one_everything() {
        for alarms in [0.0, 0.3, 1.0] {
            assert!((most_found((0.0, 0.0), alarms) - alarms).abs() < 1e-15);
            assert_eq!(most_found((1.0, 1.0), alarms), 1.0);
        }
        // log 3: a quarter of false alarms goes with at most three quarters found.
        assert!((most_found((3f64.ln(), 0.0), 0.25) - 0.75).abs() < 1e-15);
        let svg = trade_off(&[(1.0, 1e-6), (0.4, 0.1)]);
        assert!(svg.contains("guessing") && !svg.contains("NaN"));
    }
}
