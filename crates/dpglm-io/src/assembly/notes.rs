//! What is said beside a result: for the person who asked, never part of an artefact.

use super::model::{Estimates, Family, Method, Model, Ready};
use dpglm::central::Route;

/// Beyond this size a coefficient of a column scaled to [-1, 1] is hardly one that the data determine.
const SEPARATED: f64 = 15.0;

/// The optimum of separated classes is at infinity; the search ends somewhere on the way.
pub fn of_separation(model: &Model, estimates: &Estimates, names: &[String]) -> Option<String> {
    if !matches!(model.family, Family::Logistic | Family::Multinomial) {
        return None;
    }
    let (name, size) = estimates.largest(model.intercept, names)?;
    (size > SEPARATED).then(|| {
        format!(
            "note: the coefficient of `{name}` is beyond {SEPARATED} for the column scaled to [-1, 1]: the data may separate \
             this column's levels; its optimum is at infinity. A --ridge makes it finite"
        )
    })
}

/// As many coefficients as rows can explain anything. `n` is public.
pub fn of_few_rows(sparsity: Option<usize>, n: usize) -> Option<String> {
    let sparsity = sparsity.filter(|&sparsity| sparsity > n)?;
    Some(format!(
        "warning: --sparsity {sparsity} is more than there are rows ({n}): so few rows cannot determine the fit; give a \
         smaller sparsity or more rows"
    ))
}

/// Which way the default sparse method goes, and why: public numbers decide.
pub fn of_the_route(model: &Model, columns: usize) -> Option<String> {
    let sparsity = model.sparse.sparsity.filter(|_| model.method == Method::SelectRefine)?;
    Some(format!("note: {}: {}", Method::SelectRefine.name(), Route::of(columns, sparsity).reason()))
}

/// Nothing can be determined where there is too little budget per coefficient: a public rule, known beforehand.
pub fn of_undetermined(model: &Model, ready: &Ready) -> Option<String> {
    let Ready::Regression(prepared) = ready else { return None };
    (model.level.is_some() && !prepared.determines_any()).then(|| {
        "note: --intervals: at this budget no coefficient can be determined, which numbers of rows, columns and epsilon alone tell: \
         there will be no intervals, and the whole budget goes to the prediction. More rows, a larger epsilon or fewer columns help"
            .to_owned()
    })
}
