//! Estimates below each other, each with its interval: a forest plot.

use crate::axis::Axis;
use crate::frame::Frame;
use crate::svg::{Anchor, Stroke, Svg};
use crate::{COLOURS, DARK, GREY};

const WIDTH: f64 = 680.0;
/// Where the axis begins and ends; names stand at its left, numbers at its right.
const ACROSS: (f64, f64) = (190.0, 490.0);
const LINE: f64 = 22.0;
/// Between the marks of one name.
const STEP: f64 = 14.0;
/// More letters of a name than these would reach the axis.
const LETTERS: usize = 26;

/// A forest plot.
pub struct Forest<'a> {
    /// What a screen reader calls it.
    pub title: &'a str,
    /// What the axis shows.
    pub label: &'a str,
    /// The names of what is compared; one or none has no legend.
    pub series: Vec<&'a str>,
    /// From top to bottom.
    pub rows: Vec<Row>,
}

/// A name with its estimates.
pub struct Row {
    /// The name.
    pub name: String,
    /// One for each series; nothing where it has none.
    pub marks: Vec<Option<Mark>>,
}

/// An estimate with its interval.
pub struct Mark {
    /// The estimate.
    pub estimate: f64,
    /// Its interval, if there is one.
    pub interval: Option<[f64; 2]>,
    /// Whether the interval says anything. Those that say nothing, or are missing where others have one, do not stretch the axis.
    pub is_determined: bool,
    /// Both in words.
    pub text: String,
}

impl Forest<'_> {
    /// Draws it.
    pub fn svg(&self) -> String {
        let marks = || self.rows.iter().flat_map(|row| row.marks.iter().flatten());
        // What has no interval stands at the end if it lies beyond those that have one.
        let some_have = marks().any(|mark| mark.is_determined && mark.interval.is_some());
        let told = marks().filter(|mark| mark.is_determined && (mark.interval.is_some() || !some_have));
        let ends = told.flat_map(|mark| mark.interval.into_iter().flatten().chain([mark.estimate]));
        let values: Vec<f64> = ends.chain([0.0]).collect();
        let x = Axis::linear(&values, ACROSS, true);
        let is_compared = self.series.len() > 1;
        let legend = if is_compared { 20.0 * self.series.len() as f64 } else { 0.0 };
        let top = 12.0 + legend;
        let heights = self.rows.iter().map(|row| LINE + STEP * row.marks.len().saturating_sub(1) as f64);
        let frame = Frame { left: ACROSS.0, right: ACROSS.1, top, bottom: top + heights.sum::<f64>() + 6.0 };

        let mut svg = Svg::default();
        frame.x_ticks(&mut svg, &x);
        svg.segment((x.place(0.0), frame.top), (x.place(0.0), frame.bottom), Stroke::plain(DARK, 1.2));
        let middle = 0.5 * (frame.left + frame.right);
        svg.text((middle, frame.bottom + 42.0), Anchor::Middle, self.label);
        if is_compared {
            for (kind, name) in self.series.iter().enumerate() {
                let at = (ACROSS.0 + 8.0, 14.0 + 20.0 * kind as f64);
                svg.marker(kind, at, colour(kind));
                svg.text((at.0 + 12.0, at.1 + 4.5), Anchor::Start, name);
            }
        }
        let mut at = top + 0.5 * LINE;
        for row in &self.rows {
            let last = at + STEP * row.marks.len().saturating_sub(1) as f64;
            svg.titled_text(
                (ACROSS.0 - 10.0, 0.5 * (at + last) + 4.5),
                Anchor::End,
                &shortened(&row.name),
                &row.name,
            );
            for (kind, mark) in row.marks.iter().enumerate() {
                if let Some(mark) = mark {
                    mark.draw(&mut svg, &x, at + STEP * kind as f64, kind);
                }
            }
            at = last + LINE;
        }
        svg.finish(WIDTH, frame.bottom + 54.0, self.title)
    }
}

impl Mark {
    fn draw(&self, svg: &mut Svg, x: &Axis, at: f64, kind: usize) {
        let colour = if self.is_determined { colour(kind) } else { GREY };
        if let Some([low, high]) = self.interval {
            let dashes = if self.is_determined { "" } else { "3 3" };
            svg.segment((x.place(low), at), (x.place(high), at), Stroke { colour, width: 2.0, dashes });
        }
        if self.is_determined {
            svg.marker(kind, (x.place(self.estimate), at), colour);
        }
        svg.coloured_text(
            (ACROSS.1 + 12.0, at + 4.5),
            Anchor::Start,
            if self.is_determined { "" } else { GREY },
            &self.text,
        );
    }
}

fn colour(kind: usize) -> &'static str {
    COLOURS[kind % COLOURS.len()]
}

/// As much of a name as fits.
fn shortened(name: &str) -> String {
    if name.chars().count() <= LETTERS {
        return name.to_owned();
    }
    name.chars().take(LETTERS - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(estimate: f64, half: f64, is_determined: bool) -> Option<Mark> {
        let interval = Some([estimate - half, estimate + half]);
        Some(Mark { estimate, interval, is_determined, text: format!("{estimate}") })
    }

    fn drawn(rows: Vec<Row>, series: Vec<&str>) -> String {
        Forest { title: "a < b", label: "x & y", series, rows }.svg()
    }

    #[test]
    fn what_is_not_determined_does_not_stretch_the_axis() {
        let row = |name: &str, mark| Row { name: name.into(), marks: vec![mark] };
        let alone = drawn(vec![row("age", mark(1.0, 0.5, true))], vec!["fit"]);
        let beside =
            drawn(vec![row("age", mark(1.0, 0.5, true)), row("sex", mark(300.0, 1e6, false))], vec!["fit"]);
        let mark_of_age = |svg: &str| svg.lines().find(|l| l.starts_with("<circle")).map(str::to_owned);
        assert_eq!(mark_of_age(&alone), mark_of_age(&beside));
        assert!(beside.contains("stroke-dasharray") && !alone.contains("stroke-dasharray"));
        assert!(!beside.contains("NaN") && !beside.contains("inf"));
    }

    #[test]
    fn names_are_escaped_and_shortened_with_the_whole_name_at_hand() {
        let name = "<script>alert('a very long name of a level')</script>";
        let svg =
            drawn(vec![Row { name: name.into(), marks: vec![mark(0.0, 1.0, true), None] }], vec!["<a>", "b"]);
        assert!(!svg.contains("<script") && svg.contains("&lt;script&gt;alert") && svg.contains('…'));
        assert!(svg.contains("a &lt; b") && svg.contains("&lt;a&gt;") && svg.contains("</title>"));
        // Nothing to draw is no failure.
        assert!(drawn(Vec::new(), Vec::new()).ends_with("</svg>\n"));
    }
}
