//! A figure's results as an SVG drawing: means with error bars of one standard error, the legend beside the frame.

use crate::figure::{Kind, Scale};
use crate::results::{FigureResult, PointResult};
use dpglm_plot::COLOURS;
use dpglm_plot::chart::{Across, Chart, Series};

/// Draws a figure.
pub fn svg(figure: &FigureResult) -> String {
    let x = match figure.x_scale {
        Scale::Named => Across::Named(figure.points.iter().map(|point| point.name.as_str()).collect()),
        Scale::Logarithmic => Across::Logarithmic,
        Scale::Linear => Across::Linear,
        Scale::Steps => Across::Steps,
    };
    let series = if figure.x_scale == Scale::Steps { paths(figure) } else { lines(figure) };
    let is_y_logarithmic = figure.y_scale == Scale::Logarithmic;
    Chart { title: &figure.title, labels: [&figure.x, &figure.y], x, is_y_logarithmic, series }.svg()
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
            series.push(Series { name, colour, dashes, marker: None, points });
        }
    }
    series
}
