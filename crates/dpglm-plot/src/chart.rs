//! Lines with error bars, the legend beside the frame.

use crate::axis::Axis;
use crate::frame::Frame;
use crate::svg::{Stroke, Svg};

const HEIGHT: f64 = 456.0;
const FRAME: Frame = Frame { left: 78.0, right: 620.0, top: 52.0, bottom: 366.0 };

/// A chart.
pub struct Chart<'a> {
    /// What it shows.
    pub title: &'a str,
    /// What the axes show.
    pub labels: [&'a str; 2],
    /// The axis from left to right.
    pub x: Across<'a>,
    /// Whether the axis from bottom to top is logarithmic.
    pub is_y_logarithmic: bool,
    /// The lines.
    pub series: Vec<Series>,
}

/// The axis from left to right.
pub enum Across<'a> {
    /// One place per name, the first at 0. Names in a row that share what stands before their first comma are a group.
    Named(Vec<&'a str>),
    /// Numbers, with room at both ends.
    Linear,
    /// Numbers from end to end.
    Steps,
    /// Positive numbers.
    Logarithmic,
}

/// A line.
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Its colour.
    pub colour: &'static str,
    /// Lengths of dashes and gaps; empty for a whole line.
    pub dashes: &'static str,
    /// The shape of its marks.
    pub marker: Option<usize>,
    /// x, y, and the half of the error bar.
    pub points: Vec<(f64, f64, f64)>,
}

impl Chart<'_> {
    /// Draws it.
    pub fn svg(&self) -> String {
        let all = || self.series.iter().flat_map(|s| &s.points);
        let xs: Vec<f64> = all().map(|p| p.0).collect();
        let ys: Vec<f64> = all().flat_map(|p| [p.1 - p.2, p.1, p.1 + p.2]).collect();
        let x = match &self.x {
            Across::Named(names) => Axis::named(names.len(), FRAME.across()),
            Across::Logarithmic => Axis::logarithmic(&xs, FRAME.across()),
            Across::Linear => Axis::linear(&xs, FRAME.across(), true),
            Across::Steps => Axis::linear(&xs, FRAME.across(), false),
        };
        let y = match self.is_y_logarithmic {
            true => Axis::logarithmic(&ys, FRAME.up()),
            false => Axis::linear(&ys, FRAME.up(), true),
        };
        let mut svg = Svg::default();
        svg.heading(FRAME.left, self.title);
        FRAME.y_ticks(&mut svg, &y);
        let starts: Vec<f64> = match &self.x {
            Across::Named(names) => {
                name_places(&mut svg, names, &x);
                groups(names).into_iter().flat_map(|g| [g.1 as f64, g.2 as f64 + 1.0]).collect()
            }
            _ => {
                FRAME.x_ticks(&mut svg, &x);
                Vec::new()
            }
        };
        FRAME.axes(&mut svg, self.labels[0], self.labels[1], HEIGHT - 14.0 - FRAME.bottom);
        let mut legend = FRAME.top + 8.0;
        for series in &self.series {
            // Places of a table have nothing between them, unless they are the values of one setting.
            let width = if x.is_named() && starts.is_empty() { 0.0 } else { 2.0 };
            let stroke = Stroke { colour: series.colour, width, dashes: series.dashes };
            series.draw(&mut svg, &x, &y, stroke, &starts);
            let stroke = Stroke { width: 2.0, ..stroke };
            legend = FRAME.legend(&mut svg, legend, stroke, series.marker, [series.name.as_str()]);
        }
        let longest = self.series.iter().map(|s| s.name.chars().count()).max().unwrap_or(0);
        svg.finish(FRAME.right + 66.0 + 6.7 * longest as f64, HEIGHT, self.title)
    }
}

impl Series {
    /// The line with its error bars and marks. It begins again at each of `starts`.
    fn draw(&self, svg: &mut Svg, x: &Axis, y: &Axis, stroke: Stroke<'_>, starts: &[f64]) {
        let places: Vec<(f64, f64)> = self.points.iter().map(|p| (x.place(p.0), y.place(p.1))).collect();
        // A group begins a new line also where its first point is missing.
        let begins = |i: usize| {
            let between = self.points[i - 1].0..self.points[i].0;
            starts.iter().any(|start| between.contains(&(start - 0.5)))
        };
        svg.broken_line(&places, stroke, begins);
        let bar = Stroke::plain(self.colour, 1.2);
        for (&(at, height), &(_, value, error)) in places.iter().zip(&self.points) {
            let (low, high) = (y.place(value - error), y.place(value + error));
            if (low - high).abs() > 1.5 {
                svg.error_bar(at, low, high, bar);
            }
            if let Some(marker) = self.marker {
                svg.marker(marker, (at, height), self.colour);
            }
        }
    }
}

/// The groups of a named axis: names in a row that share their first part, as (part, first, last).
fn groups<'n>(names: &[&'n str]) -> Vec<(&'n str, usize, usize)> {
    let mut groups: Vec<(&str, usize, usize)> = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let first = name.split(", ").next().unwrap_or_default();
        match groups.last_mut() {
            Some(group) if group.0 == first => group.2 = index,
            _ => groups.push((first, index, index)),
        }
    }
    groups.retain(|group| group.2 > group.1);
    groups
}

/// Writes the names below their places, a line for each part, and the groups below them.
fn name_places(svg: &mut Svg, names: &[&str], x: &Axis) {
    let groups = groups(names);
    // Below the labels, which have a line for each part of the name beside the group's own.
    let lines = names.iter().map(|name| name.split(", ").count()).max().unwrap_or(1);
    let below = FRAME.bottom + 12.0 + 14.0 * lines.saturating_sub(1).max(1) as f64;
    for (name, first, last) in &groups {
        let (left, right) = (x.place(*first as f64), x.place(*last as f64));
        svg.segment((left - 10.0, below), (right + 10.0, below), Stroke::plain("#888", 1.0));
        svg.small_text((0.5 * (left + right), below + 14.0), name);
    }
    for (index, name) in names.iter().enumerate() {
        let grouped = groups.iter().any(|group| (group.1..=group.2).contains(&index));
        for (row, part) in name.split(", ").skip(usize::from(grouped)).enumerate() {
            let place = (x.place(index as f64), FRAME.bottom + 18.0 + 14.0 * row as f64);
            svg.small_text(place, part);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_share_their_first_part_are_a_group() {
        assert_eq!(groups(&["a, 1", "a, 2", "b, 1", "c"]), [("a", 0, 1)]);
    }

    #[test]
    fn markup_of_names_is_escaped_and_no_number_is_missing() {
        let series = |name: &str| Series {
            name: name.into(),
            colour: crate::COLOURS[0],
            dashes: "",
            marker: Some(2),
            points: vec![(0.0, 1.0, 0.5), (1.0, 2.0, 0.0)],
        };
        for x in [Across::Named(vec!["a, 1", "a, 2"]), Across::Linear, Across::Steps, Across::Logarithmic] {
            let chart = Chart {
                title: "a < b",
                labels: ["x & y", "z"],
                x,
                is_y_logarithmic: false,
                series: vec![series("\"n\"")],
            };
            let svg = chart.svg();
            assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
            assert!(svg.contains("a &lt; b") && svg.contains("x &amp; y") && svg.contains("&quot;n&quot;"));
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}
