//! Cai et al. 2021 Figure 4(b): house values in California.
//!
//! Five covariates and the median value of a block group; m of the 20,640 block groups are drawn, and estimates are compared with least
//! squares on all of them, in units of standard deviations of each covariate and of 100,000 dollars.

use super::{EPSILON, better_than, delta};
use crate::Result;
use crate::data;
use crate::draw::{Draw, distance, norm};
use crate::figure::{
    AT_TRUE, Axes, CERTIFIED, Figure, LITERAL, Line, Measure, NON_PRIVATE, Point, Promise, Promises,
    Repetitions, Scale, USUAL, comparator,
};
use crate::literal::{LiteralLinear, Truncate};
use crate::task::Task;
use dpglm::central::{Glm, LinearStatistics, reference};
use dpglm::comparators::JohnsonLindenstrauss;
use dpglm::data::{Dataset, Design};
use dpglm::families::Family;
use dpglm::release::Estimator;
use dpglm_io::{ReadOptions, Schema, read_table};
use std::sync::OnceLock;

const OTHER: &str = "random projection (Sheffet)";
const STATISTICS: &str = "certified, sufficient statistics";
const LINES: [Line; 6] = [USUAL[0], USUAL[1], comparator(STATISTICS), USUAL[2], comparator(OTHER), USUAL[3]];
const COVARIATES: usize = 5;

/// Public bounds: the census's coding and the intended size of a block group.
const SCHEMA: &str = r#"
target = "median_house_value"
[columns]
longitude          = { kind = "ignore" }
latitude           = { kind = "ignore" }
housing_median_age = { kind = "real", bounds = [1, 52] }
total_rooms        = { kind = "real", bounds = [0, 10000] }
total_bedrooms     = { kind = "ignore" }
population         = { kind = "real", bounds = [0, 5000] }
households         = { kind = "real", bounds = [0, 2000] }
median_income      = { kind = "real", bounds = [0, 15] }
median_house_value = { kind = "real", bounds = [0, 500001] }
"#;

/// The figure.
pub(crate) fn figure() -> Figure {
    Figure {
        key: "c21-4b",
        title: "Cai et al. 2021 Figure 4(b): house values in California",
        claim: "The error of the private regression falls as the sample grows from 2,000 to 20,000 and lies below the random projection's.",
        choices: &[
            "literal: covariates standardised by all rows' means and deviations, and c_x taken as the longest row, both read off the rows without privacy, as the paper does for the former",
            "literal: T = 10, step 1/3 (correlated covariates), R by private quantiles, c_0 = C = 2",
            "certified: covariates scaled by public bounds (the census's coding, the intended size of block groups), with an intercept; coefficients compared after conversion to the standardised units",
            "values are measured in 100,000 dollars and centred at 2.5 for the literal run",
            "random projection: on covariates scaled by public bounds and a column of ones, at the stated epsilon",
            "all private methods see covariates cut to the public bounds; the target is least squares on those",
        ],
        data: "California housing, the original (20,640 block groups)",
        axes: Axes {
            x: "block groups m",
            y: "l2 distance from least squares on all",
            x_scale: Scale::Logarithmic,
            y_scale: Scale::Logarithmic,
            measure: Measure::Error,
        },
        lines: &LINES,
        repetitions: Repetitions { quick: 10, full: 100 },
        points,
        headline: "m = 20000",
        promises,
        run,
        verdict: |result| {
            better_than(
                result,
                OTHER,
                " The literal run reads its scaling and its bound on row lengths off the rows, so no epsilon holds.",
            )
        },
        memory: |_| 0.1,
    }
}

fn points() -> Vec<Point> {
    let point = |m: usize| {
        Point::new(
            format!("m = {m}"),
            m as f64,
            &[("n", m as f64), ("epsilon", EPSILON), ("delta", delta(m))],
        )
    };
    [2_000, 5_000, 10_000, 20_000].map(point).into()
}

fn promises(point: &Point) -> Result<Promises> {
    let (epsilon, delta) = (point.get("epsilon"), point.get("delta"));
    let because = "standardisation and the bound on rows are read off the rows without privacy";
    let certified = || Promise::certified(epsilon, delta);
    Ok(vec![
        (LITERAL, Promise::broken(epsilon, delta, because)),
        (CERTIFIED, certified()),
        (STATISTICS, certified()),
        (OTHER, certified()),
    ])
}

/// The whole table.
struct Houses {
    /// Covariates scaled to [-1, 1] by public bounds, row after row.
    entries: Vec<f64>,
    /// Values in 100,000 dollars.
    values: Vec<f64>,
    /// Means and deviations of the scaled covariates over all rows.
    moments: [(f64, f64); COVARIATES],
    /// Least squares on all rows, per standard deviation.
    slopes: Vec<f64>,
}

fn houses() -> Result<&'static Houses> {
    static READ: OnceLock<std::result::Result<Houses, String>> = OnceLock::new();
    READ.get_or_init(|| load().map_err(|e| e.to_string())).as_ref().map_err(|e| e.clone().into())
}

fn load() -> Result<Houses> {
    let path = data::file("california_housing/cal_housing.csv")?;
    let table = read_table(&path, &Schema::parse(SCHEMA)?, &ReadOptions::default())?;
    let entries = data::entries(&table.design);
    let values: Vec<f64> = table.response.iter().map(|y| y / 1e5).collect();
    let n = values.len() as f64;
    let moments = std::array::from_fn(|j| {
        let column = || entries.iter().skip(j).step_by(COVARIATES);
        let mean = column().sum::<f64>() / n;
        (mean, (column().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt())
    });
    let mut houses = Houses { entries, values, moments, slopes: Vec::new() };
    let all: Vec<usize> = (0..houses.values.len()).collect();
    let fit = reference::glm(&Family::gaussian(), &houses.sample(&all, true)?, 0.0, true)?;
    houses.slopes = houses.standardised(&fit.coefficients[1..]);
    Ok(houses)
}

impl Houses {
    fn row(&self, i: usize) -> &[f64] {
        &self.entries[i * COVARIATES..(i + 1) * COVARIATES]
    }

    /// Some rows with publicly scaled covariates, after a column of ones if asked for.
    fn sample(&self, rows: &[usize], intercept: bool) -> Result<Dataset> {
        let ones = usize::from(intercept);
        let mut x = Vec::with_capacity(rows.len() * (COVARIATES + ones));
        for &i in rows {
            x.extend(std::iter::repeat_n(1.0, ones));
            x.extend_from_slice(self.row(i));
        }
        let design = Design::from_f64(rows.len(), COVARIATES + ones, x)?;
        Ok(Dataset::new(design, rows.iter().map(|&i| self.values[i]).collect())?)
    }

    /// Slopes per standard deviation of a covariate.
    fn standardised(&self, slopes: &[f64]) -> Vec<f64> {
        slopes.iter().zip(&self.moments).map(|(b, (_, deviation))| b * deviation).collect()
    }

    /// The error of slopes of the publicly scaled covariates.
    fn error(&self, slopes: &[f64]) -> f64 {
        distance(&self.standardised(slopes), &self.slopes)
    }

    /// The paper's way: standardised rows, bounds read off them.
    fn literal(&self, point: &Point, rows: &[usize], draw: &mut Draw) -> Result<f64> {
        let mut x = Vec::with_capacity(rows.len() * COVARIATES);
        for &i in rows {
            x.extend(
                self.row(i).iter().zip(&self.moments).map(|(x, (mean, deviation))| (x - mean) / deviation),
            );
        }
        let length = x.chunks_exact(COVARIATES).map(norm).fold(0.0, f64::max);
        let y = rows.iter().map(|&i| self.values[i] - 2.5).collect();
        let data = Dataset::new(Design::from_f64(rows.len(), COVARIATES, x)?, y)?;
        let model = LiteralLinear {
            n: rows.len(),
            truncate: Truncate::Quantiles,
            epsilon: point.get("epsilon"),
            delta: point.get("delta"),
            steps: 10,
            step: 1.0 / 3.0,
            length,
            radius: 2.0,
        };
        Ok(distance(&model.fit(&data, draw)?, &self.slopes))
    }
}

fn run(point: &Point, task: &mut Task) -> Result<()> {
    let houses = houses()?;
    let mut order = task.rows().shuffled(houses.values.len());
    order.truncate(point.whole("n"));
    let error = houses.literal(point, &order, &mut task.noise(LITERAL))?;
    task.value(LITERAL, error);
    let (target, sample) = ((0.0, 5.00001), houses.sample(&order, true)?);
    for line in [CERTIFIED, AT_TRUE] {
        task.certified(line, |privacy, rng| {
            let fit = Glm::new(Family::gaussian(), target)?.with_intercept().fit(&sample, privacy, rng)?;
            Ok(houses.error(&fit.coefficients[1..]))
        })?;
    }
    task.certified(STATISTICS, |privacy, rng| {
        let fit = LinearStatistics::new(target)?.with_intercept().fit(&sample, privacy, rng)?;
        Ok(houses.error(&fit.coefficients[1..]))
    })?;
    task.certified(OTHER, |privacy, rng| {
        let fit = JohnsonLindenstrauss::linear(target, 1.0)?.fit(&sample, privacy, rng)?;
        Ok(houses.error(&fit.coefficients[1..]))
    })?;
    let plain = reference::glm(&Family::gaussian(), &sample, 0.0, true)?;
    task.value(NON_PRIVATE, houses.error(&plain.coefficients[1..]));
    Ok(())
}
