//! Sums on a grid: exact, whatever is cut and in whichever order parts are merged.

use super::*;

/// The number rounded to a multiple of `step`, a power of two, in units of it.
fn in_steps(numerator: &IBig, step: &IBig) -> IBig {
    let twice: IBig = numerator * IBig::from(2) + step;
    let divisor: IBig = step * IBig::from(2);
    // Floored division.
    let (quotient, rest) = (&twice / &divisor, &twice % &divisor);
    if rest < IBig::ZERO { quotient - IBig::ONE } else { quotient }
}

/// Each part is rounded to the nearest multiple of the step, and the sum is exactly that of the rounded parts.
#[test]
fn a_sum_is_that_of_its_rounded_parts() {
    let mut numbers = Numbers(31);
    for (rows, columns) in [(1, 3), (700, 5), (300, 17), (40_000, 2)] {
        let residuals: Vec<f64> = (0..rows).map(|_| numbers.uniform()).collect();
        for design in storages(rows, columns, 0, &mut numbers) {
            let (sparse, scale) = kind(&design);
            let grid = Grid::uniform(columns, 40.0);
            let start = grid.starts(sparse, scale)[0];
            let step = exact(start / 1.5 * 2f64.powi(-52)) << OFFSET as usize;
            let sums = partial_at(Level::best(), &design, &residuals, &grid).values();
            for (j, &sum) in sums.iter().enumerate() {
                let part = |i: usize| {
                    let r = f64::from_bits(residuals[i].to_bits() | 1);
                    in_steps(&(exact(r) * exact(entry(&design, i, j)[0])), &step)
                };
                let steps: IBig = (0..rows).map(part).sum();
                // Below 2^53 steps, so that nothing is rounded at the end but the scale.
                let wanted =
                    f64::try_from(steps).expect("few steps") * (start / 1.5 * 2f64.powi(-52)) * scale;
                assert_eq!(sum.to_bits(), wanted.to_bits(), "{rows} x {columns}, column {j}, {design:?}");
            }
        }
    }
}

/// Some rows of a design.
fn cut(design: &Design, rows: std::ops::Range<usize>) -> Design {
    let columns = design.columns();
    let dense = rows.start * columns..rows.end * columns;
    match design.storage() {
        Storage::F64(x) => Design::from_f64(rows.len(), columns, x[dense].to_vec()),
        Storage::F32(x) => Design::from_f32(rows.len(), columns, x[dense].to_vec()),
        Storage::I8 { entries, scale } => {
            Design::from_i8(rows.len(), columns, entries[dense].to_vec(), *scale)
        }
        Storage::Csr(x) => {
            let entries = x.offsets()[rows.start]..x.offsets()[rows.end];
            let offsets = x.offsets()[rows.start..=rows.end].iter().map(|o| o - entries.start).collect();
            let indices = entries.clone().map(|k| x.column(k) as u32).collect();
            let values = match x.values() {
                Values::F64(v) => Values::F64(v[entries].to_vec()),
                Values::F32(v) => Values::F32(v[entries].to_vec()),
                Values::Ones => Values::Ones,
            };
            Design::from_csr(columns, offsets, indices, values)
        }
    }
    .expect("rows of a design")
}

/// A table cut into parts, whose sums are merged in a random order, has the bits of the whole: scores of two outputs at given
/// coefficients, column scores, products.
#[test]
fn parts_of_a_table_merge_to_the_whole() {
    let mut numbers = Numbers(32);
    for (rows, columns) in [(64, 3), (1_000, 9), (3_001, 33), (200, 600), (70_000, 2)] {
        for design in storages(rows, columns, 0, &mut numbers) {
            let b: Vec<f64> = (0..2 * columns).map(|_| numbers.uniform()).collect();
            let target: Vec<f64> = (0..rows).map(|_| numbers.uniform()).collect();
            // Entries are at most 1, or 128 times a scale of 0.3.
            let grid = Grid::of_columns((0..columns).map(|j| 40.0 * (1.0 + j as f64)));
            let passes = |design: &Design, first: usize| {
                let score = |row: usize, u: &[f64], out: &mut [f64]| {
                    out[0] = (u[0] - target[first + row]).tanh();
                    out[1] = (u[0] + u[1]).cos();
                };
                let scores = exact_pass(design, 2, &b, &grid, score);
                let columns = column_scores(design, |row| target[first + row], Map::Clamped(2), &grid);
                let products = (design.columns() < 100).then(|| {
                    weighted_grams(design, 2, &grid, |row, out| {
                        out.copy_from_slice(&[target[first + row].abs(), 1.0]);
                    })
                });
                [Some(scores), Some(columns), products]
            };
            let whole = passes(&design, 0);
            for parts in [7_usize, 64] {
                // Parts of any length, none of them empty.
                let mut cuts: Vec<usize> = (1..parts).map(|k| k * rows / parts).collect();
                cuts.iter_mut().for_each(|c| *c = (*c + (numbers.bits() % 3) as usize).clamp(1, rows - 1));
                cuts.extend([0, rows]);
                cuts.sort_unstable();
                cuts.dedup();
                let mut found: Vec<_> =
                    cuts.windows(2).map(|ends| passes(&cut(&design, ends[0]..ends[1]), ends[0])).collect();
                for k in (1..found.len()).rev() {
                    found.swap(k, (numbers.bits() % (k as u64 + 1)) as usize);
                }
                let mut merged = found.swap_remove(0);
                for part in &found {
                    for (merged, part) in merged.iter_mut().zip(part) {
                        if let (Some(merged), Some(part)) = (merged, part) {
                            assert!(merged.merge(part));
                        }
                    }
                }
                for (merged, whole) in merged.iter().zip(&whole) {
                    assert_eq!(merged, whole, "{rows} x {columns} in {parts} parts, {design:?}");
                }
            }
        }
    }
}

/// The twin without a grid: plain sums depend on where the table is cut.
#[test]
fn plain_sums_depend_on_the_cuts() {
    let mut numbers = Numbers(33);
    let design = Design::from_f64(3_000, 8, (0..24_000).map(|_| numbers.uniform()).collect()).expect("shape");
    let residuals: Vec<f64> = (0..3_000).map(|_| numbers.uniform()).collect();
    let sums = |grid: &Grid| {
        let mut merged = partial_at(Level::best(), &cut(&design, 0..1_003), &residuals, grid);
        assert!(merged.merge(&partial_at(
            Level::best(),
            &cut(&design, 1_003..3_000),
            &residuals[1_003..],
            grid
        )));
        (merged.values(), partial_at(Level::best(), &design, &residuals, grid).values())
    };
    let (merged, whole) = sums(&Grid::none(8));
    assert_ne!(bits(&merged), bits(&whole));
    let (merged, whole) = sums(&Grid::uniform(8, 1.0));
    assert_eq!(bits(&merged), bits(&whole));
}

/// Parts half way between two multiples of the step do not let the sum's last bit decide.
#[test]
fn ties_do_not_depend_on_the_sum() {
    let step = 2f64.powi(-42);
    // With a bound of 1, entries of one and a half and two and a half steps.
    let halves = [1.5 * step, 2.5 * step, 0.5 * step, -0.5 * step, 3.5 * step];
    let sum = |order: &[usize]| {
        let entries = order.iter().map(|&k| halves[k]).collect();
        let design = Design::from_f64(order.len(), 1, entries).expect("shape");
        partial_at(Level::best(), &design, &vec![1.0; order.len()], &Grid::uniform(1, 1.0)).values()[0]
    };
    let expected = sum(&[0, 1, 2, 3, 4]);
    for order in [[4, 3, 2, 1, 0], [1, 0, 3, 2, 4], [2, 4, 0, 3, 1]] {
        assert_eq!(sum(&order).to_bits(), expected.to_bits());
    }
}

/// Bounds are rounded up to powers of two and kept where steps are normal numbers.
#[test]
fn grids_follow_their_bounds() {
    let starts = |bound: f64| Grid::uniform(1, bound).starts(false, 1.0)[0];
    assert_eq!(starts(1.0), 1536.0);
    assert_eq!(starts(1.0 + f64::EPSILON), 3072.0);
    assert_eq!(starts(0.75), 1536.0);
    for bound in [0.0, 1e-320, 1e300, f64::INFINITY] {
        assert!(starts(bound).is_normal());
    }
    assert_eq!(Grid::none(1).starts(true, 3.0), [0.0]);
}

/// The moments of columns, clamped, of parts of a table add up too.
#[test]
fn moments_of_columns_are_exact() {
    let mut numbers = Numbers(34);
    for design in storages(2_003, 7, 1, &mut numbers) {
        let weights: Vec<f64> = (0..2_003).map(|_| numbers.uniform().abs()).collect();
        let whole = column_sums(&design, |row| weights[row]);
        let mut sums = vec![IBig::ZERO; 14];
        let step = exact(2f64.powi(-42));
        for (row, w) in weights.iter().enumerate() {
            for (j, x) in design.row(row).enumerate() {
                let z = x.clamp(-1.0, 1.0);
                for (k, part) in [(j, w * z), (7 + j, w * z * z)] {
                    let odd = f64::from_bits(part.to_bits() | 1);
                    sums[k] += in_steps(&exact(odd), &step);
                }
            }
        }
        for (found, steps) in whole.sums.values().into_iter().zip(sums) {
            let wanted = f64::try_from(steps).expect("few steps") * 2f64.powi(-42);
            assert_eq!(found.to_bits(), wanted.to_bits(), "{design:?}");
        }
    }
}
