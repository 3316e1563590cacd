//! A figure's results as an SVG drawing: means with error bars of one standard error, the legend beside the frame.

mod axis;

use crate::figure::{Kind, Scale};
use crate::results::{FigureResult, PointResult};
use axis::Axis;
use std::fmt::Write;

const HEIGHT: f64 = 456.0;
const LEFT: f64 = 78.0;
const RIGHT: f64 = 620.0;
const TOP: f64 = 52.0;
const BOTTOM: f64 = 366.0;

/// Okabe and Ito's colours, without the yellow that fades on white: they stay apart for colour-blind readers.
const COLOURS: [&str; 7] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000"];

/// A line of the drawing.
struct Series {
    name: String,
    colour: &'static str,
    dashes: &'static str,
    marker: Option<usize>,
    /// x, y, standard error.
    points: Vec<(f64, f64, f64)>,
    /// Places at which the line begins anew: the first point of a group of names.
    starts: Vec<f64>,
}

/// The groups of a named axis: points in a row that share the first part of their names, as (name, first, last).
fn groups(figure: &FigureResult) -> Vec<(&str, usize, usize)> {
    let mut groups: Vec<(&str, usize, usize)> = Vec::new();
    for (index, point) in figure.points.iter().enumerate() {
        let first = point.name.split(", ").next().unwrap_or_default();
        match groups.last_mut() {
            Some(group) if group.0 == first => group.2 = index,
            _ => groups.push((first, index, index)),
        }
    }
    groups.retain(|group| group.2 > group.1);
    groups
}

/// Draws a figure.
pub fn svg(figure: &FigureResult) -> String {
    let series = if figure.x_scale == Scale::Steps { paths(figure) } else { lines(figure) };
    let longest = series.iter().map(|s| s.name.chars().count()).max().unwrap_or(0);
    let width = RIGHT + 66.0 + 6.7 * longest as f64;
    let all = || series.iter().flat_map(|s| &s.points);
    let xs: Vec<f64> = all().map(|p| p.0).collect();
    let ys: Vec<f64> = all().flat_map(|p| [p.1 - p.2, p.1, p.1 + p.2]).collect();
    let x = match figure.x_scale {
        Scale::Named => Axis::named(figure.points.len(), (LEFT, RIGHT)),
        Scale::Logarithmic => Axis::logarithmic(&xs, (LEFT, RIGHT)),
        Scale::Linear | Scale::Steps => Axis::linear(&xs, (LEFT, RIGHT), figure.x_scale == Scale::Linear),
    };
    let y = match figure.y_scale {
        Scale::Logarithmic => Axis::logarithmic(&ys, (BOTTOM, TOP)),
        _ => Axis::linear(&ys, (BOTTOM, TOP), true),
    };

    let mut out = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0} {HEIGHT}" width="{width:.0}" height="{HEIGHT}" font-family="Helvetica, Arial, sans-serif" font-size="13" fill="#222">
<rect width="{width:.0}" height="{HEIGHT}" fill="#fff"/>
<text x="{LEFT}" y="30" font-size="15">{}</text>
"##,
        escaped(&figure.title)
    );
    frame(&mut out, figure, &x, &y);
    let mut legend = TOP + 8.0;
    for series in &series {
        draw(&mut out, series, &x, &y);
        legend_entry(&mut out, series, legend);
        legend += 22.0;
    }
    out.push_str("</svg>\n");
    out
}

/// One series a line of the figure, over its points.
fn lines(figure: &FigureResult) -> Vec<Series> {
    let mut names: Vec<(&str, Kind)> = Vec::new();
    for line in figure.points.iter().flat_map(|p| &p.lines) {
        if !names.iter().any(|(name, _)| *name == line.line) {
            names.push((&line.line, line.kind));
        }
    }
    let place = |index: usize, point: &PointResult| match figure.x_scale {
        Scale::Named => index as f64,
        _ => point.x,
    };
    let starts: Vec<f64> = if figure.x_scale == Scale::Named {
        groups(figure).into_iter().flat_map(|(_, first, last)| [first as f64, last as f64 + 1.0]).collect()
    } else {
        Vec::new()
    };
    let mut series = Vec::new();
    let mut others = 0_usize;
    for (name, kind) in names {
        // The same kind of line looks the same in every figure.
        let look = match kind {
            Kind::Literal => 0,
            Kind::Certified => 1,
            Kind::CertifiedAtTrue => 2,
            Kind::NonPrivate => 6,
            Kind::Comparator => {
                // A fourth takes the look of the certified line at the true epsilon, which such figures do not have.
                others += 1;
                [3, 4, 5, 2][(others - 1) % 4]
            }
        };
        let points = figure.points.iter().enumerate().filter_map(|(index, point)| {
            let line = point.line(name)?;
            Some((place(index, point), line.mean?, line.standard_error.unwrap_or(0.0)))
        });
        series.push(Series {
            name: name.to_owned(),
            colour: COLOURS[look],
            dashes: if kind == Kind::NonPrivate { "6 4" } else { "" },
            marker: Some(look),
            points: points.collect(),
            starts: starts.clone(),
        });
    }
    series
}

/// One series a point with steps; level lines for what has none.
fn paths(figure: &FigureResult) -> Vec<Series> {
    let mut series = Vec::new();
    let steps = figure.points.iter().flat_map(|p| &p.lines).map(|l| l.path.len()).max().unwrap_or(1);
    for (i, point) in figure.points.iter().enumerate() {
        let colour = COLOURS[i % COLOURS.len()];
        for line in &point.lines {
            let (dashes, points): (_, Vec<_>) = match line.kind {
                Kind::Literal => {
                    let path = line.path.iter().enumerate();
                    ("", path.filter_map(|(t, p)| Some((t as f64, p.0?, p.1.unwrap_or(0.0)))).collect())
                }
                Kind::Certified | Kind::NonPrivate => {
                    let Some(mean) = line.mean else { continue };
                    let error = line.standard_error.unwrap_or(0.0);
                    let ends = vec![(0.0, mean, 0.0), ((steps - 1) as f64, mean, error)];
                    (if line.kind == Kind::Certified { "7 4" } else { "1.5 4" }, ends)
                }
                _ => continue,
            };
            let name = format!("{}: {}", point.name, line.line);
            series.push(Series { name, colour, dashes, marker: None, points, starts: Vec::new() });
        }
    }
    series
}

/// Title, axes, ticks and their numbers.
fn frame(out: &mut String, figure: &FigureResult, x: &Axis, y: &Axis) {
    for (at, label) in y.ticks() {
        let _ = writeln!(
            out,
            r##"<path d="M{LEFT} {at:.1}H{RIGHT}" stroke="#e4e4e4"/><text x="{:.1}" y="{:.1}" text-anchor="end">{label}</text>"##,
            LEFT - 8.0,
            at + 4.5
        );
    }
    if figure.x_scale == Scale::Named {
        let groups = groups(figure);
        // Below the labels, which have a line for each part of the name beside the group's own.
        let lines = figure.points.iter().map(|p| p.name.split(", ").count()).max().unwrap_or(1);
        let below = BOTTOM + 12.0 + 14.0 * lines.saturating_sub(1).max(1) as f64;
        for (name, first, last) in &groups {
            let (left, right) = (x.place(*first as f64), x.place(*last as f64));
            let _ = writeln!(
                out,
                r##"<path d="M{:.1} {:.1}H{:.1}" stroke="#888"/><text x="{:.1}" y="{:.1}" text-anchor="middle" font-size="12">{}</text>"##,
                left - 10.0,
                below,
                right + 10.0,
                0.5 * (left + right),
                below + 14.0,
                escaped(name)
            );
        }
        for (index, point) in figure.points.iter().enumerate() {
            // One line of the label for each part of the name; a group's own part stands below the group.
            let grouped = groups.iter().any(|group| (group.1..=group.2).contains(&index));
            for (row, part) in point.name.split(", ").skip(usize::from(grouped)).enumerate() {
                let _ = writeln!(
                    out,
                    r#"<text x="{:.1}" y="{:.1}" text-anchor="middle" font-size="12">{}</text>"#,
                    x.place(index as f64),
                    BOTTOM + 18.0 + 14.0 * row as f64,
                    escaped(part)
                );
            }
        }
    } else {
        for (at, label) in x.ticks() {
            let _ = writeln!(
                out,
                r##"<path d="M{at:.1} {TOP}V{BOTTOM}" stroke="#efefef"/><text x="{at:.1}" y="{:.1}" text-anchor="middle">{label}</text>"##,
                BOTTOM + 20.0
            );
        }
    }
    let _ = writeln!(
        out,
        r##"<path d="M{LEFT} {TOP}V{BOTTOM}H{RIGHT}" fill="none" stroke="#222" stroke-width="1.2"/>
<text x="{:.1}" y="{:.1}" text-anchor="middle">{}</text>
<text transform="translate(13 {:.1}) rotate(-90)" text-anchor="middle">{}</text>"##,
        0.5 * (LEFT + RIGHT),
        HEIGHT - 14.0,
        escaped(&figure.x),
        0.5 * (TOP + BOTTOM),
        escaped(&figure.y)
    );
}

/// A line with its error bars and markers.
fn draw(out: &mut String, series: &Series, x: &Axis, y: &Axis) {
    let placed: Vec<(f64, f64, f64, f64)> = series
        .points
        .iter()
        .map(|&(at, value, error)| {
            (x.place(at), y.place(value), y.place(value - error), y.place(value + error))
        })
        .collect();
    let mut path = String::new();
    for (i, p) in placed.iter().enumerate() {
        // A new group begins anew, also where its first point is missing.
        let anew = i == 0
            || series
                .starts
                .iter()
                .any(|start| (series.points[i - 1].0..series.points[i].0).contains(&(start - 0.5)));
        let _ = write!(path, "{}{:.1} {:.1}", if anew { 'M' } else { 'L' }, p.0, p.1);
    }
    let colour = series.colour;
    // Places of a table have nothing between them, unless they are the values of one setting.
    let width = if x.is_named() && series.starts.is_empty() { 0.0 } else { 2.0 };
    let _ = writeln!(
        out,
        r#"<path d="{path}" fill="none" stroke="{colour}" stroke-width="{width}" stroke-dasharray="{}" stroke-linejoin="round"/>"#,
        series.dashes
    );
    for p in &placed {
        if (p.2 - p.3).abs() > 1.5 {
            let _ = writeln!(
                out,
                r#"<path d="M{0:.1} {1:.1}V{2:.1}M{3:.1} {1:.1}h7M{3:.1} {2:.1}h7" stroke="{colour}" stroke-width="1.2"/>"#,
                p.0,
                p.2,
                p.3,
                p.0 - 3.5
            );
        }
        if let Some(marker) = series.marker {
            out.push_str(&shape(marker, p.0, p.1, colour));
        }
    }
}

/// A line's name beside a piece of it.
fn legend_entry(out: &mut String, series: &Series, at: f64) {
    let left = RIGHT + 18.0;
    let _ = writeln!(
        out,
        r#"<path d="M{left:.1} {at:.1}h30" stroke="{}" stroke-width="2" stroke-dasharray="{}"/><text x="{:.1}" y="{:.1}">{}</text>"#,
        series.colour,
        series.dashes,
        left + 38.0,
        at + 4.5,
        escaped(&series.name)
    );
    if let Some(marker) = series.marker {
        out.push_str(&shape(marker, left + 15.0, at, series.colour));
    }
}

/// Markers differ in shape as well as in colour.
fn shape(marker: usize, x: f64, y: f64, colour: &str) -> String {
    let path = match marker % 5 {
        0 => return format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"{colour}\"/>\n"),
        1 => format!("M{:.1} {:.1}h7.4v7.4h-7.4z", x - 3.7, y - 3.7),
        2 => format!("M{x:.1} {:.1}l4.6 8h-9.2z", y - 5.0),
        3 => format!("M{x:.1} {:.1}l5 5l-5 5l-5 -5z", y - 5.0),
        _ => format!("M{x:.1} {:.1}l4.6 -8h-9.2z", y + 5.0),
    };
    format!("<path d=\"{path}\" fill=\"{colour}\"/>\n")
}

/// Text inside XML.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
