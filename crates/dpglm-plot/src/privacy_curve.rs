//! The privacy curve: every (epsilon, delta) that holds.

use crate::axis::Axis;
use crate::frame::Frame;
use crate::svg::{Anchor, Stroke, Svg};
use crate::{BLUE, ORANGE};
use dpglm::privacy::decimal::rounded_up;

/// Draws (epsilon, delta) pairs, delta on a logarithmic axis, and marks the pair that was asked for.
pub fn privacy_curve(curve: &[(f64, f64)], asked: (f64, f64)) -> String {
    let mut points: Vec<(f64, f64)> = curve.to_vec();
    let marked = asked.1 > 0.0 && asked.1 < 1.0;
    if marked {
        points.push(asked);
    }
    points.sort_by(|a, b| b.1.total_cmp(&a.1));

    let frame = Frame::SMALL;
    let x = Axis::from_zero(points.iter().map(|p| p.0).fold(0.0, f64::max), frame.across());
    let lowest = points.iter().map(|p| p.1.log10()).fold(-1.0, f64::min).floor();
    let y = Axis::decades((lowest, 0.0), frame.up());

    let mut svg = Svg::default();
    svg.heading(frame.left, "Privacy curve");
    frame.x_ticks(&mut svg, &x);
    frame.y_ticks(&mut svg, &y);
    frame.axes(&mut svg, "epsilon (privacy loss)", "delta (probability of failure)", 44.0);
    let places: Vec<(f64, f64)> = points.iter().map(|p| (x.place(p.0), y.place(p.1))).collect();
    svg.polyline(&places, Stroke::plain(BLUE, 2.2));
    if marked {
        let (at, height) = (x.place(asked.0), y.place(asked.1));
        // A falling curve leaves room above and to the right of the point, or, near the edge, below and to its left.
        let (anchor, label) = if at < frame.left + 0.6 * (frame.right - frame.left) {
            (Anchor::Start, (at + 12.0, (height - 8.0).max(frame.top + 14.0)))
        } else {
            (Anchor::End, (at - 12.0, (height + 18.0).min(frame.bottom - 8.0)))
        };
        let pair = format!("({}, {})", rounded_up(asked.0), rounded_up(asked.1));
        svg.dot((at, height), 5.0, ORANGE, "");
        svg.coloured_text(label, anchor, ORANGE, &pair);
    }
    svg.finish(640.0, 420.0, "Privacy curve: delta against epsilon")
}
