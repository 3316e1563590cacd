//! Neighbours that try to break the claimed sensitivities ([`crate::central::session`], `tape`), with everything asked for: with and without
//! missing cells and groups.

use super::{Block, Describe, MeanRows};
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

#[derive(Clone)]
struct Row {
    entries: Vec<f64>,
    missing: Vec<bool>,
    group: u32,
}

fn row(tables: &mut Tables) -> Row {
    // Whole rows at an end of their ranges, often: the extreme points of what a row can do.
    let same = (tables.uniform() < 0.4).then(|| [-1e30, 1e30][(2.0 * tables.uniform()) as usize]);
    let all = tables.uniform() < 0.2;
    Row {
        entries: (0..COLUMNS).map(|_| same.unwrap_or_else(|| tables.entry())).collect(),
        missing: BLOCKS.iter().map(|_| all || tables.uniform() < 0.2).collect(),
        // Some are in no group.
        group: (2.2 * tables.uniform()) as u32,
    }
}

struct Stored {
    design: Design,
    missing: Vec<bool>,
    groups: Vec<u32>,
}

impl Stored {
    fn new(rows: &[Row]) -> Self {
        let entries = rows.iter().flat_map(|r| r.entries.clone()).collect();
        Self {
            design: Design::from_f64(ROWS, COLUMNS, entries).expect("shape"),
            missing: rows.iter().flat_map(|r| r.missing.clone()).collect(),
            groups: rows.iter().map(|r| r.group).collect(),
        }
    }

    fn rows(&self, missing: bool, groups: bool) -> MeanRows<'_> {
        let mut rows = MeanRows::new(&self.design).expect("shape");
        if missing {
            rows = rows.with_missing(&self.missing, BLOCKS.len()).expect("shape");
        }
        if groups {
            rows = rows.with_groups(&self.groups, GROUPS as usize).expect("shape");
        }
        rows
    }
}

fn neighbours(tables: &mut Tables) -> [Stored; 2] {
    let mut rows: Vec<Row> = (0..ROWS).map(|_| row(tables)).collect();
    let first = Stored::new(&rows);
    let victim = (tables.uniform() * ROWS as f64) as usize;
    let mirrored = tables.uniform() < 0.5;
    rows[victim] = match mirrored {
        true => Row { entries: rows[victim].entries.iter().map(|x| -x).collect(), ..rows[victim].clone() },
        false => row(tables),
    };
    if tables.uniform() < 0.3 {
        rows[victim].group = (rows[victim].group + 1) % GROUPS;
    }
    [first, Stored::new(&rows)]
}

fn attacked(name: &str, missing: bool, groups: bool) {
    let model = Describe::new(BLOCKS.to_vec()).and_then(|m| m.histograms(5)).expect("valid");
    let model = model.cross(1, 2).and_then(Describe::correlations).expect("valid");
    // Declared ranges only, and enough for clips.
    for epsilon in [3.0, 690.0] {
        let privacy = Privacy::Budget(Budget::new(epsilon, 1e-3).expect("valid"));
        let shape = neighbours(&mut Tables::new(7))[0].rows(missing, groups).shape();
        let prepared = model.prepare(shape, privacy).expect("valid");
        assert_eq!(prepared.events().expect("planned").len(), if epsilon > 100.0 { 8 } else { 5 });
        withstands(name, 10_000, |tables| {
            let pair = neighbours(tables);
            let (prepared, seed) = (prepared.clone(), tables.uniform().to_bits());
            Box::new(move |side| {
                let rng = &mut RandomSource::insecure_seeded(seed);
                prepared.fit(&pair[usize::from(side)].rows(missing, groups), rng).expect("fits");
            })
        });
    }
}

#[test]
fn descriptions_withstand_neighbours() {
    attacked("descriptions", false, false);
    attacked("descriptions with missing cells", true, false);
    attacked("descriptions by group", false, true);
    attacked("descriptions by group with missing cells", true, true);
}
