//! Neighbours that try to break the claimed sensitivities of the sparse estimators ([`crate::release::tape`]).

use super::choice::{self, Choice};
use super::dense_attacks::{COLUMNS, privacy, shape, withstands};
use super::start::Start;
use super::{
    DpIht, Glm, Multinomial, NoisyIht, SelectRefine, Selection, SparseMean, SparseMultinomial, WholeGradient,
};
use crate::data::{Dataset, Design};
use crate::error::Result;
use crate::families::Family;
use crate::noise::RandomSource;
use crate::release::{CalibratedPlan, Estimator};
use crate::tuning::TunedSparsity;

/// Attacks a fit of tables with an intercept, of units or of rows, with responses in [0, 1].
fn attack(
    name: &str,
    units: bool,
    fit: impl Fn(&Dataset, &mut RandomSource) -> Result<()> + Clone + 'static,
) {
    withstands(name, 100_000, |tables| {
        let pair = tables.neighbours(true, units, |u| u);
        let (fit, seed) = (fit.clone(), tables.uniform().to_bits());
        Box::new(move |side| {
            fit(&pair[usize::from(side)], &mut RandomSource::insecure_seeded(seed)).expect("fits");
        })
    });
}

fn model(family: Family) -> Glm {
    Glm::new(family, (0.0, 1.0)).expect("valid").with_intercept()
}

#[test]
fn select_refine_withstands_neighbours() {
    // One of three columns is chosen first; of two, all are fitted.
    for (name, units, sparsity) in
        [("rows, chosen", false, 1), ("units, chosen", true, 1), ("rows", false, 2), ("units", true, 2)]
    {
        let sparse = SelectRefine::new(model(Family::logistic()), sparsity).expect("valid");
        for sparse in [sparse.clone(), sparse.nonnegative()] {
            let prepared = sparse.prepare(shape(units), privacy()).expect("valid");
            attack(name, units, move |data, rng| prepared.fit(data, rng).map(drop));
        }
    }
}

/// The votes of sparse rows, with and without a declared sign, whatever their entries are: signed and unsigned ones.
#[test]
fn votes_of_sparse_rows_withstand_neighbours() {
    for (name, nonnegative, signed) in [
        ("sparse rows", false, true),
        ("declared sparse rows", true, true),
        ("declared sparse rows, unsigned", true, false),
    ] {
        let choice = Choice { columns: 1, signed, nonnegative };
        let model = model(Family::logistic());
        let calibration = CalibratedPlan::new(choice::planned(1.0, 1).to_vec(), privacy()).expect("valid");
        withstands(name, 20_000, |tables| {
            let pair = tables.neighbours(true, false, |u| u).map(|data| in_sparse_rows(&data));
            let (model, calibration) = (model.clone(), calibration.clone());
            let start = Start { base: 4.0 * tables.uniform() - 2.0, cap: 0.5 };
            let seed = tables.uniform().to_bits();
            Box::new(move |side| {
                let data = &pair[usize::from(side)];
                let rng = &mut RandomSource::insecure_seeded(seed);
                let response = model.admitted(data);
                let session = &mut calibration.open(rng);
                choice::choose(&model, data, &response, start, choice, |_| true, session).expect("chooses");
            })
        });
    }
}

/// The same rows, stored sparsely.
fn in_sparse_rows(data: &Dataset) -> Dataset {
    let design = data.design();
    let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in 0..design.rows() {
        for (j, x) in design.row(row).enumerate().filter(|(_, x)| *x != 0.0) {
            indices.push(j as u32);
            values.push(x);
        }
        starts.push(indices.len());
    }
    let design =
        Design::from_csr(design.columns(), starts, indices, crate::data::Values::F64(values)).expect("shape");
    Dataset::new(design, data.response().to_vec()).expect("shape")
}

#[test]
fn whole_gradients_withstand_neighbours() {
    let sparse = WholeGradient::new(model(Family::poisson()));
    let prepared = sparse.prepare(shape(true), privacy()).expect("valid");
    attack("median length", true, move |data, rng| prepared.fit(data, rng).map(drop));
    let bounded = WholeGradient::new(model(Family::logistic())).row_norm(0.7).expect("valid");
    let prepared = bounded.prepare(shape(false), privacy()).expect("valid");
    attack("public length", false, move |data, rng| prepared.fit(data, rng).map(drop));
}

#[test]
fn tuned_sparsity_withstands_neighbours() {
    let tuned = TunedSparsity::new(model(Family::logistic()), 2).expect("valid");
    let prepared = tuned.prepare(shape(false), privacy()).expect("valid");
    attack("tuned", false, move |data, rng| prepared.fit(data, rng).map(drop));
}

#[test]
fn noisy_iterative_hard_thresholding_withstands_neighbours() {
    for (name, selection) in [("gumbel", Selection::Gumbel), ("peeling", Selection::Peeling)] {
        let sparse = NoisyIht::new(model(Family::gaussian()), 2, 1.0, selection).expect("valid");
        let prepared = sparse.prepare(shape(false), privacy()).expect("valid");
        attack(name, false, move |data, rng| prepared.fit(data, rng).map(drop));
    }
}

#[test]
fn dp_iht_withstands_neighbours() {
    let sparse = DpIht::new(model(Family::poisson()), 2).expect("valid");
    let prepared = sparse.prepare(shape(true), privacy()).expect("valid");
    attack("median length", true, move |data, rng| prepared.fit(data, rng).map(drop));
    let bounded = DpIht::new(model(Family::logistic()), 2).and_then(|m| m.row_norm(0.7)).expect("valid");
    let prepared = bounded.prepare(shape(false), privacy()).expect("valid");
    attack("public length", false, move |data, rng| prepared.fit(data, rng).map(drop));
}

#[test]
fn the_sparse_multinomial_withstands_neighbours() {
    let sparse =
        SparseMultinomial::new(Multinomial::new(2).expect("valid").with_intercept(), 2).expect("valid");
    let prepared = sparse.prepare(shape(false), privacy()).expect("valid");
    withstands("sparse multinomial", 100_000, |tables| {
        let pair = tables.neighbours(true, false, |u| (2.0 * u).floor());
        let (prepared, seed) = (prepared.clone(), tables.uniform().to_bits());
        Box::new(move |side| {
            let rng = &mut RandomSource::insecure_seeded(seed);
            prepared.fit(&pair[usize::from(side)], rng).expect("fits");
        })
    });
}

#[test]
fn the_sparse_mean_withstands_neighbours() {
    let model =
        SparseMean::new(vec![(-1.0, 2.0); COLUMNS], 2).and_then(|m| m.intervals(0.95)).expect("valid");
    let prepared = model.prepare(shape(false), privacy()).expect("valid");
    withstands("sparse mean", 100_000, |tables| {
        let pair = tables.neighbours(false, false, |u| u);
        let (prepared, seed) = (prepared.clone(), tables.uniform().to_bits());
        Box::new(move |side| {
            let rng = &mut RandomSource::insecure_seeded(seed);
            prepared.fit(pair[usize::from(side)].design(), rng).expect("fits");
        })
    });
}
