//! What is said beside a fit, on the error stream.

use crate::model::{Estimates, Family, Method, Model};
use crate::progress::tell;
use dpglm::central::Route;

/// Beyond this size a coefficient of a column scaled to [-1, 1] is hardly one that the data determine.
const SEPARATED: f64 = 15.0;

/// The optimum of separated classes is at infinity; the search ends somewhere on the way.
pub fn of_separation(model: &Model, estimates: &Estimates, names: &[String]) {
    if !matches!(model.family, Family::Logistic | Family::Multinomial) {
        return;
    }
    if let Some((name, size)) = estimates.largest(model.intercept, names)
        && size > SEPARATED
    {
        tell(&format!(
            "note: the coefficient of `{name}` is beyond {SEPARATED} for the column scaled to [-1, 1]: the data may separate \
             this column's levels; its optimum is at infinity. A --ridge makes it finite"
        ));
    }
}

/// As many coefficients as rows can explain anything. `n` is public.
pub fn warn_of_few_rows(sparsity: Option<usize>, n: usize) {
    if let Some(sparsity) = sparsity
        && sparsity > n
    {
        tell(&format!(
            "warning: --sparsity {sparsity} is more than there are rows ({n}): so few rows cannot determine the fit; give a \
             smaller sparsity or more rows"
        ));
    }
}

/// Which way the default sparse method goes, and why: public numbers decide.
pub fn of_the_route(model: &Model, columns: usize) {
    if model.method == Method::SelectRefine
        && let Some(sparsity) = model.sparse.sparsity
    {
        let method = Method::SelectRefine.name();
        tell(&format!("note: {method}: {}", Route::of(columns, sparsity).reason()));
    }
}
