//! How well attacks tell members from others.

use crate::axis::Axis;
use crate::frame::Frame;
use crate::svg::{Stroke, Svg};
use crate::trade_off::most_found;
use crate::{BLUE, DARK, ORANGE};
use dpglm::audit::Findings;

/// Draws the curves of the attacks, what guessing reaches, and the most that a promise (epsilon, delta) allows.
pub fn roc(findings: &Findings, claim: Option<(f64, f64)>) -> String {
    // The frame is square, so that guessing is its diagonal.
    let frame = Frame { right: Frame::SMALL.left + Frame::SMALL.bottom - Frame::SMALL.top, ..Frame::SMALL };
    let (x, y) = (Axis::shares(frame.across()), Axis::shares(frame.up()));
    let mut svg = Svg::default();
    svg.heading(frame.left, "Who was in the table? (for the curator only)");
    frame.x_ticks(&mut svg, &x);
    frame.y_ticks(&mut svg, &y);
    frame.axes(&mut svg, "others taken for members", "members found", 44.0);

    // Names stand at the right of the frame, each beside a piece of its line.
    let mut height = frame.top + 12.0;
    let mut draw = |points: &[(f64, f64)], stroke: Stroke<'_>, lines: [&str; 2]| {
        let places: Vec<(f64, f64)> = points.iter().map(|p| (x.place(p.0), y.place(p.1))).collect();
        svg.polyline(&places, stroke);
        height = frame.legend(&mut svg, height, stroke, None, lines.into_iter().filter(|l| !l.is_empty()));
        height += 4.0;
    };
    let dashed = |colour| Stroke { colour, width: 1.2, dashes: "5 4" };
    draw(&[(0.0, 0.0), (1.0, 1.0)], dashed("#888"), ["guessing", ""]);
    if let Some(claim) = claim {
        let allowed: Vec<(f64, f64)> =
            (0..=200).map(|i| f64::from(i) / 200.0).map(|rate| (rate, most_found(claim, rate))).collect();
        draw(&allowed, dashed(DARK), ["the most that", "the claim allows"]);
    }
    let found = [("canary rows", &findings.canaries, ORANGE), ("held-out rows", &findings.rows, BLUE)];
    for (name, roc, colour) in found {
        let Some(roc) = roc else { continue };
        draw(roc.points(), Stroke::plain(colour, 2.2), [name, &format!("area {:.3}", roc.area())]);
    }
    svg.finish(frame.right + 236.0, 420.0, "How well attacks tell members of the table from others")
}
