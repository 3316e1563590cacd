//! Attacks on every certified method, on fits without noise, and on a broken promise: what do lower bounds on epsilon say?
//!
//! `audits plain | literal | certified [SEEDS] | one-run [SEEDS] | models [SEEDS] | alarms | twins`; everything without an argument.

mod methods;
mod one_run;

use dpglm::Result;
use dpglm::audit::{DataModel, Estimand, Findings, Fitter, Ground, Inspection, PublicBox, Table};
use dpglm::central::transfer::SAME_SUPPORT;
use dpglm::central::{Privacy, Transfer, reference};
use dpglm::data::Shape;
use dpglm::families::Family;
use dpglm::noise::RandomSource;
use dpglm::privacy::Budget;
use dpglm::release::Estimator;
use methods::methods;

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
    let few = arguments.get(1).and_then(|n| n.parse().ok()).unwrap_or(5);
    if asked("one-run") {
        one_run::table(few)?;
    }
    if asked("models") {
        one_run::models(few)?;
    }
    if asked("alarms") {
        one_run::alarms()?;
    }
    if asked("twins") {
        one_run::twins()?;
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
    fit: &mut Fitter<'_>,
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
    for (name, family, response) in [("OLS", Family::gaussian(), REAL), ("logistic", Family::logistic(), BINARY)]
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
    let inspection = Inspection::new(Estimand::Glm(Family::gaussian()), ERROR)?.runs(60).pilot(30);
    let certified = Transfer::linear((-1.0, 1.0), 1.0, 1)?.ridge(0.5)?;
    let literal = certified.clone().literal().accepting(SAME_SUPPORT)?;
    for (name, model) in [("literal", literal), ("certified", certified)] {
        let prepared = model.prepare(Shape::new(2, 9_999), budget(claim.0, claim.1)?)?;
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
