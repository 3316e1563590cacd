//! Gaussian noise on a vector of 100,000: exact (ours), exact (opendp), and `rand_distr` over the same generator, which
//! gives no guarantee for the floating-point program.

use divan::{Bencher, black_box};
use dpglm::mechanisms::{GaussianVector, LaplaceVector};
use dpglm::noise::RandomSource;
use opendp::domains::{AtomDomain, VectorDomain};
use opendp::measurements::make_gaussian;
use opendp::measures::ZeroConcentratedDivergence;
use opendp::metrics::L2Distance;
use rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal};

const LENGTH: usize = 100_000;

fn main() {
    divan::main();
}

#[divan::bench]
fn dpglm_gaussian(bencher: Bencher) {
    let mut rng = RandomSource::from_os().expect("random bits");
    let mechanism = GaussianVector::new(1.0, 3.7, LENGTH).expect("valid");
    let values = vec![0.5; LENGTH];
    bencher.bench_local(|| mechanism.release(black_box(&values), &mut rng));
}

#[divan::bench]
fn dpglm_laplace(bencher: Bencher) {
    let mut rng = RandomSource::from_os().expect("random bits");
    let mechanism = LaplaceVector::new(1.0, 3.7, LENGTH).expect("valid");
    let values = vec![0.5; LENGTH];
    bencher.bench_local(|| mechanism.release(black_box(&values), &mut rng));
}

#[divan::bench]
fn rand_distr_gaussian_without_guarantee(bencher: Bencher) {
    let mut rng = chacha20::ChaCha20Rng::from_seed([7; 32]);
    let values = vec![0.5; LENGTH];
    bencher.bench_local(|| -> Vec<f64> {
        black_box(&values)
            .iter()
            .map(|v| {
                let noise: f64 = StandardNormal.sample(&mut rng);
                v + 3.7 * noise
            })
            .collect()
    });
}

#[divan::bench(sample_count = 3, sample_size = 1)]
fn opendp_gaussian(bencher: Bencher) {
    let domain = VectorDomain::new(AtomDomain::<f64>::new_non_nan());
    let mechanism =
        make_gaussian::<_, _, ZeroConcentratedDivergence>(domain, L2Distance::<f64>::default(), 3.7, None)
            .expect("valid");
    let values = vec![0.5; LENGTH];
    bencher.bench_local(|| mechanism.invoke(black_box(&values)));
}
