//! Combinations of coefficients: `sex=Male - 2 * age`.

use super::{Block, p_value};
use crate::failure::Failure;
use nalgebra::DVector;
use serde::Serialize;

/// A combination of coefficients.
#[derive(Debug, Clone, Serialize)]
pub struct Contrast {
    /// As it was written.
    pub expression: String,
    /// Its value.
    pub estimate: f64,
    /// Of sampling and of privacy noise together.
    pub standard_error: f64,
    /// The estimate in standard errors; `None` if the budget does not determine one of its coefficients.
    pub z: Option<f64>,
    /// The probability of an estimate at least as far from 0 if it is 0.
    pub p_value: Option<f64>,
    /// The ends of the confidence interval.
    pub interval: [f64; 2],
    /// Whether all its coefficients are determined.
    pub determined: bool,
}

/// Computes a combination.
pub(super) fn contrast(expression: &str, blocks: &[Block], reach: f64) -> Result<Contrast, Failure> {
    let parts = read(expression, blocks)?;
    let block = &blocks[parts.first().map_or(0, |(block, ..)| *block)];
    if parts.iter().any(|(other, ..)| *other != parts[0].0) {
        return Err(Failure::Failed(
            format!("`{expression}`: of coefficients of two classes the covariance is not kept: compare those of one class").into(),
        ));
    }
    let mut weights = DVector::zeros(block.names.len());
    for (_, place, factor) in &parts {
        weights[*place] += factor;
    }
    let (estimate, standard_error) = block.combined(&weights)?;
    let determined = parts.iter().all(|(_, place, _)| block.determined[*place]);
    let z = determined.then(|| estimate / standard_error.max(f64::MIN_POSITIVE));
    Ok(Contrast {
        expression: expression.trim().to_owned(),
        estimate,
        standard_error,
        z,
        p_value: z.map(p_value),
        interval: [estimate - reach * standard_error, estimate + reach * standard_error],
        determined,
    })
}

/// The block, the place and the factor of each part.
fn read(expression: &str, blocks: &[Block]) -> Result<Vec<(usize, usize, f64)>, Failure> {
    let refuse = |what: String| {
        Err(Failure::Usage(
            format!(
                "contrast `{expression}`: {what}: write it like 'sex=Male - 2 * age', with spaces about + and - and the coefficients' names, \
                 in backticks where they hold such signs themselves"
            )
            .into(),
        ))
    };
    let mut parts = Vec::new();
    let mut rest = expression.trim();
    let mut sign = 1.0;
    if let Some(after) = rest.strip_prefix('-') {
        (rest, sign) = (after.trim_start(), -1.0);
    }
    loop {
        let mut factor = sign;
        // A factor is a number followed by a star.
        if let Some((number, after)) = rest.split_once('*')
            && let Ok(number) = number.trim().parse::<f64>()
            && number.is_finite()
        {
            (factor, rest) = (factor * number, after.trim_start());
        }
        let (name, after) = match rest.strip_prefix('`') {
            Some(quoted) => match quoted.split_once('`') {
                Some((name, after)) => (name, after.trim_start()),
                None => return refuse("a backtick is not closed".into()),
            },
            None => {
                let end =
                    [" + ", " - "].iter().filter_map(|mark| rest.find(mark)).min().unwrap_or(rest.len());
                (rest[..end].trim(), rest[end..].trim_start())
            }
        };
        let found = blocks
            .iter()
            .enumerate()
            .find_map(|(k, block)| Some((k, block.names.iter().position(|other| other == name)?)));
        let Some((block, place)) = found else {
            return refuse(format!("the model has no coefficient `{name}`"));
        };
        parts.push((block, place, factor));
        let mut marks = after.chars();
        sign = match marks.next() {
            None => return Ok(parts),
            Some('+') => 1.0,
            Some('-') => -1.0,
            Some(_) => return refuse(format!("`{after}` is not understood")),
        };
        rest = marks.as_str().trim_start();
    }
}
