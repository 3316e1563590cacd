//! Neighbours that try to break the claimed sensitivities ([`crate::central::session`], `tape`): with and without units, weights, missing
//! cells and groups, at budgets that reach every release.

use super::{Block, MeanRows, Means};
use crate::central::Privacy;
use crate::central::dense_attacks::{Tables, withstands};
use crate::data::Design;
use crate::noise::RandomSource;
use crate::privacy::Budget;
use crate::release::Estimator;

const ROWS: usize = 24;
const BLOCKS: [Block; 4] = [
    Block::Number { low: -1.0, high: 2.0 },
    Block::Binary { low: 0.0, high: 1.0 },
    Block::Category { indicators: 2 },
    Block::Number { low: 0.0, high: 1.0 },
];
const COLUMNS: usize = 5;
const GROUPS: u32 = 2;

/// What a table has beside its entries.
#[derive(Clone, Copy, Default)]
struct Beside {
    units: bool,
    weights: bool,
    missing: bool,
    groups: bool,
}

#[derive(Clone)]
struct Row {
    entries: Vec<f64>,
    weight: f64,
    missing: Vec<bool>,
    group: u32,
}

fn row(tables: &mut Tables) -> Row {
    // Whole rows at an end of their ranges, often: the extreme points of what a row can do.
    let same = (tables.uniform() < 0.4).then(|| [-1e30, 1e30][(2.0 * tables.uniform()) as usize]);
    let all = tables.uniform() < 0.2;
    Row {
        entries: (0..COLUMNS).map(|_| same.unwrap_or_else(|| tables.entry())).collect(),
        weight: [1.0, 0.0, tables.uniform(), f64::NAN][(4.0 * tables.uniform().powi(2)) as usize],
        missing: BLOCKS.iter().map(|_| all || tables.uniform() < 0.2).collect(),
        // Some are in no group.
        group: (2.2 * tables.uniform()) as u32,
    }
}

/// A table as an estimator sees it.
struct Stored {
    design: Design,
    weights: Vec<f64>,
    missing: Vec<bool>,
    groups: Vec<u32>,
    units: Vec<u32>,
}

impl Stored {
    fn new(rows: &[Row]) -> Self {
        let entries = rows.iter().flat_map(|r| r.entries.clone()).collect();
        Self {
            design: Design::from_f64(ROWS, COLUMNS, entries).expect("shape"),
            weights: rows.iter().map(|r| r.weight).collect(),
            missing: rows.iter().flat_map(|r| r.missing.clone()).collect(),
            groups: rows.iter().map(|r| r.group).collect(),
            units: (0..ROWS as u32).map(|i| i / 3).collect(),
        }
    }

    fn rows(&self, beside: Beside) -> MeanRows<'_> {
        let mut rows = MeanRows::new(&self.design).expect("shape");
        if beside.units {
            rows = rows.with_units(&self.units, ROWS / 3, "person").expect("shape");
        }
        if beside.weights {
            rows = rows.with_weights(&self.weights, 1.0).expect("shape");
        }
        if beside.missing {
            rows = rows.with_missing(&self.missing, BLOCKS.len()).expect("shape");
        }
        if beside.groups {
            rows = rows.with_groups(&self.groups, GROUPS as usize).expect("shape");
        }
        rows
    }
}

fn neighbours(tables: &mut Tables, beside: Beside) -> [Stored; 2] {
    let mut rows: Vec<Row> = (0..ROWS).map(|_| row(tables)).collect();
    let first = Stored::new(&rows);
    let victim = (tables.uniform() * ROWS as f64) as usize;
    let (way, mirrored) = (row(tables), tables.uniform() < 0.5);
    for i in (0..ROWS).filter(|&i| i == victim || beside.units && i / 3 == victim / 3) {
        rows[i] = match mirrored {
            true => Row { entries: rows[i].entries.iter().map(|x| -x).collect(), ..rows[i].clone() },
            false => way.clone(),
        };
        if tables.uniform() < 0.3 {
            rows[i].group = (rows[i].group + 1) % GROUPS;
        }
    }
    [first, Stored::new(&rows)]
}

fn attacked(name: &str, beside: Beside) {
    let model = Means::new(BLOCKS.to_vec()).and_then(|m| m.intervals(0.95)).expect("valid");
    let model = model.weights(vec![1.0, 0.5, 2.0, 1.0]).expect("valid");
    // Declared ranges only, and enough for clips.
    for epsilon in [3.0, 600.0] {
        let privacy = Privacy::Budget(Budget::new(epsilon, 1e-3).expect("valid"));
        let shape = neighbours(&mut Tables::new(7), beside)[0].rows(beside).shape();
        let prepared = model.prepare(shape, privacy).expect("valid");
        assert_eq!(prepared.events().expect("planned").len(), if epsilon > 100.0 { 4 } else { 1 });
        withstands(name, 8_000, |tables| {
            let pair = neighbours(tables, beside);
            let (prepared, seed) = (prepared.clone(), tables.uniform().to_bits());
            Box::new(move |side| {
                let rng = &mut RandomSource::insecure_seeded(seed);
                prepared.fit(&pair[usize::from(side)].rows(beside), rng).expect("fits");
            })
        });
    }
}

#[test]
fn rows_withstand_neighbours() {
    attacked("means", Beside::default());
    attacked("means with weights", Beside { weights: true, ..Beside::default() });
    attacked("means with missing cells", Beside { missing: true, ..Beside::default() });
    attacked("means by group", Beside { groups: true, ..Beside::default() });
    attacked("means of all kinds", Beside { groups: true, weights: true, missing: true, units: false });
}

#[test]
fn units_withstand_neighbours() {
    let units = Beside { units: true, ..Beside::default() };
    attacked("means of units", units);
    attacked("means of units by group", Beside { groups: true, ..units });
    attacked("means of units, all kinds", Beside { groups: true, weights: true, missing: true, units: true });
}
