//! The elements of a drawing. Coordinates are rounded to a tenth of a pixel here and nowhere else.

use crate::{COLOURS, DARK, GREY, GRID};
use std::fmt::Write;

/// Text that may stand in markup.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The drawing for a page that has light and dark colours: its colours are the page's custom properties `--paper`, `--ink`, `--grid`,
/// `--grey` and `--mark-0` to `--mark-6`. Files keep the colours themselves, because not every viewer knows properties.
pub fn themed(svg: &str) -> String {
    let fixed = [("#fff", "paper"), (DARK, "ink"), (GRID, "grid"), (GREY, "grey")];
    let mut themed = svg.to_owned();
    // Quotes in texts are escaped, so nothing but an attribute is replaced.
    for (colour, name) in fixed {
        themed = themed.replace(&format!("\"{colour}\""), &format!("\"var(--{name})\""));
    }
    for (kind, colour) in COLOURS.iter().enumerate() {
        themed = themed.replace(&format!("\"{colour}\""), &format!("\"var(--mark-{kind})\""));
    }
    themed
}

/// Which end of a text stands at its place.
#[derive(Clone, Copy)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// How a line is drawn.
#[derive(Clone, Copy)]
pub(crate) struct Stroke<'a> {
    pub colour: &'a str,
    pub width: f64,
    /// Lengths of dashes and gaps; empty for a whole line.
    pub dashes: &'a str,
}

impl<'a> Stroke<'a> {
    pub(crate) fn plain(colour: &'a str, width: f64) -> Self {
        Self { colour, width, dashes: "" }
    }
}

/// A drawing under way, or a part of one.
#[derive(Default)]
pub(crate) struct Svg {
    body: String,
}

impl Svg {
    /// The title above the drawing.
    pub(crate) fn heading(&mut self, left: f64, text: &str) {
        self.line(&format!("<text x=\"{left}\" y=\"28\" font-size=\"16\">{}</text>", escaped(text)));
    }

    pub(crate) fn text(&mut self, (x, y): (f64, f64), anchor: Anchor, text: &str) {
        self.coloured_text((x, y), anchor, "", text);
    }

    /// A text in a colour other than the drawing's; an empty one is the drawing's.
    pub(crate) fn coloured_text(&mut self, (x, y): (f64, f64), anchor: Anchor, colour: &str, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let fill = if colour.is_empty() { String::new() } else { format!(" fill=\"{colour}\"") };
        self.line(&format!("<text x=\"{x:.1}\" y=\"{y:.1}\"{anchor}{fill}>{}</text>", escaped(text)));
    }

    /// A text with what is said of it where a reader points at it.
    pub(crate) fn titled_text(&mut self, (x, y): (f64, f64), anchor: Anchor, text: &str, title: &str) {
        self.line("<g>");
        self.line(&format!("<title>{}</title>", escaped(title)));
        self.text((x, y), anchor, text);
        self.line("</g>");
    }

    pub(crate) fn bold_text(&mut self, (x, y): (f64, f64), text: &str) {
        self.line(&format!("<text x=\"{x:.1}\" y=\"{y:.1}\" font-weight=\"bold\">{}</text>", escaped(text)));
    }

    /// A text for crowded places, its middle at the place.
    pub(crate) fn small_text(&mut self, (x, y): (f64, f64), text: &str) {
        self.line(&format!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\" font-size=\"12\">{}</text>",
            escaped(text)
        ));
    }

    /// A text that reads upwards, its middle at the place.
    pub(crate) fn upward_text(&mut self, (x, y): (f64, f64), text: &str) {
        self.line(&format!(
            "<text transform=\"translate({x:.1} {y:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            escaped(text)
        ));
    }

    /// A line through places; `breaks` says before which of them it begins again.
    pub(crate) fn broken_line(
        &mut self,
        places: &[(f64, f64)],
        stroke: Stroke<'_>,
        breaks: impl Fn(usize) -> bool,
    ) {
        let mut path = String::new();
        for (i, (x, y)) in places.iter().enumerate() {
            // Writing to a string does not fail.
            let _ = write!(path, "{}{x:.1} {y:.1}", if i == 0 || breaks(i) { 'M' } else { 'L' });
        }
        self.path(&path, stroke);
    }

    /// A line through places.
    pub(crate) fn polyline(&mut self, places: &[(f64, f64)], stroke: Stroke<'_>) {
        self.broken_line(places, stroke, |_| false);
    }

    /// A line from one place to another.
    pub(crate) fn segment(&mut self, from: (f64, f64), to: (f64, f64), stroke: Stroke<'_>) {
        self.polyline(&[from, to], stroke);
    }

    /// A line upwards with a short one across each end.
    pub(crate) fn error_bar(&mut self, x: f64, low: f64, high: f64, stroke: Stroke<'_>) {
        let left = x - 3.5;
        let path = format!("M{x:.1} {low:.1}V{high:.1}M{left:.1} {low:.1}h7M{left:.1} {high:.1}h7");
        self.path(&path, stroke);
    }

    fn path(&mut self, path: &str, Stroke { colour, width, dashes }: Stroke<'_>) {
        let dashes =
            if dashes.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dashes}\"") };
        self.line(&format!(
            "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\"{dashes} stroke-linejoin=\"round\"/>"
        ));
    }

    /// A dot, with what is said of it where a reader points at it.
    pub(crate) fn dot(&mut self, (x, y): (f64, f64), radius: f64, colour: &str, title: &str) {
        let title =
            if title.is_empty() { String::new() } else { format!("<title>{}</title>", escaped(title)) };
        self.line(&format!(
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" fill=\"{colour}\" stroke=\"#fff\">{title}</circle>"
        ));
    }

    /// A filled rectangle from one corner to the opposite one, with what is said of it.
    pub(crate) fn bar(
        &mut self,
        (left, top): (f64, f64),
        (right, bottom): (f64, f64),
        colour: &str,
        title: &str,
    ) {
        self.line(&format!(
            "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{colour}\"><title>{}</title></rect>",
            right - left,
            bottom - top,
            escaped(title)
        ));
    }

    /// Marks that differ in shape as well as in colour.
    pub(crate) fn marker(&mut self, kind: usize, (x, y): (f64, f64), colour: &str) {
        let path = match kind % 5 {
            0 => {
                return self
                    .line(&format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"{colour}\"/>"));
            }
            1 => format!("M{:.1} {:.1}h7.4v7.4h-7.4z", x - 3.7, y - 3.7),
            2 => format!("M{x:.1} {:.1}l4.6 8h-9.2z", y - 5.0),
            3 => format!("M{x:.1} {:.1}l5 5l-5 5l-5 -5z", y - 5.0),
            _ => format!("M{x:.1} {:.1}l4.6 -8h-9.2z", y + 5.0),
        };
        self.line(&format!("<path d=\"{path}\" fill=\"{colour}\"/>"));
    }

    /// Another part, moved.
    pub(crate) fn part(&mut self, (x, y): (f64, f64), part: &Svg) {
        self.line(&format!("<g transform=\"translate({x:.1} {y:.1})\">\n{}</g>", part.body));
    }

    /// The whole drawing; `name` is what a screen reader calls it.
    pub(crate) fn finish(self, width: f64, height: f64, name: &str) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" height=\"{height:.0}\" \
             role=\"img\" aria-label=\"{}\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\" fill=\"{DARK}\">\n\
             <rect width=\"{width:.0}\" height=\"{height:.0}\" fill=\"#fff\"/>\n{}</svg>\n",
            escaped(name),
            self.body
        )
    }

    fn line(&mut self, element: &str) {
        self.body.push_str(element);
        self.body.push('\n');
    }
}
