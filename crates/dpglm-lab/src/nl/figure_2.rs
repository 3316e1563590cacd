//! Wang et al. 2021 Figure 2: Covertype, lodgepole pine against the rest.

use super::simulated::{certified, row};
use crate::Result;
use crate::data::covertype;
use crate::figure::{
    AT_TRUE, Axes, CERTIFIED, Figure, LITERAL, Line, Measure, NON_PRIVATE, Point, Promise, Promises,
    Repetitions, Scale, USUAL, comparator, usual_promises,
};
use crate::literal::one_shot::{OneShotNoise, Sums, least_squares, scale};
use crate::results::FigureResult;
use crate::task::Task;
use crate::verdict::Verdict;
use dpglm::central::reference;
use dpglm::data::{Dataset, Design};
use dpglm::families::Family;
use dpglm::kernels::{predict, squared_row_norms};

/// The literal algorithm on rows normalised with what the private rows say, which are also the public ones, as in the paper.
const PRIVATE_SCALES: &str = "literal, the users' own rows as public";
const LINES: [Line; 5] = [USUAL[0], comparator(PRIVATE_SCALES), USUAL[1], USUAL[2], USUAL[3]];

/// The figure.
pub(crate) fn figure() -> Figure {
    Figure {
        key: "nl-2",
        title: "Wang et al. 2021 Figure 2: one report a user, Covertype",
        claim: "For a reasonable epsilon the accuracy approaches that without privacy as n grows (epsilon 5, 10, 20).",
        choices: &[
            "delta is not printed: 1e-5",
            "44 columns: which were removed is not printed; here the last area and soil type, the afternoon's hillshade and the seven rarest soil \
             types, taken as public knowledge of the survey",
            "\"normalised\" is read as standardised columns, then rows of l1 norm 1, so that r = 1",
            "literal: columns standardised by the public rows; beside it as in the paper, where \"exactly the same data as public\" are the \
             users' own rows, whose features are then not private at all",
            "100,000 rows that are neither users nor tests serve as public; tests are 30% of the rows",
            "where Newton's iteration for the scale c fails, c = 1 is taken: predictions depend on its sign only",
            "certified: pure epsilon, columns standardised by the public rows, radius the 90% quantile of the public rows' lengths; \
             estimates are drawn from the law of real reports",
            "the paper's grid of n is thinned",
        ],
        data: "Covertype, 581,012 rows (UCI), the paper's own data",
        axes: Axes {
            x: "users, for each epsilon",
            y: "share of wrong predictions on test rows",
            x_scale: Scale::Named,
            y_scale: Scale::Linear,
            measure: Measure::Error,
        },
        lines: &LINES,
        repetitions: Repetitions { quick: 3, full: 100 },
        points,
        headline: "epsilon 20, 300k",
        promises,
        run,
        verdict,
        memory: |point| 0.5 + point.get("n") * 44.0 * 16e-9,
    }
}

const PUBLIC: usize = 100_000;
/// Of the 54 columns: hillshade at 3pm, wilderness area 4, soil types 7, 8, 14, 15, 25, 36, 37 and 40.
const REMOVED: [usize; 10] = [8, 13, 20, 21, 27, 28, 38, 49, 50, 53];

fn points() -> Vec<Point> {
    let mut points = Vec::new();
    for epsilon in [20.0, 10.0, 5.0] {
        for n in [10_000_u32, 100_000, 300_000] {
            let settings = [("n", f64::from(n)), ("p", 44.0), ("epsilon", epsilon), ("delta", 1e-5)];
            points.push(Point::new(format!("epsilon {epsilon}, {}k", n / 1000), f64::from(n), &settings));
        }
    }
    points
}

fn noise(point: &Point) -> OneShotNoise {
    OneShotNoise { epsilon: point.get("epsilon"), delta: point.get("delta"), radius: 1.0 }
}

fn promises(point: &Point) -> Result<Promises> {
    let literal = noise(point).promise()?;
    let mut promises = usual_promises(literal.clone());
    let broken = "the users' features are used as public ones";
    promises.push((PRIVATE_SCALES, Promise::broken(literal.epsilon, literal.delta, broken)));
    Ok(promises)
}

fn run(point: &Point, task: &mut Task) -> Result<()> {
    let all = covertype::rows()?;
    let n = point.whole("n");
    let order = task.rows().shuffled(all.labels.len());
    let (test, train) = order.split_at(all.labels.len() * 3 / 10);
    let (users, public) = (&train[..n], &train[train.len() - PUBLIC..]);
    let columns: Vec<usize> = (0..covertype::COLUMNS).filter(|j| !REMOVED.contains(j)).collect();
    let scaled =
        |rows: &[usize], by: &[(f32, f32)]| all.design(rows, &columns, |j, x| (x - by[j].0) / by[j].1);
    let by_public = all.moments(public);
    let labels = all.labels_of(test);
    let wrong = |design: &Design, coefficients: &[f64]| {
        let mut predictors = vec![0.0; design.rows()];
        predict(design, coefficients, &mut predictors);
        let missed = predictors.iter().zip(&labels).filter(|(u, y)| (**u > 0.0) != (**y > 0.5)).count();
        missed as f64 / labels.len() as f64
    };

    // The paper's rows have l1 norm 1; the sign of a prediction does not depend on a row's length.
    for (line, rows) in [(LITERAL, public), (PRIVATE_SCALES, users)] {
        let by = all.moments(rows);
        let data = Dataset::new(l1_rows(&scaled(users, &by)?)?, all.labels_of(users))?;
        let open = l1_rows(&scaled(rows, &by)?)?;
        let draw = &mut task.noise(line);
        let Some(mut estimate) = least_squares(&Sums::new(&data), Some(&noise(point)), draw) else {
            task.value(line, f64::NAN);
            continue;
        };
        // Predictions depend on the sign of the scale only.
        if scale(&estimate, &open).is_some_and(|c| c < 0.0) {
            estimate.iter_mut().for_each(|b| *b = -*b);
        }
        task.value(line, wrong(&scaled(test, &by)?, &estimate));
    }

    let data = Dataset::new(scaled(users, &by_public)?, all.labels_of(users))?;
    let (open, tests) = (scaled(public, &by_public)?, scaled(test, &by_public)?);
    let mut lengths = squared_row_norms(&open);
    lengths.sort_by(f64::total_cmp);
    let radius = lengths[lengths.len() * 9 / 10].sqrt();
    for line in [CERTIFIED, AT_TRUE] {
        task.certified(line, |privacy, rng| {
            let people = (0..n).map(|i| (row(data.design(), i), data.response()[i]));
            let estimate = certified(people, radius, privacy, &open, rng.next_u64())?;
            Ok(estimate.map_or(f64::NAN, |b| wrong(&tests, &b)))
        })?;
    }
    let fit = reference::glm(&Family::logistic(), &data, 1e-6, false)?;
    task.value(NON_PRIVATE, wrong(&tests, &fit.coefficients));
    Ok(())
}

/// Rows divided by their l1 norm.
fn l1_rows(design: &Design) -> Result<Design> {
    let (n, p) = (design.rows(), design.columns());
    let mut entries = Vec::with_capacity(n * p);
    for i in 0..n {
        let x = row(design, i);
        let norm = x.iter().map(|x| x.abs()).sum::<f64>().max(f64::MIN_POSITIVE);
        entries.extend(x.iter().map(|x| (x / norm) as f32));
    }
    Ok(Design::from_f32(n, p, entries)?)
}

/// At epsilon 20 and the largest n the share of errors must be within 0.02 of the non-private one.
fn verdict(result: &FigureResult) -> Verdict {
    let at = |line: &str| result.point("epsilon 20, 300k").map_or(f64::NAN, |p| p.mean(line));
    let seen = |line: &str| at(line) <= at(NON_PRIVATE) + 0.02;
    Verdict::of(
        seen(LITERAL),
        seen(CERTIFIED),
        format!(
            "at epsilon 20 and n = 300,000 the share of errors is {:.3} literally, {:.3} certified and {:.3} without privacy; always predicting \
             the larger class has 0.488.",
            at(LITERAL),
            at(CERTIFIED),
            at(NON_PRIVATE)
        ),
    )
}
