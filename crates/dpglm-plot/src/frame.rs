//! The frame of the axes inside a drawing.

use crate::axis::Axis;
use crate::svg::{Anchor, Stroke, Svg};
use crate::{DARK, GRID};

#[derive(Clone, Copy)]
pub(crate) struct Frame {
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
}

/// Lines that lead the eye.
const THIN: Stroke<'_> = Stroke { colour: GRID, width: 1.0, dashes: "" };

impl Frame {
    /// The frame of the smaller drawings, 640 x 420.
    pub(crate) const SMALL: Frame = Frame { left: 76.0, right: 616.0, top: 48.0, bottom: 360.0 };

    /// Where an axis from left to right ends.
    pub(crate) fn across(&self) -> (f64, f64) {
        (self.left, self.right)
    }

    /// Where an axis from bottom to top ends.
    pub(crate) fn up(&self) -> (f64, f64) {
        (self.bottom, self.top)
    }

    /// Lines at the ticks, with their numbers below the frame.
    pub(crate) fn x_ticks(&self, svg: &mut Svg, axis: &Axis) {
        for (at, label) in axis.ticks() {
            svg.segment((at, self.top), (at, self.bottom), THIN);
            svg.text((at, self.bottom + 20.0), Anchor::Middle, label);
        }
    }

    /// Lines at the ticks, with their numbers at the left of the frame.
    pub(crate) fn y_ticks(&self, svg: &mut Svg, axis: &Axis) {
        for (at, label) in axis.ticks() {
            svg.segment((self.left, at), (self.right, at), THIN);
            svg.text((self.left - 8.0, at + 4.5), Anchor::End, label);
        }
    }

    /// The two axes and what they show; `below` is how far under the frame the first name stands.
    pub(crate) fn axes(&self, svg: &mut Svg, x: &str, y: &str, below: f64) {
        let corners = [(self.left, self.top), (self.left, self.bottom), (self.right, self.bottom)];
        svg.polyline(&corners, Stroke::plain(DARK, 1.2));
        svg.text((0.5 * (self.left + self.right), self.bottom + below), Anchor::Middle, x);
        svg.upward_text((17.0, 0.5 * (self.top + self.bottom)), y);
    }

    /// A name at the right of the frame, in one or more lines, beside a piece of what it names. Returns the height after it.
    pub(crate) fn legend<'t>(
        &self,
        svg: &mut Svg,
        at: f64,
        stroke: Stroke<'_>,
        marker: Option<usize>,
        lines: impl IntoIterator<Item = &'t str>,
    ) -> f64 {
        let left = self.right + 18.0;
        svg.segment((left, at), (left + 30.0, at), stroke);
        if let Some(marker) = marker {
            svg.marker(marker, (left + 15.0, at), stroke.colour);
        }
        let mut next = at;
        for line in lines {
            svg.text((left + 38.0, next + 4.5), Anchor::Start, line);
            next += 18.0;
        }
        next + 4.0
    }
}
