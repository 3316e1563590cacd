//! The expected error of a planned study.

use crate::BLUE;
use crate::ORANGE;
use crate::axis::Axis;
use crate::frame::Frame;
use crate::svg::{Anchor, Stroke, Svg};
use dpglm::privacy::decimal::rounded_up;
use dpglm::tuning::planner::Point;

/// Lines for several numbers of rows, darker for more.
const BLUES: [&str; 5] = ["#9ecae1", "#6baed6", BLUE, "#08519c", "#08306b"];
/// Those numbers of rows, as multiples of the planned one.
const FACTORS: [f64; 5] = [0.25, 0.5, 1.0, 2.0, 4.0];

/// Draws the error against epsilon, both logarithmic, for a quarter to four times the planned rows, with the simulated points.
pub fn planned_error(law: impl Fn(f64, f64) -> f64, rows: usize, epsilon: f64, points: &[Point]) -> String {
    let (left, right) = (epsilon / 8.0, epsilon * 8.0);
    let grid: Vec<f64> = (0..=48).map(|i| left * (right / left).powf(f64::from(i) / 48.0)).collect();
    let lines: Vec<Vec<f64>> =
        FACTORS.iter().map(|f| grid.iter().map(|&e| law(f * rows as f64, e)).collect()).collect();
    let shown: Vec<&Point> = points.iter().filter(|p| (left..=right).contains(&p.epsilon)).collect();
    let logs = || lines.iter().flatten().chain(shown.iter().map(|p| &p.error)).map(|e| e.max(1e-300).log10());
    let (lowest, highest) = (logs().fold(f64::INFINITY, f64::min), logs().fold(f64::NEG_INFINITY, f64::max));
    let (lowest, highest) = (lowest.floor(), highest.ceil().max(lowest.floor() + 1.0));

    let frame = Frame::SMALL;
    let x = Axis::logarithmic(&[left, right], frame.across());
    let y = Axis::decades((lowest, highest), frame.up());
    let mut svg = Svg::default();
    svg.heading(frame.left, "Expected squared error, by epsilon and rows");
    frame.x_ticks(&mut svg, &x);
    frame.y_ticks(&mut svg, &y);
    for ((line, colour), factor) in lines.iter().zip(BLUES).zip(FACTORS) {
        let places: Vec<(f64, f64)> =
            grid.iter().zip(line).map(|(&e, &error)| (x.place(e), y.place(error))).collect();
        svg.polyline(&places, Stroke::plain(colour, 2.0));
        let end = places.last().map_or(frame.bottom, |place| place.1);
        let name = format!("n = {}", (factor * rows as f64).round());
        svg.coloured_text((frame.right - 4.0, end - 5.0), Anchor::End, colour, &name);
    }
    for point in shown {
        let (rows, epsilon) = (point.rows, rounded_up(point.epsilon));
        let said = format!("n = {rows}, epsilon = {epsilon}: {:.4}", point.error);
        svg.dot((x.place(point.epsilon), y.place(point.error)), 4.0, ORANGE, &said);
    }
    frame.axes(&mut svg, "epsilon (lines: fitted law; dots: simulated)", "squared error", 44.0);
    svg.finish(640.0, 420.0, "Expected squared error against epsilon, for several numbers of rows")
}
