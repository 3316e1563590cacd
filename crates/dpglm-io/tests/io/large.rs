//! Tables in blocks: the rows of the table in memory, to the last bit, in whatever way they are stored and however often they are read.

use crate::support::{message, sample, says, schema};
use dpglm::data::design::Storage;
use dpglm_io::large::{Room, bytes};
use dpglm_io::read::Declared;
use dpglm_io::{LargeTable, Precision, ReadOptions, RowBlock, read_table};
use std::collections::BTreeMap;
use std::path::Path;

const SCHEMA: &str = r#"
target = "y"
exposure = "time"
unit = "who"
[columns]
age = { kind = "real", bounds = [10, 90] }
visits = { kind = "count", bounds = [0, 10], fill = 2 }
many = { kind = "count", bounds = [0, 1000] }
sex = { kind = "binary", levels = ["f", "m"] }
work = { kind = "category", levels = ["a", "b", "c"] }
who = { kind = "ignore" }
time = { kind = "real", bounds = [0.5, 4] }
y = { kind = "count", bounds = [0, 20] }
"#;

/// Numbers of every kind, missing and wrong cells among them; rows of a unit are far apart.
fn text(rows: usize) -> String {
    let mut text = String::from("age,visits,many,sex,work,who,time,y\n");
    for i in 0..rows {
        let age = if i % 11 == 0 { String::new() } else { format!("{}", 5.0 + i as f64 * 0.37 % 90.0) };
        let visits = if i % 5 == 0 { "-0.2".into() } else { format!("{}", i % 17) };
        let (sex, work) = (["f", "m", "?"][i % 3], ["a", "b", "c", ""][i % 4]);
        text += &format!("{age},{visits},{},{sex},{work},u{},{},{}\n", i * 7 % 1200, i % 37, i % 5, i % 23);
    }
    text
}

fn room(memory: &str, scratch: bool) -> Room {
    let scratch = scratch.then(std::env::temp_dir);
    Room { memory: bytes(memory).unwrap(), scratch, blocks: 2, outputs: 1 }
}

fn large(path: &Path, schema_text: &str, options: &ReadOptions, room: &Room) -> dpglm_io::Result<LargeTable> {
    LargeTable::read(path, Declared::Schema(&schema(schema_text)), options, room, &|_, _| {})
}

/// Everything of a row, as bits.
fn rows(block: &RowBlock) -> Vec<Vec<u64>> {
    let columns = block.design.columns();
    let entries: Vec<u64> = match block.design.storage() {
        Storage::F64(entries) => entries.iter().map(|x| x.to_bits()).collect(),
        Storage::F32(entries) => entries.iter().map(|x| x.to_bits().into()).collect(),
        Storage::I8 { entries, .. } => entries.iter().map(|x| x.cast_unsigned().into()).collect(),
        Storage::Csr(_) => panic!("every entry is stored"),
    };
    let bits = |values: &Option<Vec<f64>>, row: usize| values.as_ref().map(|values| values[row].to_bits());
    let others = |row: usize| {
        let y = block.response.get(row).map(|y| y.to_bits());
        [y, bits(&block.weights, row), bits(&block.exposure, row)].into_iter().flatten()
    };
    entries
        .chunks(columns)
        .enumerate()
        .map(|(row, entries)| entries.iter().copied().chain(others(row)).collect())
        .collect()
}

/// The bits of a row.
type Row = Vec<u64>;

/// The rows, those of each unit where there are units, and the number of blocks.
fn found(table: &LargeTable) -> (Vec<Row>, Vec<Vec<Row>>, usize) {
    let (mut all, mut units, mut blocks) = (Vec::new(), Vec::new(), 0);
    let mut give = |packed: dpglm_io::large::Packed| {
        let block = packed.unpack()?;
        let rows = rows(&block);
        blocks += 1;
        if let Some(of) = &block.units {
            let mut own = vec![Vec::new(); of.count];
            rows.iter().zip(&of.of_row).for_each(|(row, &unit)| own[unit as usize].push(row.clone()));
            units.extend(own);
        }
        all.extend(rows);
        Ok(())
    };
    table.blocks(&mut give).unwrap();
    (all, units, blocks)
}

#[test]
fn blocks_hold_the_rows_of_the_table_in_memory() {
    let file = sample("t.csv", text(2_000));
    let plain = SCHEMA.replace("unit = \"who\"\n", "");
    for (schema_text, constant_column, precision) in [
        (plain.clone(), true, None),
        (format!("missing = \"drop\"\n{plain}"), true, None),
        (plain.clone(), false, Some(Precision::F32)),
        (format!("scale = \"none\"\n{plain}"), true, None),
        (format!("intercept = false\nscale = \"unit\"\n{plain}"), true, None),
    ] {
        let options = ReadOptions { constant_column, precision, ..ReadOptions::default() };
        let whole = read_table(&file.path, &schema(&schema_text), &options).unwrap();
        let (columns, target, notes) =
            (whole.columns.clone(), whole.target.clone(), whole.curator.to_string());
        let wanted = rows(&whole.into());
        for scratch in [true, false] {
            let table = large(&file.path, &schema_text, &options, &room("97MiB", scratch)).unwrap();
            assert_eq!((table.rows, &table.columns, &table.target), (2_000, &columns, &target));
            assert_eq!(table.curator.to_string(), notes);
            for _ in 0..2 {
                let (rows, _, blocks) = found(&table);
                assert!(rows == wanted, "{schema_text}");
                assert!(blocks > 1, "the blocks are smaller than the table");
            }
            // Few columns take more than a byte.
            assert!(table.scratch_bytes() < 2_000 * 60, "{}", table.scratch_bytes());
        }
    }
}

#[test]
fn rows_of_a_unit_come_together_in_their_order() {
    let file = sample("t.csv", text(3_000));
    let whole = read_table(&file.path, &schema(SCHEMA), &ReadOptions::default()).unwrap();
    let block: RowBlock = whole.into();
    let mut wanted: BTreeMap<u32, Vec<Vec<u64>>> = BTreeMap::new();
    let of_row = block.units.as_ref().unwrap().of_row.clone();
    rows(&block).into_iter().zip(of_row).for_each(|(row, unit)| wanted.entry(unit).or_default().push(row));
    let table = large(&file.path, SCHEMA, &ReadOptions::default(), &room("97MiB", true)).unwrap();
    let (_, units, blocks) = found(&table);
    assert!(blocks > 1 && table.units == Some(37));
    assert!(units.into_iter().eq(wanted.into_values()));
    let refused = large(&file.path, SCHEMA, &ReadOptions::default(), &room("97MiB", false));
    says(&message(refused), &["scratch file", "each row is a unit"]);
}

/// Nobody's rows make a block larger than a public number does.
#[test]
fn a_unit_of_many_rows_is_one_block_of_so_many() {
    let all = text(20_000);
    let of_one = |(i, row): (usize, &str)| {
        let mut cells: Vec<&str> = row.split(',').collect();
        cells[5] = if i == 0 { "who" } else { "1" };
        cells.join(",") + "\n"
    };
    let file = sample("t.csv", all.lines().enumerate().map(of_one).collect::<String>());
    let table = large(&file.path, SCHEMA, &ReadOptions::default(), &room("97MiB", true)).unwrap();
    assert_eq!(table.units, Some(1));
    let mut counts = Vec::new();
    table
        .blocks(&mut |block| {
            counts.push(block.rows());
            Ok(())
        })
        .unwrap();
    assert_eq!(counts, [16_384]);
}

#[test]
fn a_file_that_changes_between_passes_is_an_error() {
    let plain = SCHEMA.replace("unit = \"who\"\n", "");
    let original = text(900);
    let changed = original.replacen(",7,", ",8,", 1);
    assert_eq!(changed.len(), original.len());
    for keep_time in [false, true] {
        let file = sample("t.csv", &original);
        let table = large(&file.path, &plain, &ReadOptions::default(), &room("97MiB", false)).unwrap();
        assert_eq!(found(&table).0.len(), 900);
        let time = std::fs::metadata(&file.path).unwrap().modified().unwrap();
        std::fs::write(&file.path, &changed).unwrap();
        let written = std::fs::File::options().write(true).open(&file.path).unwrap();
        written.set_modified(time + std::time::Duration::from_secs(u64::from(!keep_time))).unwrap();
        says(&message(table.blocks(&mut |_| Ok(()))), &["t.csv", "has changed", "nothing is released"]);
        // In a scratch file nothing changes.
        std::fs::write(&file.path, &original).unwrap();
        let table = large(&file.path, &plain, &ReadOptions::default(), &room("97MiB", true)).unwrap();
        std::fs::write(&file.path, &changed).unwrap();
        assert_eq!(found(&table).0.len(), 900);
    }
}

#[test]
fn too_little_memory_is_refused_with_what_is_needed() {
    let file = sample("t.csv", text(10));
    let refused = large(&file.path, SCHEMA, &ReadOptions::default(), &room("1MiB", true));
    says(&message(refused), &["1 MiB of memory", "encoded columns", "are needed", "however many rows"]);
}
