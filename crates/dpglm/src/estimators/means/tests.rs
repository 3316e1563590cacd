//! What the means of any table come to: exact without privacy, covered with it, and each way of counting.

use super::{Block, MeanRows, MeanShape, Means, MeansFit};
use crate::central::Privacy;
use crate::central::dense_attacks::Tables;
use crate::data::Design;
use crate::noise::RandomSource;
use crate::privacy::{Adjacency, Budget};
use crate::release::Estimator;

const AGE: Block = Block::Number { low: 0.0, high: 120.0 };
const GAIN: Block = Block::Number { low: 0.0, high: 100_000.0 };
const SEX: Block = Block::Binary { low: 0.0, high: 1.0 };
const REGION: Block = Block::Category { indicators: 2 };

fn mixed() -> Means {
    Means::new(vec![AGE, GAIN, SEX, REGION]).and_then(|m| m.intervals(0.95)).expect("valid")
}

/// Ages, gains of which nine in ten are zero, a 0/1 column and a category of three levels.
fn table(rows: usize, seed: u64) -> Vec<[f64; 5]> {
    let mut tables = Tables::new(seed);
    (0..rows)
        .map(|_| {
            let age = 20.0 + 30.0 * (tables.uniform() + tables.uniform());
            let gain = if tables.uniform() < 0.9 { 0.0 } else { 20_000.0 * tables.uniform() };
            let level = (3.0 * tables.uniform()) as usize;
            let sex = f64::from(u8::from(tables.uniform() < 0.3));
            [age, gain, sex, f64::from(u8::from(level == 1)), f64::from(u8::from(level == 2))]
        })
        .collect()
}

fn design(table: &[[f64; 5]]) -> Design {
    Design::from_f64(table.len(), 5, table.concat()).expect("shape")
}

fn mean(table: &[[f64; 5]], column: usize) -> f64 {
    table.iter().map(|row| row[column]).sum::<f64>() / table.len() as f64
}

fn budget(epsilon: f64) -> Privacy {
    Privacy::Budget(Budget::new(epsilon, 1e-6).expect("valid"))
}

fn fit(rows: &MeanRows<'_>, privacy: Privacy, seed: u64) -> MeansFit {
    mixed().fit(rows, privacy, &mut RandomSource::insecure_seeded(seed)).expect("fits")
}

#[test]
fn without_privacy_means_and_deviations_are_exact() {
    let table = table(3_000, 1);
    let design = design(&table);
    let found = fit(&MeanRows::new(&design).expect("shape"), Privacy::None, 1);
    assert_eq!(found.groups.len(), 1);
    for (j, column) in found.groups[0].columns.iter().enumerate() {
        let exact = mean(&table, j);
        let span = column.range.1 - column.range.0;
        assert!((column.mean - exact).abs() < 1e-6 * span, "{j}: {} for {exact}", column.mean);
        let variance = table.iter().map(|row| (row[j] - exact).powi(2)).sum::<f64>() / table.len() as f64;
        assert!((column.deviation - variance.sqrt()).abs() < 1e-4 * span, "{j}: {}", column.deviation);
        let sampling = (variance / 3_000.0).sqrt();
        assert!((column.sampling_error / sampling - 1.0).abs() < 0.01, "{j}");
    }
}

/// Means and intervals with privacy: each lies near, and intervals of level 0.95 cover the table's mean nearly always, as they are
/// made for what lies behind the table. Of 1,000 intervals 40 not covering is beyond a chance of 1e-6 at a rate of 0.02.
#[test]
fn a_mixed_table_is_covered() {
    let table = table(20_000, 2);
    let design = design(&table);
    let rows = MeanRows::new(&design).expect("shape");
    let mut missed = 0;
    for seed in 0..200 {
        let found = fit(&rows, budget(1.0), seed);
        let group = &found.groups[0];
        for (j, interval) in group.intervals.as_ref().expect("asked for").iter().enumerate() {
            let exact = mean(&table, j);
            missed += usize::from(!(interval.low..=interval.high).contains(&exact));
            let noise = [1.0, 500.0, 0.02, 0.02, 0.02][j];
            assert!((group.columns[j].mean - exact).abs() < noise, "{j}: {}", group.columns[j].mean);
        }
    }
    assert!(missed < 40, "{missed} of 1,000 intervals miss");
}

#[test]
fn missing_cells_are_counted_out_by_column() {
    let table = table(20_000, 3);
    let design = design(&table);
    // Every second age above 50 is missing, and nothing else.
    let gone = |row: usize| table[row][0] > 50.0 && row.is_multiple_of(2);
    let missing: Vec<bool> = (0..table.len()).flat_map(|row| [gone(row), false, false, false]).collect();
    let rows = MeanRows::new(&design).and_then(|r| r.with_missing(&missing, 4)).expect("shape");
    let kept: Vec<f64> = (0..table.len()).filter(|&row| !gone(row)).map(|row| table[row][0]).collect();
    let exact = kept.iter().sum::<f64>() / kept.len() as f64;
    for (privacy, near) in [(Privacy::None, 1e-4), (budget(1.0), 1.0)] {
        let found = fit(&rows, privacy, 4);
        let age = found.groups[0].columns[0];
        assert!((age.mean - exact).abs() < near, "{} for {exact}", age.mean);
        let share = kept.len() as f64 / table.len() as f64;
        assert!((age.observed.expect("counted") - share).abs() < 0.02 * near.max(0.1), "{age:?}");
        assert!((found.groups[0].columns[1].mean - mean(&table, 1)).abs() < 500.0);
    }
}

#[test]
fn weights_and_groups_are_those_of_the_rows() {
    let table = table(20_000, 5);
    let design = design(&table);
    let weights: Vec<f64> = table.iter().map(|row| if row[0] > 50.0 { 4.0 } else { 1.0 }).collect();
    let groups: Vec<u32> = table.iter().map(|row| row[3] as u32).collect();
    let rows = MeanRows::new(&design).and_then(|r| r.with_weights(&weights, 5.0)).expect("shape");
    let rows = rows.with_groups(&groups, 2).expect("shape");
    for (privacy, near) in [(Privacy::None, 1e-3), (budget(1.0), 2.0)] {
        let found = fit(&rows, privacy, 6);
        assert_eq!(found.groups.len(), 2);
        for (g, group) in found.groups.iter().enumerate() {
            let of: Vec<usize> = (0..table.len()).filter(|&row| groups[row] as usize == g).collect();
            let total: f64 = of.iter().map(|&row| weights[row]).sum();
            let exact = of.iter().map(|&row| weights[row] * table[row][0]).sum::<f64>() / total;
            assert!((group.columns[0].mean - exact).abs() < near, "{g}: {}", group.columns[0].mean);
            let share = total / (5.0 * table.len() as f64);
            assert!((group.share.expect("counted") - share).abs() < 0.01, "{g}: {:?}", group.share);
        }
    }
}

/// A person with many rows counts once, by the mean of theirs.
#[test]
fn units_count_once() {
    let people = 6_000;
    let mut entries = Vec::new();
    let mut of_row = Vec::new();
    for person in 0..people {
        // Every tenth person has 9 rows at 80 and one at 70, the others one row at 40.
        let ages = if person % 10 == 0 { [vec![80.0; 9], vec![70.0]].concat() } else { vec![40.0] };
        for age in ages {
            entries.push(age);
            of_row.push(person);
        }
    }
    let design = Design::from_f64(entries.len(), 1, entries).expect("shape");
    let rows = MeanRows::new(&design).and_then(|r| r.with_units(&of_row, people as usize, "person"));
    let model = Means::new(vec![AGE]).expect("valid");
    for (privacy, near) in [(Privacy::None, 1e-4), (budget(1.0), 1.0)] {
        let rows = rows.clone().expect("shape");
        let found = model.fit(&rows, privacy, &mut RandomSource::insecure_seeded(7)).expect("fits");
        let age = found.groups[0].columns[0].mean;
        assert!((age - 43.9).abs() < near, "{age}");
        assert_eq!(*found.certificate.adjacency(), Adjacency::ReplaceUnit("person".into()));
    }
}

/// A column of weight 4 has a quarter of the noise beside its range; few rows keep the declared range.
#[test]
fn precision_follows_weights_and_few_rows_keep_their_range() {
    let table = table(40, 8);
    let design = design(&table);
    let rows = MeanRows::new(&design).expect("shape");
    let model = Means::new(vec![AGE, GAIN, SEX, REGION]).expect("valid");
    let prepared = model.prepare(rows.shape(), budget(1.0)).expect("valid");
    assert_eq!(prepared.events().expect("planned").len(), 1);
    let errors = |model: &Means| {
        let found = model.fit(&rows, budget(1.0), &mut RandomSource::insecure_seeded(9)).expect("fits");
        found.groups[0].columns.iter().map(|c| c.privacy_error / (c.range.1 - c.range.0)).collect::<Vec<_>>()
    };
    let even = errors(&model);
    assert!(even.iter().all(|e| (e / even[0] - 1.0).abs() < 1e-9), "{even:?}");
    let weighted = errors(&model.weights(vec![4.0, 1.0, 1.0, 1.0]).expect("valid"));
    assert!((4.0 * weighted[0] / weighted[1] - 1.0).abs() < 1e-9, "{weighted:?}");
}

#[test]
fn what_does_not_fit_is_refused() {
    assert!(Means::new(vec![]).is_err());
    assert!(Means::new(vec![Block::Number { low: 1.0, high: 0.0 }]).is_err());
    assert!(Means::new(vec![Block::Category { indicators: 0 }]).is_err());
    assert!(mixed().weights(vec![1.0]).is_err());
    assert!(mixed().weights(vec![1.0, 0.0, 1.0, 1.0]).is_err());
    assert!(mixed().intervals(1.0).is_err());
    assert!(mixed().prepare(MeanShape::new(1), budget(1.0)).is_err());
    let table = table(10, 9);
    let design = design(&table);
    let rows = || MeanRows::new(&design).expect("shape");
    assert!(rows().with_units(&[0; 9], 1, "person").is_err());
    assert!(rows().with_units(&[1; 10], 1, "person").is_err());
    assert!(rows().with_weights(&[1.0; 9], 1.0).is_err());
    assert!(rows().with_weights(&[1.0; 10], 0.0).is_err());
    assert!(rows().with_missing(&[false; 10], 4).is_err());
    assert!(rows().with_groups(&[0; 9], 2).is_err());
    let other = Means::new(vec![AGE]).expect("valid");
    assert!(other.fit(&rows(), budget(1.0), &mut RandomSource::insecure_seeded(1)).is_err());
    let prepared = mixed().prepare(MeanShape::new(11), budget(1.0)).expect("valid");
    assert!(prepared.fit(&rows(), &mut RandomSource::insecure_seeded(1)).is_err());
}
