//! Histograms and bars with error bars, two panels beside each other.

use crate::svg::{Anchor, Stroke, Svg};
use crate::{BLUE, DARK, GREY, ORANGE};

const WIDTH: f64 = 420.0;
const PLOT: f64 = 150.0;
const LEFT: f64 = 12.0;
const TITLE: f64 = 22.0;
const LINE: f64 = 20.0;
/// Where the bars of levels begin.
const LABELS: f64 = 150.0;

/// A share with its interval.
#[derive(Debug, Clone)]
pub struct Share {
    /// The share.
    pub estimate: f64,
    /// Its interval.
    pub interval: [f64; 2],
    /// Both in words.
    pub text: String,
}

/// One panel and its height.
pub struct Panel {
    svg: Svg,
    height: f64,
}

impl Panel {
    /// Shares of bins: one edge more than there are shares.
    pub fn histogram(title: &str, edges: &[f64], shares: &[Share]) -> Self {
        let largest = largest(shares.iter());
        let (width, base) = ((WIDTH - 2.0 * LEFT) / shares.len() as f64, TITLE + PLOT);
        let y = |share: f64| base - PLOT * share / largest;
        let mut svg = Svg::default();
        svg.bold_text((LEFT, 15.0), title);
        for ((k, share), edges) in shares.iter().enumerate().zip(edges.windows(2)) {
            let x = LEFT + width * k as f64;
            let right = x + 0.5 + (width - 1.0).max(0.5);
            let said = format!("{} to {}: {}", edges[0], edges[1], share.text);
            svg.bar((x + 0.5, y(share.estimate)), (right, base), BLUE, &said);
            let middle = x + width / 2.0;
            let [low, high] = share.interval.map(|end| (middle, y(end)));
            svg.segment(low, high, Stroke::plain(ORANGE, 1.4));
        }
        svg.segment((LEFT, base), (WIDTH - LEFT, base), Stroke::plain(DARK, 1.0));
        let (first, last) = (edges.first().copied().unwrap_or(0.0), edges.last().copied().unwrap_or(1.0));
        svg.text((LEFT, base + 15.0), Anchor::Start, &first.to_string());
        svg.text((WIDTH - LEFT, base + 15.0), Anchor::End, &last.to_string());
        Self { svg, height: base + 28.0 }
    }

    /// Shares of named levels.
    pub fn levels(title: &str, levels: &[(&str, Share)]) -> Self {
        let largest = largest(levels.iter().map(|(_, share)| share));
        let x = |share: f64| LABELS + (WIDTH - LABELS - LEFT) * share / largest;
        let mut svg = Svg::default();
        svg.bold_text((LEFT, 15.0), title);
        for (k, (level, share)) in levels.iter().enumerate() {
            let y = TITLE + LINE * k as f64;
            let middle = y + 0.5 * LINE - 2.0;
            let name: String = level.chars().take(22).collect();
            svg.text((LABELS - 6.0, middle + 4.5), Anchor::End, &name);
            svg.bar((LABELS, y), (x(share.estimate), y + LINE - 4.0), BLUE, &share.text);
            let [low, high] = share.interval.map(|end| (x(end), middle));
            svg.segment(low, high, Stroke::plain(ORANGE, 1.6));
        }
        Self { svg, height: TITLE + LINE * levels.len() as f64 + 10.0 }
    }
}

/// What the end of the panel stands for.
fn largest<'s>(shares: impl Iterator<Item = &'s Share>) -> f64 {
    shares.map(|s| s.interval[1]).fold(1e-300, f64::max)
}

/// All panels, two beside each other, with a note below them.
pub fn panels(name: &str, panels: &[Panel], note: &str) -> String {
    let mut heights = [10.0, 10.0];
    let mut svg = Svg::default();
    for panel in panels {
        let side = usize::from(heights[1] < heights[0]);
        svg.part((WIDTH * side as f64, heights[side]), &panel.svg);
        heights[side] += panel.height + 14.0;
    }
    let height = heights[0].max(heights[1]) + 24.0;
    svg.coloured_text((LEFT, height - 8.0), Anchor::Start, GREY, note);
    svg.finish(2.0 * WIDTH, height, name)
}
