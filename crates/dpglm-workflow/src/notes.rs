//! What is said beside a result: for the person who asked, never part of an artefact.

use super::model::{Estimates, Method, Model, Ready};
use dpglm::data::{Dataset, Shape};
use dpglm::error::{Message, Parameter};
use dpglm::kernels::weighted_gram;
use dpglm::release::Privacy;
use dpglm_io::{Domain, Encoded};

/// Columns whose correlation is beyond this are told apart by few rows only.
const ALIKE: f64 = 0.995;
/// Pairs of more columns are not looked at.
const MOST_COLUMNS: usize = 300;
/// So many are named; the others are counted.
const NAMED: usize = 5;
/// Beyond this size a coefficient of a column scaled to [-1, 1] is hardly one that the data determine.
const SEPARATED: f64 = 15.0;

/// The optimum of separated classes is at infinity; the search ends somewhere on the way.
pub(crate) fn of_separation(model: &Model, estimates: &Estimates, names: &[String]) -> Option<Message> {
    if !model.family.has_levels() {
        return None;
    }
    let (name, size) = estimates.largest(model.intercept, names)?;
    (size > SEPARATED).then(|| {
        Message::new("note: the coefficient of `{}` is beyond {} for the column scaled to [-1, 1]: the data may separate \
             this column's levels; its optimum is at infinity. A {} makes it finite", &[&name, &SEPARATED, &Parameter::Ridge])
    })
}

/// As many coefficients as rows can explain anything. `n` is public.
pub fn of_few_rows(sparsity: Option<usize>, n: usize) -> Option<Message> {
    let sparsity = sparsity.filter(|&sparsity| sparsity > n)?;
    Some(Message::new(
        "warning: {} {} is more than there are rows ({}): so few rows cannot determine the fit; give a \
         smaller sparsity or more rows",
        &[&Parameter::Sparsity, &sparsity, &n],
    ))
}

/// Which way the default sparse method goes, and why: public numbers decide.
pub(crate) fn of_the_route(model: &Model, shape: Shape, privacy: Privacy) -> Option<Message> {
    let route = model.route(shape, privacy)?;
    let halves = match (model.sparse.split, model.level) {
        (true, Some(_)) => "; by one half of the rows, and the other half is fitted, so that intervals hold",
        (true, None) => "; by one half of the rows, and the other half is fitted",
        _ => "",
    };
    Some(format!("note: {}: {}{halves}", Method::SelectRefine.name(), route.reason()).into())
}

/// Nothing can be determined where there is too little budget per coefficient: a public rule, known beforehand.
pub fn of_undetermined(model: &Model, ready: &Ready) -> Option<Message> {
    (model.level.is_some() && ready.determines_any == Some(false)).then(|| {
        Message::new(
            "note: {}: at this budget no coefficient can be determined, which numbers of rows, columns and epsilon alone tell: \
             there will be no intervals, and the whole budget goes to the prediction. More rows, a larger epsilon or fewer columns help",
            &[&Parameter::Intervals],
        )
    })
}

/// No row has a declared label: most likely the levels are spelt otherwise. A warning for the curator and no refusal: of two tables that
/// differ in one row, one may have a single declared label and the other none, so that a run that stops would tell them apart.
pub(crate) fn of_undeclared_labels(table: &Encoded) -> Option<Message> {
    let target = table.target.as_ref()?;
    if !matches!(target.domain, Domain::Binary(_) | Domain::Category(_)) {
        return None;
    }
    let touched = table.curator.0.iter().find(|touched| touched.column == target.name)?;
    let unlabelled = touched.undeclared + touched.missing;
    (touched.undeclared > 0 && unlabelled == table.rows() as u64).then(|| {
        format!(
            "warning: for the curator, not for publication: no row has a declared level of the target `{}`, so the fit can say nothing of it: \
             compare how the schema spells the levels with the file",
            target.name
        )
        .into()
    })
}

/// Columns of which hardly any row tells: those that never vary, and pairs that are nearly the same. It depends on private cells and
/// is for the curator alone: a coefficient of such a column cannot be determined, whatever the budget.
pub(crate) fn of_columns_alike(data: &Dataset, intercept: bool, names: &[String]) -> Option<Message> {
    let (design, first) = (data.design(), usize::from(intercept));
    let d = design.columns();
    if d > MOST_COLUMNS || names.len() + first != d {
        return None;
    }
    let gram = weighted_gram(design, |_| 1.0);
    let rows = design.rows() as f64;
    let mean = |j: usize| if intercept { gram[j] / rows } else { 0.0 };
    let product = |i: usize, j: usize| gram[i * d + j] / rows - mean(i) * mean(j);
    let is_constant = |j: usize| product(j, j) < 1e-12;
    let of = |j: usize| format!("`{}`", names[j - first]);
    let mut constant = Vec::new();
    let mut alike = Vec::new();
    for i in first..d {
        if is_constant(i) {
            constant.push(of(i));
            continue;
        }
        for j in (i + 1..d).filter(|&j| !is_constant(j)) {
            if product(i, j).powi(2) > ALIKE * ALIKE * product(i, i) * product(j, j) {
                alike.push(format!("{} and {}", of(i), of(j)));
            }
        }
    }
    let listed = |all: Vec<String>| {
        let more = all.len().saturating_sub(NAMED);
        let named = all.into_iter().take(NAMED).collect::<Vec<_>>().join(", ");
        if more > 0 { format!("{named} and {more} more") } else { named }
    };
    let mut parts = Vec::new();
    if !constant.is_empty() {
        parts.push(format!("the same in every row (a level that no row has?): {}", listed(constant)));
    }
    if !alike.is_empty() {
        parts.push(format!("nearly the same column twice: {}", listed(alike)));
    }
    (!parts.is_empty()).then(|| {
        format!(
            "note for the curator, not for publication: {}. Their coefficients cannot be determined: leave columns out, or read \
             only what they do together",
            parts.join("; ")
        )
        .into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dpglm::data::Design;

    #[test]
    fn constant_columns_and_copies_are_named() {
        let names = ["a", "b", "c", "d"].map(str::to_owned);
        let note = |rows: &[[f64; 5]]| {
            let design = Design::from_f64(rows.len(), 5, rows.concat()).unwrap();
            of_columns_alike(&Dataset::new(design, vec![0.0; rows.len()]).unwrap(), true, &names)
        };
        let found =
            note(&[[1.0, 0.5, -0.5, -1.0, 0.1], [1.0, 0.1, -0.1, -1.0, 0.9], [1.0, -0.7, 0.7, -1.0, 0.3]])
                .unwrap()
                .to_string();
        assert!(found.contains("every row (a level that no row has?): `c`"), "{found}");
        assert!(found.contains("twice: `a` and `b`.") && found.contains("for the curator"), "{found}");
        let apart = [
            [1.0, 0.5, -0.5, -1.0, 0.1],
            [1.0, 0.1, 0.4, 1.0, 0.9],
            [1.0, -0.7, 0.7, -1.0, 0.3],
            [1.0, 0.7, 0.9, 0.3, -0.3],
        ];
        assert_eq!(note(&apart), None);
    }
}
