//! How well an attack tells members from others, as a drawing.

use super::{BLUE, BOTTOM, HEIGHT, LEFT, ORANGE, TOP};
use std::fmt::Write;

/// The frame is square, so that guessing is its diagonal.
const RIGHT: f64 = LEFT + (BOTTOM - TOP);
const WIDTH: f64 = RIGHT + 236.0;

/// One curve: what it is, its points (false, true positive rate), its area.
pub struct Curve<'a> {
    pub name: &'a str,
    pub points: &'a [(f64, f64)],
    pub area: f64,
}

/// Draws the curves, what guessing reaches, and the most that a promise (epsilon, delta) allows.
pub fn roc(curves: &[Curve<'_>], claim: Option<(f64, f64)>) -> String {
    let x = |rate: f64| LEFT + (RIGHT - LEFT) * rate;
    let y = |rate: f64| BOTTOM - (BOTTOM - TOP) * rate;
    let mut svg = String::new();
    let mut line = |text: String| {
        svg.push_str(&text);
        svg.push('\n');
    };
    line(format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" font-family="Helvetica, Arial, sans-serif" font-size="13" fill="#222">"##
    ));
    line(format!(r##"<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>"##));
    line(format!(
        r#"<text x="{LEFT}" y="28" font-size="16">Who was in the table? (for the curator only)</text>"#
    ));
    for tick in 0..=5 {
        let rate = f64::from(tick) / 5.0;
        line(format!(
            r##"<path d="M{0:.1} {TOP}V{BOTTOM}M{LEFT} {1:.1}H{RIGHT}" stroke="#e4e4e4"/>"##,
            x(rate),
            y(rate)
        ));
        line(format!(
            r#"<text x="{:.1}" y="{:.1}" text-anchor="middle">{rate}</text>"#,
            x(rate),
            BOTTOM + 20.0
        ));
        line(format!(
            r#"<text x="{:.1}" y="{:.1}" text-anchor="end">{rate}</text>"#,
            LEFT - 8.0,
            y(rate) + 4.5
        ));
    }
    line(format!(
        r##"<path d="M{LEFT} {TOP}V{BOTTOM}H{RIGHT}" fill="none" stroke="#222" stroke-width="1.2"/>"##
    ));
    line(format!(
        r#"<text x="{:.1}" y="{:.1}" text-anchor="middle">others taken for members</text>"#,
        0.5 * (LEFT + RIGHT),
        BOTTOM + 44.0
    ));
    line(format!(
        r#"<text transform="translate(22 {:.1}) rotate(-90)" text-anchor="middle">members found</text>"#,
        0.5 * (TOP + BOTTOM)
    ));

    let path = |points: &mut dyn Iterator<Item = (f64, f64)>| {
        points.fold(String::new(), |mut path, (at, height)| {
            let command = if path.is_empty() { 'M' } else { 'L' };
            let _ = write!(path, "{command}{:.1} {:.1}", x(at), y(height));
            path
        })
    };
    // Names stand at the right of the frame, each beside a piece of its line.
    let mut legend = TOP + 12.0;
    let mut draw = |drawn: String, colour: &str, dashes: &str, width: f64, lines: &[String]| {
        let style = format!(r#"fill="none" stroke="{colour}" stroke-width="{width}"{dashes}"#);
        line(format!(r#"<path d="{drawn}" {style} stroke-linejoin="round"/>"#));
        line(format!(r#"<path d="M{:.1} {legend:.1}h24" {style}/>"#, RIGHT + 18.0));
        for text in lines {
            line(format!(r#"<text x="{:.1}" y="{:.1}">{text}</text>"#, RIGHT + 50.0, legend + 4.5));
            legend += 18.0;
        }
        legend += 8.0;
    };
    let dashed = r#" stroke-dasharray="5 4""#;
    draw(path(&mut [(0.0, 0.0), (1.0, 1.0)].into_iter()), "#888", dashed, 1.2, &["guessing".into()]);
    if let Some((epsilon, delta)) = claim {
        // By the promise and by the same promise for the complements.
        let most = |rate: f64| {
            (epsilon.exp() * rate + delta).min(1.0 - (1.0 - delta - rate).max(0.0) / epsilon.exp())
        };
        let allowed =
            path(&mut (0..=200).map(|i| f64::from(i) / 200.0).map(|rate| (rate, most(rate).min(1.0))));
        draw(allowed, "#222", dashed, 1.2, &["the most that".into(), "the claim allows".into()]);
    }
    for (curve, colour) in curves.iter().zip([ORANGE, BLUE]) {
        let lines = [curve.name.to_owned(), format!("area {:.3}", curve.area)];
        draw(path(&mut curve.points.iter().copied()), colour, "", 2.2, &lines);
    }
    line("</svg>".into());
    svg
}
