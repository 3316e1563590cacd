//! A subset of `--quick`, run anew: the committed numbers are still those of the code.

use dpglm_lab::figures;
use dpglm_lab::results::{self, FigureResult};
use dpglm_lab::runner::{self, Extent, Machine};
use std::path::Path;

/// Figures that take seconds: sparse means, and all attacks.
const SUBSET: [&str; 3] = ["c21-1c", "c21-2a", "attack-"];

#[test]
fn the_committed_numbers_come_out_again() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reproduction/results.json");
    let committed = results::read(&file).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let machine = Machine { threads: 2, memory: 4.5, repetitions: Some(3) };
    let chosen = figures::all().into_iter().filter(|f| SUBSET.iter().any(|key| f.key.starts_with(key)));
    let mut compared = 0;
    for figure in chosen {
        let old = committed.iter().find(|f| f.key == figure.key);
        let old = old.unwrap_or_else(|| panic!("{} has no committed results", figure.key));
        let records = runner::run(&figure, Extent::Quick, folder.path(), machine).unwrap();
        let new = FigureResult::of(&figure, Extent::Quick, &records).unwrap();
        for point in &new.points {
            for line in &point.lines {
                let before = old.point(&point.name).and_then(|p| p.line(&line.line));
                let before =
                    before.unwrap_or_else(|| panic!("{}, {}: {}", figure.key, point.name, line.line));
                assert_eq!(line.promise.is_some(), before.promise.is_some());
                // The same seeds: equal but for the machine's arithmetic, which may turn a close choice.
                let same = line.values.iter().zip(&before.values).filter(|(a, b)| match (a, b) {
                    (Some(a), Some(b)) => (a - b).abs() <= 1e-4 * b.abs(),
                    (a, b) => a == b,
                });
                let same = same.count();
                assert!(
                    2 * same >= line.values.len(),
                    "{}, {}, {}: {:?} was {:?}; run `dpglm-lab run {} --quick --fresh` and `dpglm-lab report`",
                    figure.key,
                    point.name,
                    line.line,
                    line.values,
                    before.values,
                    figure.key
                );
                compared += same;
            }
        }
    }
    assert!(compared > 100, "only {compared} values compared");
}
