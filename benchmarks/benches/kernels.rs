//! The passes over the rows beside a loop that only reads them. Compare the bytes a second within one run.
//!
//! `crosscheck/kernel_numpy.py` sets the same figures beside NumPy's two matrix-vector products, and
//! `crosscheck/kernel_scipy.py` those of sparse rows beside SciPy's.

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use dpglm::data::design::Storage;
use dpglm::data::{Design, Values};
use dpglm::kernels::{fused_pass, fused_pass_multi, predict, squared_row_norms, weighted_gram};
use dpglm_benchmarks::read;
use std::path::Path;

fn main() {
    divan::main();
}

#[derive(Clone, Copy, Debug)]
enum Precision {
    Single,
    Double,
}

use Precision::{Double, Single};

type Shape = (Precision, usize, usize);

const SHAPES: [Shape; 7] = [
    (Double, 40_000, 1_000),
    (Single, 40_000, 1_000),
    (Double, 1_000_000, 50),
    (Single, 1_000_000, 50),
    (Double, 4_000, 10_000),
    (Single, 4_000, 10_000),
    (Single, 40_000, 10_000),
];

fn numbers(count: usize) -> impl Iterator<Item = f64> {
    (0..count).map(|i| (i.wrapping_mul(7_919) % 1_009) as f64 / 504.5 - 1.0)
}

fn design((precision, rows, columns): Shape) -> Design {
    let entries = numbers(rows * columns);
    match precision {
        Double => Design::from_f64(rows, columns, entries.collect()),
        Single => Design::from_f32(rows, columns, entries.map(|x| x as f32).collect()),
    }
    .expect("shape")
}

fn bytes((precision, rows, columns): Shape) -> BytesCount {
    BytesCount::new(
        rows * columns
            * match precision {
                Double => 8,
                Single => 4,
            },
    )
}

#[divan::bench(args = SHAPES, sample_count = 40, sample_size = 1)]
fn a_read(bencher: Bencher, shape: Shape) {
    let design = design(shape);
    bencher.counter(bytes(shape)).bench_local(|| match black_box(&design).storage() {
        Storage::F64(x) => read::<f64, 16>(x),
        Storage::F32(x) => read::<f32, 32>(x),
        _ => unreachable!("dense shapes only"),
    });
}

#[divan::bench(args = SHAPES, sample_count = 40, sample_size = 1)]
fn fused_logistic(bencher: Bencher, shape: Shape) {
    let design = design(shape);
    let b: Vec<f64> = numbers(design.columns()).map(|x| x / design.columns() as f64).collect();
    let mut gradient = vec![0.0; design.columns()];
    let residual = |i: usize, u: f64| 1.0 / (1.0 + (-u).exp()) - (i % 2) as f64;
    bencher
        .counter(bytes(shape))
        .bench_local(|| fused_pass(black_box(&design), &b, residual, black_box(&mut gradient)));
}

#[divan::bench(args = SHAPES, sample_count = 40, sample_size = 1)]
fn predictors(bencher: Bencher, shape: Shape) {
    let design = design(shape);
    let b: Vec<f64> = numbers(design.columns()).collect();
    let mut out = vec![0.0; design.rows()];
    bencher.counter(bytes(shape)).bench_local(|| predict(black_box(&design), &b, black_box(&mut out)));
}

#[divan::bench(args = SHAPES, sample_count = 10, sample_size = 1)]
fn row_norms(bencher: Bencher, shape: Shape) {
    let design = design(shape);
    bencher.counter(bytes(shape)).bench_local(|| squared_row_norms(black_box(&design)));
}

#[divan::bench(args = &SHAPES[..4], sample_count = 5, sample_size = 1)]
fn fused_ten_outputs(bencher: Bencher, shape: Shape) {
    let design = design(shape);
    let b: Vec<f64> = numbers(10 * design.columns()).map(|x| x / design.columns() as f64).collect();
    let mut gradient = vec![0.0; 10 * design.columns()];
    let residual = |_: usize, u: &[f64], r: &mut [f64]| r.copy_from_slice(u);
    bencher
        .counter(bytes(shape))
        .bench_local(|| fused_pass_multi(black_box(&design), 10, &b, residual, black_box(&mut gradient)));
}

#[divan::bench(args = &SHAPES[..4], sample_count = 5, sample_size = 1)]
fn gram(bencher: Bencher, shape: Shape) {
    let design = design(shape);
    bencher.counter(bytes(shape)).bench_local(|| weighted_gram(black_box(&design), |_| 0.25));
}

const SPARSE_ROWS: usize = 23_749;
const SPARSE_COLUMNS: usize = 47_236;

/// Where rows begin, the columns of entries and their values.
type Sparse = (Vec<usize>, Vec<u32>, Vec<f64>);

/// Rows of about 75 entries whose columns are frequent in proportion to one over their number, as words are.
/// `crosscheck/kernel_scipy.py` builds the same matrix.
fn simulated() -> Sparse {
    let (mut state, mut offsets, mut indices) = (1_u64, vec![0], Vec::new());
    for _ in 0..SPARSE_ROWS {
        let mut row: Vec<u32> = (0..90)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let uniform = (state >> 40) as f64 / (1_u64 << 24) as f64;
                (SPARSE_COLUMNS as f64).powf(uniform) as u32 - 1
            })
            .collect();
        row.sort_unstable();
        row.dedup();
        indices.extend(row);
        offsets.push(indices.len());
    }
    let values = numbers(indices.len()).collect();
    (offsets, indices, values)
}

/// A matrix of as many columns that `crosscheck/kernel_scipy.py` has written: numbers of eight, four and eight bytes.
fn written(directory: &Path) -> Sparse {
    let bytes = |name: &str| std::fs::read(directory.join(name)).expect("a file of the matrix");
    let (offsets, indices, values) = (bytes("offsets"), bytes("indices"), bytes("values"));
    (
        offsets.as_chunks().0.iter().map(|&x| u64::from_le_bytes(x) as usize).collect(),
        indices.as_chunks().0.iter().map(|&x| u32::from_le_bytes(x)).collect(),
        values.as_chunks().0.iter().map(|&x| f64::from_le_bytes(x)).collect(),
    )
}

/// `DPGLM_SPARSE` names a directory with another matrix than the simulated one.
fn sparse(precision: Precision) -> Design {
    let (offsets, indices, values) = match std::env::var_os("DPGLM_SPARSE") {
        Some(directory) => written(Path::new(&directory)),
        None => simulated(),
    };
    let values = match precision {
        Double => Values::F64(values),
        Single => Values::F32(values.into_iter().map(|x| x as f32).collect()),
    };
    Design::from_csr(SPARSE_COLUMNS, offsets, indices, values).expect("structure")
}

#[divan::bench(args = [Double, Single], sample_count = 100, sample_size = 1)]
fn fused_sparse(bencher: Bencher, precision: Precision) {
    let design = sparse(precision);
    let b: Vec<f64> = numbers(design.columns()).collect();
    let mut gradient = vec![0.0; design.columns()];
    let residual = |i: usize, u: f64| 1.0 / (1.0 + (-u).exp()) - (i % 2) as f64;
    bencher.bench_local(|| fused_pass(black_box(&design), &b, residual, black_box(&mut gradient)));
}
