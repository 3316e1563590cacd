mod exact;

use super::*;
use crate::data::Values;
use dashu_int::IBig;
use dashu_int::ops::Abs;
use std::sync::atomic::{AtomicU32, Ordering};

/// Shapes that leave rows over from a strip, a block and a piece, and columns over from a vector and a tile.
const SHAPES: [(usize, usize); 15] = [
    (1, 1),
    (1, 9),
    (3, 7),
    (7, 8),
    (8, 5),
    (65, 16),
    (257, 17),
    (300, 1),
    (1_021, 3),
    (2_000, 33),
    (130, 1_030),
    (66, 2_049),
    (23, 4_101),
    (20_003, 2),
    (3_000, 50),
];

/// A stream of numbers for the tests: splitmix64.
struct Numbers(u64);

impl Numbers {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform on (-1, 1).
    fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    /// Uniform times a power of two between `2^-span` and `2^span`.
    fn spread(&mut self, span: i32) -> f64 {
        let exponent = (self.bits() % (2 * span as u64 + 1)) as i32 - span;
        self.uniform() * 2.0_f64.powi(exponent)
    }
}

/// The number times `2^OFFSET`, exactly.
const OFFSET: i32 = 1_100;

fn exact(x: f64) -> IBig {
    let bits = x.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i32;
    let fraction = bits & ((1 << 52) - 1);
    let (mantissa, exponent) =
        if exponent == 0 { (fraction, -1_074) } else { (fraction | (1 << 52), exponent - 1_075) };
    let value = IBig::from(mantissa) << (exponent + OFFSET) as usize;
    if x < 0.0 { -value } else { value }
}

/// A sum of products and the sum of their absolute values, exactly.
struct Exact {
    sum: IBig,
    size: IBig,
    scale: usize,
}

impl Exact {
    fn new<const FACTORS: usize>(products: impl Iterator<Item = [f64; FACTORS]>) -> Self {
        let (mut sum, mut size) = (IBig::ZERO, IBig::ZERO);
        for product in products {
            let product: IBig = product.into_iter().map(exact).product();
            size += product.clone().abs();
            sum += product;
        }
        Self { sum, size, scale: (FACTORS - 1) * OFFSET as usize }
    }

    /// Whether `computed` is within `bound` times the sum of absolute values of the sum.
    fn allows(&self, computed: f64, bound: f64) -> bool {
        let error = ((exact(computed) << self.scale) - &self.sum).abs();
        (error << OFFSET as usize) <= &self.size * exact(bound)
    }
}

/// An entry as the product of two doubles.
fn entry(design: &Design, i: usize, j: usize) -> [f64; 2] {
    match design.storage() {
        Storage::I8 { entries, scale } => [f64::from(entries[i * design.columns() + j]), *scale],
        _ => [design.entry(i, j), 1.0],
    }
}

/// One design a storage, with numbers up to `2^span` times larger and smaller than 1. Sparse ones have an empty row and
/// stored zeros.
fn storages(rows: usize, columns: usize, span: i32, numbers: &mut Numbers) -> Vec<Design> {
    let narrow: Vec<f32> = (0..rows * columns).map(|_| numbers.spread(span.min(10)) as f32).collect();
    let wide = (0..rows * columns).map(|_| numbers.spread(span)).collect();
    let bytes = (0..rows * columns).map(|_| numbers.bits() as i8).collect();
    let mut designs = both(rows, columns, narrow).to_vec();
    designs.push(Design::from_f64(rows, columns, wide).expect("shape"));
    designs.push(Design::from_i8(rows, columns, bytes, 0.3).expect("shape"));
    for kind in 0..3 {
        let (mut offsets, mut indices) = (vec![0], Vec::new());
        for row in 0..rows {
            let one_in = [1, 2, 5, columns as u64][row % 4];
            if row != rows / 2 {
                indices.extend((0..columns as u32).filter(|_| numbers.bits().is_multiple_of(one_in)));
            }
            offsets.push(indices.len());
        }
        let mut values: Vec<f64> = indices.iter().map(|_| numbers.spread(span)).collect();
        values.iter_mut().step_by(13).for_each(|x| *x = 0.0);
        let values = match kind {
            0 => Values::F64(values),
            1 => Values::F32(values.into_iter().map(|x| x as f32).collect()),
            _ => Values::Ones,
        };
        designs.push(Design::from_csr(columns, offsets, indices, values).expect("structure"));
    }
    designs
}

/// The same numbers in both storages.
fn both(rows: usize, columns: usize, entries: Vec<f32>) -> [Design; 2] {
    let wide = entries.iter().map(|&x| f64::from(x)).collect();
    [
        Design::from_f64(rows, columns, wide).expect("shape"),
        Design::from_f32(rows, columns, entries).expect("shape"),
    ]
}

fn gradient_at(level: Level, design: &Design, residuals: &[f64]) -> Vec<f64> {
    partial_at(level, design, residuals, &Grid::none(design.columns())).values()
}

fn partial_at(level: Level, design: &Design, residuals: &[f64], grid: &Grid) -> Partial {
    let zeros = vec![0.0; design.columns()];
    let residual = |i: usize, _: &[f64], r: &mut [f64]| r[0] = residuals[i];
    exact_pass_at(level, design, 1, &zeros, grid, &residual)
}

fn error_of(design: &Design, rows: usize) -> f64 {
    plain_error(rows, !design.is_dense())
}

fn bits(x: &[f64]) -> Vec<u64> {
    x.iter().map(|x| x.to_bits()).collect()
}

#[test]
fn plain_sums_are_within_their_bound() {
    let mut numbers = Numbers(1);
    for (rows, columns) in SHAPES {
        // Wide magnitudes; nearly all cancels; sorted up; sorted down.
        let mut terms: Vec<f64> = (0..rows).map(|_| numbers.spread(60)).collect();
        let cancelling: Vec<f64> =
            (0..rows).map(|i| if i % 2 == 0 { 1e15 } else { -1e15 } + numbers.uniform()).collect();
        let wide = terms.clone();
        terms.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
        let falling = terms.iter().rev().copied().collect();
        let positive = terms.iter().map(|x| x.abs()).collect();
        for residuals in [wide, cancelling, terms, falling, positive] {
            for design in storages(rows, columns, 40, &mut numbers) {
                let score = |i: usize| residuals[i];
                let none = Grid::none(columns);
                let levels = Level::available().into_iter();
                let gradients: Vec<_> = levels
                    .flat_map(|level| {
                        let scores = column_scores_at(level, &design, &score, Map::Identity, &none).values();
                        [gradient_at(level, &design, &residuals), scores]
                    })
                    .collect();
                let signs = column_scores(&design, score, Map::Sign, &none).values();
                let clamped = column_scores(&design, score, Map::Clamped(2), &none).values();
                let present = column_scores(&design, score, Map::Present, &none).values();
                for j in (0..columns).step_by(1 + columns / 4) {
                    let terms = (0..rows).map(|i| {
                        let [x, scale] = entry(&design, i, j);
                        [residuals[i], x, scale]
                    });
                    let exact = Exact::new(terms.clone());
                    for gradient in &gradients {
                        let allowed = exact.allows(gradient[j], error_of(&design, rows));
                        assert!(allowed, "{rows} x {columns}, column {j}, {design:?}");
                    }
                    let sign = |x: f64| if x == 0.0 { 0.0 } else { x.signum() };
                    let exact = Exact::new(terms.clone().map(|[r, x, _]| [r, sign(x)]));
                    let allowed = exact.allows(signs[j], error_of(&design, rows));
                    assert!(allowed, "{rows} x {columns}, signs of column {j}, {design:?}");
                    let exact = Exact::new(terms.clone().map(|[r, x, _]| [r, f64::from(u8::from(x > 0.0))]));
                    let allowed = exact.allows(present[j], error_of(&design, rows));
                    assert!(allowed, "{rows} x {columns}, present entries of column {j}, {design:?}");
                    let clamp =
                        |x: f64| if design.can_be_centred() { (4.0 * x).clamp(-1.0, 1.0) } else { sign(x) };
                    let exact = Exact::new(terms.map(|[r, x, _]| [r, clamp(x)]));
                    let allowed = exact.allows(clamped[j], error_of(&design, rows));
                    assert!(allowed, "{rows} x {columns}, clamped column {j}, {design:?}");
                }
            }
        }
    }
}

#[test]
fn scores_are_gradients_that_ignore_the_predictor() {
    let mut numbers = Numbers(7);
    for (rows, columns) in SHAPES {
        let residuals: Vec<f64> = (0..rows).map(|_| numbers.uniform()).collect();
        for design in storages(rows, columns, 3, &mut numbers) {
            let scores =
                column_scores(&design, |i| residuals[i], Map::Identity, &Grid::none(columns)).values();
            assert_eq!(bits(&scores), bits(&gradient_at(Level::best(), &design, &residuals)));
        }
    }
    let parts = |entries: &[f64], map: Map| {
        let design = Design::from_f64(1, entries.len(), entries.to_vec()).expect("shape");
        column_scores(&design, |_| 2.5, map, &Grid::none(entries.len())).values()
    };
    assert_eq!(parts(&[-0.0, 0.0, -5e-324, 1e30, -7.0], Map::Sign), [0.0, 0.0, -2.5, 2.5, -2.5]);
    assert_eq!(parts(&[0.0, 0.1, -0.125, 0.3, -1e30], Map::Clamped(2)), [0.0, 1.0, -1.25, 2.5, -2.5]);
    assert_eq!(parts(&[-0.0, 0.0, -0.5, 5e-324, 1e30], Map::Present), [0.0, 0.0, 0.0, 2.5, 2.5]);
}

#[test]
fn many_sparse_rows_stay_within_the_bound() {
    // On several pieces, in two columns: one always there, one seldom.
    let rows = 200_000;
    let mut numbers = Numbers(8);
    let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in 0..rows {
        indices.push(0);
        values.push(numbers.spread(20));
        if row % 1_000 == 7 {
            indices.push(1);
            values.push(1e15);
        }
        offsets.push(indices.len());
    }
    let design = Design::from_csr(2, offsets, indices, Values::F64(values)).expect("structure");
    let residuals: Vec<f64> = (0..rows).map(|_| numbers.spread(20)).collect();
    for level in Level::available() {
        let gradient = gradient_at(level, &design, &residuals);
        for (j, &computed) in gradient.iter().enumerate() {
            let exact = Exact::new((0..rows).map(|i| [residuals[i], design.entry(i, j)]));
            assert!(exact.allows(computed, error_of(&design, rows)));
        }
    }
}

#[test]
fn many_entries_with_narrow_indices() {
    // Enough entries that columns take two bytes, in several pieces; column 0 in every row, others ever more seldom.
    let (rows, columns) = (8_000, 60_000_usize);
    let mut numbers = Numbers(11);
    let (mut offsets, mut indices) = (vec![0], Vec::new());
    for _ in 0..rows {
        let mut row: Vec<u32> =
            (0..40).map(|_| (columns as f64).powf(numbers.uniform().abs()) as u32 - 1).collect();
        row.extend([0, columns as u32 - 1]);
        row.sort_unstable();
        row.dedup();
        indices.extend(row);
        offsets.push(indices.len());
    }
    let values: Vec<f64> = indices.iter().map(|_| numbers.spread(20)).collect();
    let residuals: Vec<f64> = (0..rows).map(|_| numbers.spread(20)).collect();
    let design = Design::from_csr(columns, offsets, indices, Values::F64(values)).expect("structure");
    let Storage::Csr(csr) = design.storage() else { panic!("sparse") };
    assert!(matches!(csr.columns().indices(), crate::data::csr::Indices::Narrow(_)));
    let some = [0, 1, 2, 5, 50, 1_000, 8_191, 30_000, columns - 1];
    let exact = some.map(|j| Exact::new((0..rows).map(|i| [residuals[i], design.entry(i, j)])));
    for level in Level::available() {
        let gradient = gradient_at(level, &design, &residuals);
        for (j, exact) in some.into_iter().zip(&exact) {
            assert!(exact.allows(gradient[j], error_of(&design, rows)), "column {j}");
        }
        // Two outputs, beside one at a time.
        let b: Vec<f64> = (0..2 * columns).map(|_| numbers.uniform()).collect();
        let none = Grid::none(columns);
        let clip = |u: f64| u.clamp(-1.0, 1.0);
        let pair = |_: usize, u: &[f64], r: &mut [f64]| (r[0], r[1]) = (clip(u[0]), clip(u[1]));
        let both = exact_pass_at(level, &design, 2, &b, &none, &pair).values();
        for (b, both) in b.chunks_exact(columns).zip(both.chunks_exact(columns)) {
            let one = |_: usize, u: &[f64], r: &mut [f64]| r[0] = clip(u[0]);
            let alone = exact_pass_at(level, &design, 1, b, &none, &one).values();
            // The pieces may be others, hence the roundings.
            assert!(both.iter().zip(&alone).all(|(a, b)| (a - b).abs() <= 1e-13 * (1e6 + b.abs())));
        }
    }
    let (mut u, b) = (vec![0.0; rows], vec![1.0; columns]);
    predict(&design, &b, &mut u);
    let norms = squared_row_norms(&design);
    for i in [0, 17, rows - 1] {
        let row: Vec<f64> = csr.row(i).map(|(_, x)| x).collect();
        let (sum, size) = (row.iter().sum::<f64>(), row.iter().map(|x| x.abs()).sum::<f64>());
        assert!((u[i] - sum).abs() <= 1e-14 * size);
        assert!(norms[i] >= row.iter().map(|x| x * x).sum::<f64>() * (1.0 - 1e-14));
    }
}

#[test]
fn sparse_and_dense_rows_agree() {
    let mut numbers = Numbers(9);
    for (rows, columns) in SHAPES {
        for design in storages(rows, columns, 0, &mut numbers).split_off(3) {
            let chosen: Vec<usize> = (0..columns).collect();
            let entries = (0..rows).flat_map(|i| design.row(i).collect::<Vec<_>>()).collect();
            let dense = Design::from_f64(rows, columns, entries).expect("shape");
            let b: Vec<f64> = (0..columns).map(|_| numbers.uniform()).collect();
            let (mut u, mut v) = (vec![0.0; rows], vec![0.0; rows]);
            predict(&design, &b, &mut u);
            predict(&design.select_columns(&chosen).expect("columns"), &b, &mut v);
            // The largest byte is 128 times the scale of 0.3.
            let close = |a: &[f64], b: &[f64], size: f64| {
                a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-15 * 40.0 * size)
            };
            assert!(close(&u, &v, columns as f64));
            predict(&dense, &b, &mut v);
            assert!(close(&u, &v, columns as f64));
            let (mut g, mut h) = (vec![0.0; 2 * columns], vec![0.0; 2 * columns]);
            let b = [b.clone(), b].concat();
            let residual = |i: usize, u: &[f64], r: &mut [f64]| {
                r[0] = (u[0] / 40.0).tanh();
                r[1] = (i % 3) as f64 - r[0];
            };
            fused_pass_multi(&design, 2, &b, residual, &mut g);
            fused_pass_multi(&dense, 2, &b, residual, &mut h);
            assert!(close(&g, &h, 100.0 * (rows * columns) as f64), "{rows} x {columns}");
        }
    }
}

#[test]
fn designs_of_zeros() {
    for (rows, columns) in [(1, 1), (3, 9), (700, 2)] {
        let offsets = vec![0; rows + 1];
        let designs = [
            Design::from_f64(rows, columns, vec![-0.0; rows * columns]).expect("shape"),
            Design::from_i8(rows, columns, vec![0; rows * columns], 2.0).expect("shape"),
            Design::from_csr(columns, offsets.clone(), vec![], Values::F64(vec![])).expect("structure"),
            Design::from_csr(columns, offsets.clone(), vec![], Values::F32(vec![])).expect("structure"),
            Design::from_csr(columns, offsets, vec![], Values::Ones).expect("structure"),
        ];
        for design in designs {
            let mut gradient = vec![f64::NAN; columns];
            fused_pass(&design, &vec![3.0; columns], |_, u| u + 1.0, &mut gradient);
            assert!(gradient.iter().all(|&g| g == 0.0));
            assert!(squared_row_norms(&design).iter().all(|&n| n == 0.0));
            assert!(weighted_gram(&design, |_| 1.0).iter().all(|&g| g == 0.0));
            let signs = column_scores(&design, |_| 1.0, Map::Sign, &Grid::uniform(columns, 1.0)).values();
            assert!(signs.iter().all(|&s| s == 0.0));
            let mut predictors = vec![f64::NAN; rows];
            predict(&design, &vec![3.0; columns], &mut predictors);
            assert!(predictors.iter().all(|&u| u == 0.0));
        }
    }
}

#[test]
fn a_running_sum_breaks_the_bound() {
    let rows = 1_000_000;
    let design = Design::from_f64(rows, 1, vec![0.1; rows]).expect("shape");
    let exact = Exact::new((0..rows).map(|_| [1.0, 0.1]));
    let running: f64 = (0..rows).map(|_| 0.1).sum();
    assert!(!exact.allows(running, plain_error(rows, false)));
    let found = gradient_at(Level::best(), &design, &vec![1.0; rows])[0];
    assert!(exact.allows(found, plain_error(rows, false)));
}

#[test]
fn the_bound_grows_with_the_rows_and_stays_small() {
    let bounds: Vec<f64> = (0..36).map(|k| plain_error(1 << k, false)).collect();
    assert!(bounds.is_sorted());
    assert!(bounds[0] >= f64::EPSILON / 2.0 && bounds[30] < 1e-14);
    assert!(gram_error(1 << 30) < 4e-14 && plain_error(1 << 30, true) < 4e-12);
}

#[test]
fn every_run_processor_and_storage_returns_the_same_bits() {
    let mut numbers = Numbers(2);
    for (rows, columns) in SHAPES {
        let entries: Vec<f32> = (0..rows * columns).map(|_| numbers.uniform() as f32).collect();
        let [wide, narrow] = both(rows, columns, entries);
        let b: Vec<f64> = (0..2 * columns).map(|_| numbers.uniform()).collect();
        let run = |level, design: &Design| {
            let residual = |i: usize, u: &[f64], r: &mut [f64]| {
                r[0] = u[0] - (i % 3) as f64;
                r[1] = (u[0] * u[1]).sin();
            };
            let none = Grid::none(columns);
            let gradient = exact_pass_at(level, design, 2, &b, &none, &residual).values();
            let gram = if columns < 100 {
                let weight = |i: usize, w: &mut [f64]| w[0] = (i % 7) as f64 / 7.0;
                weighted_grams_at(level, design, 1, &none, &weight).values()
            } else {
                Vec::new()
            };
            let centre = vec![if design.can_be_centred() { 0.1 } else { 0.0 }; columns];
            let norms = squared_row_norms_at(level, design, &centre, &vec![1.0; columns]);
            [bits(&gradient), bits(&gram), bits(&norms)].concat()
        };
        let expected = run(Level::best(), &wide);
        for level in Level::available() {
            for design in [&wide, &narrow, &narrow] {
                assert!(run(level, design) == expected, "{rows} x {columns}");
            }
        }
    }
}

#[test]
fn every_row_is_asked_for_once_with_its_predictor() {
    let mut numbers = Numbers(3);
    for (rows, columns) in SHAPES {
        for design in storages(rows, columns, 0, &mut numbers) {
            let b: Vec<f64> = (0..columns).map(|_| numbers.uniform()).collect();
            let mut predictors = vec![f64::NAN; rows];
            predict(&design, &b, &mut predictors);
            for (i, &predictor) in predictors.iter().enumerate().step_by(1 + rows / 100) {
                let exact: f64 = design.row(i).zip(&b).map(|(x, b)| x * b).sum();
                let size: f64 = design.row(i).zip(&b).map(|(x, b)| (x * b).abs()).sum();
                assert!(
                    (predictor - exact).abs() <= 1e-15 * columns as f64 * size,
                    "{rows} x {columns}, row {i}"
                );
            }
            let asked: Vec<AtomicU32> = (0..rows).map(|_| AtomicU32::new(0)).collect();
            let mut gradient = vec![f64::NAN; columns];
            let residual = |i: usize, u: f64| {
                asked[i].fetch_add(1, Ordering::Relaxed);
                assert_eq!(u.to_bits(), predictors[i].to_bits());
                predictors[i]
            };
            fused_pass(&design, &b, residual, &mut gradient);
            assert!(asked.iter().all(|count| count.load(Ordering::Relaxed) == 1));
            assert_eq!(bits(&gradient), bits(&gradient_at(Level::best(), &design, &predictors)));
        }
    }
}

#[test]
fn several_outputs_equal_one_at_a_time() {
    let mut numbers = Numbers(4);
    for (rows, columns) in [(1, 1), (21, 13), (700, 40), (3_000, 129), (70, 4_097)] {
        let entries: Vec<f32> = (0..rows * columns).map(|_| numbers.uniform() as f32).collect();
        let design = Design::from_f32(rows, columns, entries).expect("shape");
        for outputs in [1, 2, 5] {
            let b: Vec<f64> = (0..outputs * columns).map(|_| numbers.uniform()).collect();
            let mut together = vec![0.0; outputs * columns];
            let residuals = |_: usize, u: &[f64], r: &mut [f64]| {
                for (r, u) in r.iter_mut().zip(u) {
                    *r = u.tanh();
                }
            };
            fused_pass_multi(&design, outputs, &b, residuals, &mut together);
            for (b, together) in b.chunks(columns).zip(together.chunks(columns)) {
                let mut alone = vec![0.0; columns];
                fused_pass(&design, b, |_, u| u.tanh(), &mut alone);
                assert_eq!(bits(together), bits(&alone));
            }
        }
    }
    let design = Design::from_f64(2, 1, vec![1.0, 2.0]).expect("shape");
    fused_pass_multi(&design, 0, &[], |_, _, _| panic!("nothing to ask for"), &mut []);
}

#[test]
fn row_norms_are_never_below_the_exact_value() {
    let mut numbers = Numbers(5);
    for (rows, columns) in SHAPES {
        for (span, scale) in [(0, 1.0), (30, 1.0), (500, 1.0), (10, 2.0_f64.powi(-530))] {
            let entries: Vec<f64> = (0..rows * columns).map(|_| numbers.spread(span) * scale).collect();
            let mut designs = storages(rows, columns, span.min(90), &mut numbers);
            designs.push(Design::from_f64(rows, columns, entries).expect("shape"));
            let ones = vec![1.0; columns];
            // With entries up to 1e30 no square overflows.
            let multipliers: Vec<f64> = (0..columns).map(|_| numbers.spread(span.min(300)) * scale).collect();
            for multipliers in [ones, multipliers] {
                for (design, level) in
                    designs.iter().flat_map(|d| Level::available().into_iter().map(move |l| (d, l)))
                {
                    // A centre of a third of an entry leaves a difference to round.
                    let centre: Vec<f64> = (0..columns)
                        .map(|j| {
                            let centred = design.can_be_centred() && j % 3 != 0;
                            if centred { entry(design, 0, j)[0] / 3.0 } else { 0.0 }
                        })
                        .collect();
                    let norms = squared_row_norms_at(level, design, &centre, &multipliers);
                    for (i, &norm) in norms.iter().enumerate().step_by(1 + rows / 5) {
                        let square = |j: usize| {
                            let [x, scale] = entry(design, i, j);
                            let moved = exact(x) - exact(centre[j]);
                            (moved * exact(scale) * exact(multipliers[j])).pow(2)
                        };
                        let squares: IBig = (0..columns).map(square).sum();
                        let above = (exact(norm) << (5 * OFFSET as usize)) - &squares;
                        assert!(above >= IBig::ZERO, "{rows} x {columns}, row {i}, {design:?}");
                        let slack = f64::EPSILON * (columns as f64 / 5.0 + 28.0);
                        let allowed =
                            squares * exact(slack) + (exact(f64::MIN_POSITIVE) << (6 * OFFSET as usize)) * 2;
                        assert!(
                            (above << OFFSET as usize) <= allowed,
                            "{rows} x {columns}, row {i}: too far above"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn row_norms_at_the_edges() {
    let norms =
        |row: &[f64]| squared_row_norms(&Design::from_f64(1, row.len(), row.to_vec()).expect("shape"))[0];
    assert_eq!(norms(&[0.0; 11]), 0.0);
    assert!(norms(&[0.0, 5e-324, 0.0]) > 0.0);
    assert!(norms(&[1e30, -1e30]) >= 2e60);
    assert!(norms(&[1.0]) >= 1.0 && norms(&[1.0]) < 1.0 + 1e-14);
    let design = Design::from_f64(1, 2, vec![3.0, 1e30]).expect("shape");
    let scaled = |scale: [f64; 2]| squared_row_norms_from(&design, &[0.0; 2], &scale)[0];
    assert!(scaled([-2.0, 0.0]) >= 36.0 && scaled([-2.0, 0.0]) < 36.0 + 1e-12);
    assert_eq!(scaled([0.0, 0.0]), 0.0);
    assert!(scaled([5e-324, 0.0]) > 0.0);
}

#[test]
#[should_panic(expected = "scale: finite")]
fn an_infinite_scale_is_refused() {
    let design = Design::from_f64(1, 1, vec![0.0]).expect("shape");
    squared_row_norms_from(&design, &[0.0], &[f64::INFINITY]);
}

#[test]
fn the_gram_matrix_is_symmetric_and_within_its_bound() {
    let mut numbers = Numbers(6);
    for (rows, columns) in [(1, 1), (3, 5), (257, 6), (600, 8), (300, 17), (70, 97), (4_000, 3), (40, 203)] {
        let weights: Vec<f64> = (0..rows).map(|_| numbers.spread(12)).collect();
        for design in storages(rows, columns, 12, &mut numbers) {
            let grams: Vec<_> = Level::available()
                .into_iter()
                .map(|level| {
                    // The second of three weightings is as it would be alone.
                    let three = |i: usize, w: &mut [f64]| w.copy_from_slice(&[1.0, weights[i], -weights[i]]);
                    let none = Grid::none(columns);
                    let grams = weighted_grams_at(level, &design, 3, &none, &three).values();
                    let [ones, gram, minus] =
                        [0, 1, 2].map(|k| &grams[k * columns * columns..][..columns * columns]);
                    assert!(gram.iter().zip(minus).all(|(g, m)| *g == -*m));
                    let one = |_: usize, w: &mut [f64]| w[0] = 1.0;
                    let alone = weighted_grams_at(level, &design, 1, &none, &one).values();
                    assert!(rows > 3_000 || bits(ones) == bits(&alone));
                    gram.to_vec()
                })
                .collect();
            for gram in &grams {
                for j in 0..columns {
                    for k in 0..columns {
                        assert_eq!(gram[j * columns + k].to_bits(), gram[k * columns + j].to_bits());
                    }
                }
            }
            for (j, k) in (0..15).map(|t| ((t * 31) % columns, (t * 53 + 7) % columns)) {
                let exact = Exact::new((0..rows).map(|i| {
                    let ([x, scale], [z, other]) = (entry(&design, i, j), entry(&design, i, k));
                    [weights[i], x, scale, z, other]
                }));
                for gram in &grams {
                    let allowed = exact.allows(gram[j * columns + k], gram_error(rows));
                    assert!(allowed, "{rows} x {columns}, entry {j}, {k}");
                }
            }
        }
    }
}

#[test]
#[should_panic(expected = "coefficients: one for each")]
fn a_wrong_length_is_refused() {
    let design = Design::from_f64(2, 2, vec![1.0; 4]).expect("shape");
    fused_pass(&design, &[0.0], |_, u| u, &mut [0.0; 2]);
}
