//! Histograms and bars with error bars as SVG, and the whole description as one HTML page that needs nothing else.

use super::document::{DescribeDocument, Number};
use std::fmt::Write;

const WIDTH: f64 = 420.0;
const PLOT: f64 = 150.0;
const LEFT: f64 = 12.0;
const TITLE: f64 = 22.0;
const LINE: f64 = 20.0;
/// Where the bars of levels begin.
const LABELS: f64 = 150.0;
/// Colours that stay apart for colour-blind readers (Okabe and Ito).
const BLUE: &str = "#0072B2";
const ORANGE: &str = "#D55E00";

/// Text that may stand in markup.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// One panel: its markup and its height.
fn histogram(title: &str, edges: &[f64], shares: &[Number]) -> (String, f64) {
    let largest = shares.iter().map(|s| s.interval[1]).fold(1e-300, f64::max);
    let (width, base) = ((WIDTH - 2.0 * LEFT) / shares.len() as f64, TITLE + PLOT);
    let y = |share: f64| base - PLOT * share / largest;
    let mut svg = format!("<text x=\"{LEFT}\" y=\"15\" font-weight=\"bold\">{}</text>\n", escaped(title));
    for (k, share) in shares.iter().enumerate() {
        let x = LEFT + width * k as f64;
        let middle = x + width / 2.0;
        // Writing to a string does not fail.
        let _ = writeln!(
            svg,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{BLUE}\"><title>{} to {}: {}</title></rect>\
             <path d=\"M{middle:.1} {:.1}V{:.1}\" stroke=\"{ORANGE}\" stroke-width=\"1.4\"/>",
            x + 0.5,
            y(share.estimate),
            (width - 1.0).max(0.5),
            base - y(share.estimate),
            edges[k],
            edges[k + 1],
            share.text(),
            y(share.interval[0]),
            y(share.interval[1]),
        );
    }
    let (first, last) = (edges.first().copied().unwrap_or(0.0), edges.last().copied().unwrap_or(1.0));
    let _ = writeln!(
        svg,
        "<path d=\"M{LEFT} {base}H{:.1}\" stroke=\"#222\"/><text x=\"{LEFT}\" y=\"{:.1}\">{first}</text>\
         <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{last}</text>",
        WIDTH - LEFT,
        base + 15.0,
        WIDTH - LEFT,
        base + 15.0
    );
    (svg, base + 28.0)
}

fn bars(title: &str, levels: &[(&str, &Number)]) -> (String, f64) {
    let largest = levels.iter().map(|(_, s)| s.interval[1]).fold(1e-300, f64::max);
    let x = |share: f64| LABELS + (WIDTH - LABELS - LEFT) * share / largest;
    let mut svg = format!("<text x=\"{LEFT}\" y=\"15\" font-weight=\"bold\">{}</text>\n", escaped(title));
    for (k, (level, share)) in levels.iter().enumerate() {
        let y = TITLE + LINE * k as f64;
        let middle = y + 0.5 * LINE - 2.0;
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\
             <rect x=\"{LABELS}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{BLUE}\"><title>{}</title></rect>\
             <path d=\"M{:.1} {middle:.1}H{:.1}\" stroke=\"{ORANGE}\" stroke-width=\"1.6\"/>",
            LABELS - 6.0,
            middle + 4.5,
            escaped(&level.chars().take(22).collect::<String>()),
            x(share.estimate) - LABELS,
            LINE - 4.0,
            share.text(),
            x(share.interval[0]),
            x(share.interval[1]),
        );
    }
    (svg, TITLE + LINE * levels.len() as f64 + 10.0)
}

impl DescribeDocument {
    fn panels(&self) -> Vec<(String, f64)> {
        let mut panels = Vec::new();
        for (group, name) in self.groups.iter().zip(self.names()) {
            for (column, document) in &group.columns {
                let title = if self.by.is_some() { format!("{column}, {name}") } else { column.clone() };
                if let Some(found) = &document.histogram {
                    panels.push(histogram(&title, &found.edges, &found.shares));
                }
                if let Some(levels) = &document.levels {
                    let levels: Vec<(&str, &Number)> =
                        levels.iter().map(|(level, share)| (level.as_str(), share)).collect();
                    panels.push(bars(&title, &levels));
                }
            }
        }
        panels
    }

    /// All histograms and bars, two beside each other.
    pub fn svg(&self) -> String {
        let mut heights = [10.0, 10.0];
        let mut body = String::new();
        for (panel, height) in self.panels() {
            let side = usize::from(heights[1] < heights[0]);
            let _ = writeln!(
                body,
                "<g transform=\"translate({:.1} {:.1})\">\n{panel}</g>",
                WIDTH * side as f64,
                heights[side]
            );
            heights[side] += height + 14.0;
        }
        let (width, height) = (2.0 * WIDTH, heights[0].max(heights[1]) + 24.0);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height:.0}\" width=\"{width}\" height=\"{height:.0}\" \
             font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" fill=\"#222\">\n\
             <rect width=\"{width}\" height=\"{height:.0}\" fill=\"#fff\"/>\n{body}\
             <text x=\"{LEFT}\" y=\"{:.0}\" fill=\"#555\">Shares of {} rows; lines are {} intervals, for sampling and privacy noise</text>\n</svg>\n",
            height - 8.0,
            self.n,
            self.percent()
        )
    }

    /// One page: the tables, the drawings and the promise.
    pub fn html(&self) -> String {
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>Description of {} rows</title>\n\
             <style>body{{font-family:Helvetica,Arial,sans-serif;margin:2em;color:#222}}pre{{font-size:13px}}</style>\n</head>\n<body>\n\
             {}</body>\n</html>\n",
            self.n,
            self.fragment()
        )
    }

    /// What stands in the page's body.
    pub fn fragment(&self) -> String {
        let drawing = if self.panels().is_empty() { String::new() } else { self.svg() };
        format!(
            "<pre>{}</pre>\n{drawing}<p>{}</p>\n",
            escaped(&self.table()),
            escaped(&self.certificate.to_string())
        )
    }
}
