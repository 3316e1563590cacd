//! Small SVG drawings: the privacy curve, the error of a planned study, and how well attacks do.

pub mod roc;

use crate::render::{plain, rounded_up};
use dpglm::tuning::planner::Point;
use std::fmt::Write;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 420.0;
/// The frame of the axes inside the drawing.
const LEFT: f64 = 76.0;
const RIGHT: f64 = 616.0;
const TOP: f64 = 48.0;
const BOTTOM: f64 = 360.0;

/// Two colours that stay apart for colour-blind readers (Okabe and Ito): the curve, and the point that was asked for.
const BLUE: &str = "#0072B2";
const ORANGE: &str = "#D55E00";

/// Draws (epsilon, delta) pairs, delta on a logarithmic axis, and marks the pair that was asked for.
pub fn privacy_curve(curve: &[(f64, f64)], asked: (f64, f64)) -> String {
    let mut points: Vec<(f64, f64)> = curve.to_vec();
    let marked = asked.1 > 0.0 && asked.1 < 1.0;
    if marked {
        points.push(asked);
    }
    points.sort_by(|a, b| b.1.total_cmp(&a.1));

    let widest = points.iter().map(|p| p.0).fold(0.0, f64::max);
    let tick = round_step(if widest > 0.0 { widest } else { 1.0 } / 8.0);
    let ticks = (widest / tick).ceil().max(1.0);
    let lowest = points.iter().map(|p| p.1.log10()).fold(-1.0, f64::min).floor();
    let x = |epsilon: f64| LEFT + (RIGHT - LEFT) * epsilon / (tick * ticks);
    let y = |delta: f64| TOP + (BOTTOM - TOP) * delta.log10() / lowest;

    let mut svg = String::new();
    let mut line = |text: String| {
        svg.push_str(&text);
        svg.push('\n');
    };
    line(format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" font-family="Helvetica, Arial, sans-serif" font-size="13" fill="#222">"##
    ));
    line(format!(r##"<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>"##));
    line(format!(r#"<text x="{LEFT}" y="28" font-size="16">Privacy curve</text>"#));

    for i in 0..=ticks as u32 {
        let epsilon = tick * f64::from(i);
        let at = x(epsilon);
        line(format!(r##"<path d="M{at:.1} {TOP}V{BOTTOM}" stroke="#e4e4e4"/>"##));
        line(format!(
            r#"<text x="{at:.1}" y="{:.1}" text-anchor="middle">{}</text>"#,
            BOTTOM + 20.0,
            short(epsilon)
        ));
    }
    let decades = -lowest as i32;
    let stride = (decades + 11) / 12;
    for decade in (0..=decades).step_by(stride as usize) {
        let at = y(10f64.powi(-decade));
        line(format!(r##"<path d="M{LEFT} {at:.1}H{RIGHT}" stroke="#e4e4e4"/>"##));
        line(format!(
            r#"<text x="{:.1}" y="{:.1}" text-anchor="end">{}</text>"#,
            LEFT - 8.0,
            at + 4.5,
            power_of_ten(decade)
        ));
    }
    line(format!(
        r##"<path d="M{LEFT} {TOP}V{BOTTOM}H{RIGHT}" fill="none" stroke="#222" stroke-width="1.2"/>"##
    ));
    line(format!(
        r#"<text x="{:.1}" y="{:.1}" text-anchor="middle">epsilon (privacy loss)</text>"#,
        0.5 * (LEFT + RIGHT),
        BOTTOM + 44.0
    ));
    line(format!(
        r#"<text transform="translate(22 {:.1}) rotate(-90)" text-anchor="middle">delta (probability of failure)</text>"#,
        0.5 * (TOP + BOTTOM)
    ));

    let path = points.iter().fold(String::new(), |mut path, &(epsilon, delta)| {
        let command = if path.is_empty() { 'M' } else { 'L' };
        let _ = write!(path, "{command}{:.1} {:.1}", x(epsilon), y(delta));
        path
    });
    line(format!(
        r#"<path d="{path}" fill="none" stroke="{BLUE}" stroke-width="2.2" stroke-linejoin="round"/>"#
    ));
    if marked {
        let (at, height) = (x(asked.0), y(asked.1));
        // A falling curve leaves room above and to the right of the point, or, near the edge, below and to its left.
        let (anchor, label_x, label_y) = if at < LEFT + 0.6 * (RIGHT - LEFT) {
            ("start", at + 12.0, (height - 8.0).max(TOP + 14.0))
        } else {
            ("end", at - 12.0, (height + 18.0).min(BOTTOM - 8.0))
        };
        line(format!(r##"<circle cx="{at:.1}" cy="{height:.1}" r="5" fill="{ORANGE}" stroke="#fff"/>"##));
        line(format!(
            r#"<text x="{label_x:.1}" y="{label_y:.1}" text-anchor="{anchor}" fill="{ORANGE}">({}, {})</text>"#,
            rounded_up(asked.0),
            rounded_up(asked.1)
        ));
    }
    line("</svg>".into());
    svg
}

/// The next of 1, 2, 5, 10, 20, ... times a power of ten.
fn round_step(least: f64) -> f64 {
    let power = 10f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|step| *step >= least).unwrap_or(10.0 * power)
}

/// `10^-decade` in one run of text: renderers disagree on how to raise part of a label.
fn power_of_ten(decade: i32) -> String {
    const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    match decade {
        0 => "1".into(),
        _ => "10⁻".chars().chain(decade.to_string().bytes().map(|b| RAISED[usize::from(b - b'0')])).collect(),
    }
}

/// A tick's number without the digits that multiplication left behind.
fn short(value: f64) -> String {
    plain(format!("{value:.6e}").parse().unwrap_or(value))
}

/// Lines for several numbers of rows, darkest for the planned one.
const BLUES: [&str; 5] = ["#9ecae1", "#6baed6", BLUE, "#08519c", "#08306b"];

/// Draws the error against epsilon, both logarithmic, for a quarter to four times the planned rows, with the simulated points.
pub fn errors(law: impl Fn(f64, f64) -> f64, rows: usize, epsilon: f64, points: &[Point]) -> String {
    let factors = [0.25, 0.5, 1.0, 2.0, 4.0];
    let (left, right) = ((epsilon / 8.0).ln(), (epsilon * 8.0).ln());
    let grid: Vec<f64> = (0..=48).map(|i| (left + (right - left) * f64::from(i) / 48.0).exp()).collect();
    let lines: Vec<Vec<f64>> =
        factors.iter().map(|f| grid.iter().map(|&e| law(f * rows as f64, e).max(1e-300)).collect()).collect();
    let logs =
        || lines.iter().flatten().chain(points.iter().map(|p| &p.error)).map(|e| e.max(1e-300).log10());
    let (lowest, highest) = (logs().fold(f64::INFINITY, f64::min), logs().fold(f64::NEG_INFINITY, f64::max));
    let (lowest, highest) = (lowest.floor(), highest.ceil().max(lowest.floor() + 1.0));
    let x = |e: f64| LEFT + (RIGHT - LEFT) * (e.ln() - left) / (right - left);
    let y = |error: f64| BOTTOM - (BOTTOM - TOP) * (error.max(1e-300).log10() - lowest) / (highest - lowest);

    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\" fill=\"#222\">\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#fff\"/>\n<text x=\"{LEFT}\" y=\"28\" font-size=\"16\">Expected squared error, by epsilon and rows</text>\n"
    );
    for i in 0..=6 {
        let e = (left + (right - left) * f64::from(i) / 6.0).exp();
        let _ = writeln!(
            svg,
            "<path d=\"M{0:.1} {TOP}V{BOTTOM}\" stroke=\"#e4e4e4\"/><text x=\"{0:.1}\" y=\"{1:.1}\" text-anchor=\"middle\">{2}</text>",
            x(e),
            BOTTOM + 20.0,
            plain(format!("{e:.2e}").parse().unwrap_or(e))
        );
    }
    let stride = ((highest - lowest) / 8.0).ceil().max(1.0) as usize;
    for decade in (lowest as i32..=highest as i32).step_by(stride) {
        let at = y(10f64.powi(decade));
        let label = if decade <= 0 { power_of_ten(-decade) } else { plain(10f64.powi(decade)) };
        let _ = writeln!(
            svg,
            "<path d=\"M{LEFT} {at:.1}H{RIGHT}\" stroke=\"#e4e4e4\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
            LEFT - 8.0,
            at + 4.5
        );
    }
    for ((line, colour), factor) in lines.iter().zip(BLUES).zip(factors) {
        let path = grid.iter().zip(line).fold(String::new(), |mut path, (&e, &error)| {
            let command = if path.is_empty() { 'M' } else { 'L' };
            let _ = write!(path, "{command}{:.1} {:.1}", x(e), y(error));
            path
        });
        let _ = writeln!(
            svg,
            "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"{colour}\">n = {}</text>",
            RIGHT - 4.0,
            y(line[line.len() - 1]) - 5.0,
            (factor * rows as f64).round()
        );
    }
    for point in points.iter().filter(|p| p.epsilon.ln() >= left && p.epsilon.ln() <= right) {
        let _ = writeln!(
            svg,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"4\" fill=\"{ORANGE}\" stroke=\"#fff\"><title>n = {}, epsilon = {}: {:.4}</title></circle>",
            x(point.epsilon),
            y(point.error),
            point.rows,
            rounded_up(point.epsilon),
            point.error
        );
    }
    let _ = writeln!(
        svg,
        "<path d=\"M{LEFT} {TOP}V{BOTTOM}H{RIGHT}\" fill=\"none\" stroke=\"#222\" stroke-width=\"1.2\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">epsilon (lines: fitted law; dots: simulated)</text>\n</svg>",
        0.5 * (LEFT + RIGHT),
        BOTTOM + 44.0
    );
    svg
}
