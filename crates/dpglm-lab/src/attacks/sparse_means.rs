//! Cai et al. 2021 (3.2): the tracing attack `<(x - mu) on supp(mu), M - mu>` on a sparse mean.

use super::{LINES, area, axes};
use crate::Result;
use crate::c21;
use crate::c21::means::{RANGE, Rows, average, keep_largest, spread};
use crate::figure::{CERTIFIED, Figure, LITERAL, NON_PRIVATE, Point, Promise, Promises, Repetitions};
use crate::literal::{LiteralMean, Truncate};
use crate::task::Task;
use dpglm::audit::tracing;
use dpglm::central::SparseMean;
use dpglm::data::Design;
use dpglm::release::Estimator;

const ROWS: usize = 100;
const COLUMNS: usize = 1_000;

/// The figure.
pub(crate) fn figure() -> Figure {
    Figure {
        key: "attack-sparse-mean",
        title: "Tracing attack on a sparse mean (Cai et al. 2021 (3.2))",
        claim: "The attack takes large values for records in the table and small ones otherwise, unless the mean is private.",
        choices: &[
            "n = 100 normal records of 1,000 columns, of which s = 10, 30, 100 have means uniform on (-10, 10); s is told",
            "epsilon = 0.5, delta = 10/n^1.1",
            "literal: Algorithm 3.3 with the theoretical R; certified: ranges [-50, 50]",
        ],
        data: "simulated",
        axes: axes("columns that matter, s (n = 100, d = 1,000)"),
        lines: &LINES,
        repetitions: Repetitions { quick: 10, full: 100 },
        points,
        headline: "s = 100",
        promises,
        run,
        verdict: super::verdict,
        memory: |_| 0.1,
    }
}

fn points() -> Vec<Point> {
    let point = |s: usize| {
        let settings = [("s", s as f64), ("epsilon", c21::EPSILON), ("delta", c21::delta(ROWS))];
        Point::new(format!("s = {s}"), s as f64, &settings)
    };
    [10, 30, 100].map(point).into()
}

fn literal(point: &Point) -> LiteralMean {
    LiteralMean {
        n: ROWS,
        d: COLUMNS,
        truncate: Truncate::Theory,
        sparsity: Some(point.whole("s")),
        epsilon: point.get("epsilon"),
        delta: point.get("delta"),
    }
}

fn promises(point: &Point) -> Result<Promises> {
    let promise = literal(point).promise()?;
    let certified = Promise::certified(promise.epsilon, promise.delta);
    Ok(vec![(LITERAL, promise), (CERTIFIED, certified)])
}

fn run(point: &Point, task: &mut Task) -> Result<()> {
    let s = point.whole("s");
    let rows = Rows::draw(&mut task.rows(), 2 * ROWS, COLUMNS, s);
    let members = &rows.entries[..ROWS * COLUMNS];
    let record = |i: usize| &rows.entries[i * COLUMNS..(i + 1) * COLUMNS];
    let traced = |estimate: &[f64]| area(ROWS, |i| tracing::sparse_mean(record(i), &rows.mu, estimate));
    task.value(NON_PRIVATE, traced(&keep_largest(average(members, COLUMNS), s))?);
    let noisy = literal(point).fit(members, &mut task.noise(LITERAL))?;
    task.value(LITERAL, traced(&noisy)?);
    let table = Design::from_f64(ROWS, COLUMNS, members.to_vec())?;
    task.certified(CERTIFIED, |privacy, rng| {
        let fit = SparseMean::new(vec![RANGE; COLUMNS], s)?.fit(&table, privacy, rng)?;
        Ok(traced(&spread(COLUMNS, &fit.support, &fit.fit.means)).unwrap_or(f64::NAN))
    })
}
