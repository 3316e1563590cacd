//! Attacks on every certified method, on fits without noise, and on a broken promise: what do lower bounds on epsilon say?
//!
//! `audits plain | literal | certified [SEEDS] | one-run [SEEDS] [CANARIES]`; everything without an argument.

use dpglm::Result;
use dpglm::audit::{DataModel, Estimand, Estimator, Findings, Ground, Inspection, PublicBox, Table};
use dpglm::central::transfer::SAME_SUPPORT;
use dpglm::central::{
    DpIht, Glm, LinearStatistics, NoisyIht, Privacy, PrivateMean, SelectRefine, Selection, SparseMean,
    SparseMeanFit, Transfer, reference,
};
use dpglm::comparators::{FrankWolfe, JohnsonLindenstrauss, KarwaVadhan, TwoStage};
use dpglm::families::Family;
use dpglm::noise::RandomSource;
use dpglm::privacy::Budget;
use dpglm::tuning::{TunedRidge, TunedSparseMean, TunedSparsity};

const ROWS: usize = 300;
const COLUMNS: usize = 4;
const CANARIES: usize = 60;
const ERROR: f64 = 0.05;
const REAL: (f64, f64) = (-2.0, 2.0);
const BINARY: (f64, f64) = (0.0, 1.0);

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let seeds = arguments.get(1).and_then(|n| n.parse().ok()).unwrap_or(20);
    let wanted = arguments.first().map(String::as_str);
    let asked = |name: &str| wanted.is_none_or(|w| w == name);
    if asked("plain") {
        plain()?;
    }
    if asked("literal") {
        literal()?;
    }
    if asked("one-run") {
        let canaries = arguments.get(2).and_then(|n| n.parse().ok()).unwrap_or(4_000);
        one_run(if wanted.is_none() { 5 } else { seeds }, canaries)?;
    }
    if asked("certified") {
        certified(seeds)?;
    }
    Ok(())
}

fn budget(epsilon: f64, delta: f64) -> Result<Privacy> {
    Ok(Privacy::Budget(Budget::new(epsilon, delta)?))
}

/// One audit on simulated rows.
fn audit(
    estimand: Estimand,
    response: (f64, f64),
    support: usize,
    claim: (f64, f64),
    seed: u64,
    fit: &mut Estimator<'_>,
) -> Result<Findings> {
    let mut rng = RandomSource::insecure_seeded(seed);
    let model =
        DataModel::new(estimand.clone(), PublicBox::even(COLUMNS, (-1.0, 1.0), false, response), support)?;
    let base = model.draw(ROWS - CANARIES, &mut rng)?;
    let held_out = model.draw(ROWS, &mut rng)?;
    let ground =
        Ground { base: &base, held_out: Some(&held_out), reference: model.truth(), cells: model.cells() };
    let inspection = Inspection::new(estimand, ERROR)?.canaries(CANARIES).runs(100).pilot(30);
    inspection.run(&ground, claim, fit, &mut rng)
}

fn average(table: &Table) -> Vec<f64> {
    let n = table.rows() as f64;
    (0..table.columns()).map(|j| (0..table.rows()).map(|i| table.row(i)[j]).sum::<f64>() / n).collect()
}

fn plain() -> Result<()> {
    let claim = (1.0, 1e-6);
    println!(
        "\nFits without noise, n = {ROWS}, d = {COLUMNS}, {CANARIES} canaries, 100 runs a side, claimed epsilon 1"
    );
    println!("method      bound (95%)   by one run   caught");
    let show = |name: &str, found: Findings| {
        let one = found.one_run.map_or(0.0, |run| run.epsilon);
        println!("{name:<10}  {:>11.3}   {one:>10.2}   {}", found.epsilon(), found.epsilon() > claim.0);
    };
    for (name, family, response) in [("OLS", Family::Gaussian, REAL), ("logistic", Family::Logistic, BINARY)]
    {
        let estimand = Estimand::Glm(family.clone());
        show(
            name,
            audit(estimand, response, COLUMNS, claim, 1, &mut |table, _| {
                Ok(reference::glm(&family, &table.dataset()?, 0.0, false)?.coefficients)
            })?,
        );
    }
    show("mean", audit(Estimand::Mean, BINARY, COLUMNS, claim, 1, &mut |table, _| Ok(average(table)))?);
    Ok(())
}

/// Two columns between which one record of 9,999 decides.
fn tied(last: usize) -> Result<Table> {
    let n = 9_999;
    let column = |row: usize| if row == n - 1 { last } else { row % 2 };
    let entry = |row: usize, j: usize| f64::from(u8::from(column(row) == j));
    Table::new(2, (0..n).flat_map(|row| [entry(row, 0), entry(row, 1)]).collect(), vec![1.0; n])
}

fn literal() -> Result<()> {
    let claim = (1.0, 1e-5);
    println!("\nKnowledge transfer on its counter-example, n = 9,999, 60 runs a side, claimed epsilon 1");
    println!("version     bound (95%)   caught");
    let inspection = Inspection::new(Estimand::Glm(Family::Gaussian), ERROR)?.runs(60).pilot(30);
    let certified = Transfer::linear((-1.0, 1.0), 1.0, 1)?.ridge(0.5)?;
    let literal = certified.clone().literal().accepting(SAME_SUPPORT)?;
    for (name, model) in [("literal", literal), ("certified", certified)] {
        let prepared = model.prepare(2, 9_999, budget(claim.0, claim.1)?)?;
        let found = inspection.neighbours(
            &tied(0)?,
            &tied(1)?,
            claim,
            &mut |table, rng| Ok(prepared.fit(&table.dataset()?, rng)?.coefficients),
            &mut RandomSource::insecure_seeded(1),
        )?;
        println!("{name:<10}  {:>11.3}   {}", found.epsilon(), found.epsilon() > claim.0);
    }
    Ok(())
}

/// A certified logistic fit of 1,000 columns and 10,000 rows: canaries whose responses are coins, and rows that say nothing on
/// balance.
fn one_run(seeds: u64, m: usize) -> Result<()> {
    let (n, d, claim) = (10_000, 1_000, (4.0, 1e-5));
    println!(
        "\nOne run, logistic, n = {n}, d = {d}, {m} nearly orthogonal canaries (replace one row), claimed epsilon 4"
    );
    println!("seed   guesses   correct   bound (95%)   area of the canaries' ROC");
    let prepared = Glm::new(Family::Logistic, BINARY)?.prepare(d, n, budget(claim.0, claim.1)?)?;
    let estimand = Estimand::Glm(Family::Logistic);
    let cells = PublicBox::even(d, (-1.0, 1.0), false, BINARY);
    for seed in 1..=seeds {
        let mut rng = RandomSource::insecure_seeded(seed);
        let (mut x, mut y) = (Vec::with_capacity((n - m) * d), Vec::with_capacity(n - m));
        for _ in 0..(n - m) / 2 {
            let row: Vec<f64> = (0..d).map(|_| if rng.coin() { 1.0 } else { -1.0 }).collect();
            x.extend_from_slice(&row);
            x.extend(row);
            y.extend([0.0, 1.0]);
        }
        let base = Table::new(d, x, y)?;
        let ground = Ground { base: &base, held_out: None, reference: &vec![0.0; d], cells: &cells };
        let found = Inspection::new(estimand.clone(), ERROR)?.canaries(m).run(
            &ground,
            claim,
            &mut |table, rng| Ok(prepared.fit(&table.dataset()?, rng)?.coefficients),
            &mut rng,
        )?;
        if let (Some(run), Some(roc)) = (found.one_run, found.canaries) {
            println!(
                "{seed:>4}   {:>7}   {:>7}   {:>11.2}   {:.3}",
                run.guesses,
                run.correct,
                run.epsilon,
                roc.area()
            );
        }
    }
    Ok(())
}

type Fit = Box<dyn FnMut(&Table, &mut RandomSource) -> Result<Vec<f64>>>;

/// A method, what it estimates, the range of its response, the number of columns that matter, and a fit.
type Case = (&'static str, Estimand, (f64, f64), usize, Fit);

/// Every certified method for a trusted curator, at epsilon 1.
fn methods(privacy: Privacy) -> Result<Vec<Case>> {
    let glm = |family: Family, range| Glm::new(family, range);
    let of = |family: Family| Estimand::Glm(family);
    let ranges = || vec![(-1.0, 1.0); COLUMNS];
    /// A fit of coefficients by a prepared model.
    macro_rules! model {
        ($prepared:expr) => {{
            let prepared = $prepared;
            Box::new(move |table: &Table, rng: &mut RandomSource| {
                Ok(prepared.fit(&table.dataset()?, rng)?.coefficients)
            }) as Fit
        }};
    }
    macro_rules! sparse {
        ($prepared:expr) => {{
            let prepared = $prepared;
            Box::new(move |table: &Table, rng: &mut RandomSource| {
                Ok(prepared.fit(&table.dataset()?, rng)?.coefficients(COLUMNS))
            }) as Fit
        }};
    }
    let logistic = || glm(Family::Logistic, BINARY);
    let mean = PrivateMean::new(ranges())?.prepare(ROWS, privacy)?;
    let karwa = KarwaVadhan::new(ranges(), (0.01, 1.0))?.prepare(COLUMNS, ROWS, privacy)?;
    let few = SparseMean::new(ranges(), 2)?.prepare(ROWS, privacy)?;
    let unknown = TunedSparseMean::new(vec![(-1.0, 1.0); COLUMNS], 3)?.prepare(ROWS, privacy)?;
    let counts = (0.0, 10.0);
    Ok(vec![
        ("mean", Estimand::Mean, BINARY, 4, Box::new(move |t, rng| Ok(mean.fit(&t.design()?, rng)?.means))),
        (
            "karwa-vadhan",
            Estimand::Mean,
            BINARY,
            4,
            Box::new(move |t, rng| Ok(karwa.fit(&t.design()?, rng)?.means)),
        ),
        (
            "sparse-mean",
            Estimand::Mean,
            BINARY,
            2,
            Box::new(move |t, rng| Ok(every(few.fit(&t.design()?, rng)?))),
        ),
        (
            "tuned-sparse-mean",
            Estimand::Mean,
            BINARY,
            2,
            Box::new(move |t, rng| Ok(every(unknown.fit(&t.design()?, rng)?))),
        ),
        (
            "linear",
            of(Family::Gaussian),
            REAL,
            4,
            model!(glm(Family::Gaussian, REAL)?.prepare(COLUMNS, ROWS, privacy)?),
        ),
        (
            "linear-statistics",
            of(Family::Gaussian),
            REAL,
            4,
            model!(LinearStatistics::new(REAL)?.prepare(COLUMNS, ROWS, privacy)?),
        ),
        ("logistic", of(Family::Logistic), BINARY, 4, model!(logistic()?.prepare(COLUMNS, ROWS, privacy)?)),
        (
            "poisson",
            of(Family::Poisson),
            counts,
            4,
            model!(glm(Family::Poisson, counts)?.prepare(COLUMNS, ROWS, privacy)?),
        ),
        (
            "select-refine",
            of(Family::Logistic),
            BINARY,
            2,
            sparse!(SelectRefine::new(logistic()?, 2)?.prepare(COLUMNS, ROWS, privacy)?),
        ),
        (
            "tuned-sparsity",
            of(Family::Logistic),
            BINARY,
            2,
            sparse!(TunedSparsity::new(logistic()?, 3)?.prepare(COLUMNS, ROWS, privacy)?),
        ),
        (
            "tuned-ridge",
            of(Family::Logistic),
            BINARY,
            4,
            Box::new({
                let prepared =
                    TunedRidge::new(logistic()?, vec![0.0, 0.1])?.prepare(COLUMNS, ROWS, privacy)?;
                move |t: &Table, rng: &mut RandomSource| {
                    Ok(prepared.fit(&t.dataset()?, rng)?.fit.coefficients)
                }
            }),
        ),
        (
            "noisy-iht",
            of(Family::Logistic),
            BINARY,
            2,
            sparse!(NoisyIht::new(logistic()?, 2, 1.0, Selection::Gumbel)?.prepare(COLUMNS, ROWS, privacy)?),
        ),
        (
            "peeling-iht",
            of(Family::Logistic),
            BINARY,
            2,
            sparse!(NoisyIht::new(logistic()?, 2, 1.0, Selection::Peeling)?.prepare(COLUMNS, ROWS, privacy)?),
        ),
        (
            "dp-iht",
            of(Family::Logistic),
            BINARY,
            2,
            sparse!(DpIht::new(logistic()?, 2)?.prepare(COLUMNS, ROWS, privacy)?),
        ),
        (
            "frank-wolfe",
            of(Family::Gaussian),
            REAL,
            2,
            model!(FrankWolfe::linear(REAL, 1.0, 2.0)?.prepare(COLUMNS, ROWS, privacy)?),
        ),
        (
            "two-stage",
            of(Family::Logistic),
            BINARY,
            2,
            model!(TwoStage::logistic(1.0, 2)?.prepare(COLUMNS, ROWS, privacy)?),
        ),
        (
            "johnson-lindenstrauss",
            of(Family::Gaussian),
            REAL,
            4,
            model!(JohnsonLindenstrauss::linear(REAL, 1.0)?.prepare(COLUMNS, ROWS, privacy)?),
        ),
        (
            "transfer",
            of(Family::Logistic),
            BINARY,
            2,
            model!(Transfer::logistic(1.0, 2)?.prepare(COLUMNS, ROWS, privacy)?),
        ),
    ])
}

/// The means of all columns, zeros where none was taken.
fn every(found: SparseMeanFit) -> Vec<f64> {
    let mut all = vec![0.0; COLUMNS];
    found.support.iter().zip(&found.fit.means).for_each(|(&j, &m)| all[j] = m);
    all
}

fn certified(seeds: u64) -> Result<()> {
    let claim = (1.0, 1e-5);
    println!(
        "\nCertified methods at epsilon 1, n = {ROWS}, d = {COLUMNS}, {CANARIES} canaries, 100 runs a side, {seeds} seeds"
    );
    println!(
        "method                  largest bound (95%)   mean area, canaries / held-out rows   false alarms"
    );
    for (name, estimand, response, support, mut fit) in methods(budget(claim.0, claim.1)?)? {
        let (mut largest, mut areas, mut alarms) = (0.0_f64, [0.0; 2], 0);
        for seed in 1..=seeds {
            let found = audit(estimand.clone(), response, support, claim, seed, &mut *fit)?;
            largest = largest.max(found.epsilon());
            alarms += u32::from(found.epsilon() > claim.0);
            for (sum, roc) in areas.iter_mut().zip([&found.canaries, &found.rows]) {
                *sum += roc.as_ref().map_or(0.5, |roc| roc.area()) / seeds as f64;
            }
        }
        println!("{name:<22}  {largest:>19.3}   {:>20.3} / {:<14.3}   {alarms:>12}", areas[0], areas[1]);
    }
    Ok(())
}
