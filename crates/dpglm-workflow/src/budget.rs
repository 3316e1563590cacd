//! How much privacy is granted: no number has a default.

use super::failure::Failure;
use super::render;
use dpglm::central::Privacy;
use dpglm::error::{Message, Parameter};
use dpglm::privacy::Budget;

/// The privacy asked for; epsilon and delta are the user's decision. An infinite epsilon asks for none, and has no delta.
pub fn privacy(epsilon: Option<f64>, delta: Option<f64>) -> Result<Privacy, Failure> {
    match claimed(epsilon, delta)? {
        Privacy::None if delta.is_some() => Err(Failure::Usage(Message::new(
            "{} goes with a finite {}: an infinite one promises nothing; leave out {}",
            &[&Parameter::Delta, &Parameter::Epsilon, &Parameter::Delta],
        ))),
        granted => Ok(granted),
    }
}

/// The privacy of a method that grants none. Who gives a budget or a seed all the same expects noise that is not there.
pub fn none(
    method: &str,
    private: &str,
    (epsilon, delta, seed): (Option<f64>, Option<f64>, Option<u64>),
) -> Result<Privacy, Failure> {
    for (flag, is_given) in [
        (Parameter::Epsilon, epsilon.is_some()),
        (Parameter::Delta, delta.is_some()),
        (Parameter::InsecureSeed, seed.is_some()),
    ] {
        if is_given {
            return Err(Failure::Usage(Message::new(
                "{} goes with a private method: {} {} adds no noise and promises nothing; leave out {}, or \
                 use {} {}",
                &[&flag, &Parameter::Method, &method, &flag, &Parameter::Method, &private],
            )));
        }
    }
    Ok(Privacy::None)
}

/// The privacy that is claimed of a method. An infinite epsilon claims nothing; a delta may go with it.
pub fn claimed(epsilon: Option<f64>, delta: Option<f64>) -> Result<Privacy, Failure> {
    let Some(epsilon) = epsilon else {
        return Err(Failure::Usage(Message::new(
            "{} is needed and has no default: choose the privacy loss you can defend, often between 0.1 and 4",
            &[&Parameter::Epsilon],
        )));
    };
    if epsilon == f64::INFINITY {
        return Ok(Privacy::None);
    }
    let Some(delta) = delta else {
        return Err(Failure::Usage(Message::new(
            "{} is needed and has no default: choose it well below 1/n for n rows, for example 1e-6",
            &[&Parameter::Delta],
        )));
    };
    Ok(Privacy::Budget(Budget::new(epsilon, delta)?))
}

/// An epsilon that can be granted, infinity included.
pub fn epsilon(value: f64) -> Result<f64, Failure> {
    match value {
        value if value == f64::INFINITY => Ok(value),
        value => Ok(Budget::pure(value)?.epsilon()),
    }
}

/// A delta that goes with Gaussian noise.
pub fn delta(value: f64) -> Result<f64, Failure> {
    if value > 0.0 && value < 1.0 {
        // Any valid epsilon serves to have delta checked.
        return Ok(Budget::new(1.0, value)?.delta());
    }
    Err(Failure::Usage(format!(
        "delta must be strictly between 0 and 1, got {value}: the noise is Gaussian, which gives no guarantee at delta = 0; \
         choose a delta well below 1/n for n rows"
    ).into()))
}

/// A delta of 1/n or more lets the mechanism publish a whole row now and then. `n` is public.
pub fn warning_of_large_delta(privacy: Privacy, n: usize) -> Option<Message> {
    let Privacy::Budget(budget) = privacy else { return None };
    (budget.delta() * n as f64 >= 1.0).then(|| {
        format!(
            "warning: delta = {} is not below 1/n = {:.3e}: a release may then expose somebody entirely; choose a smaller \
             delta",
            render::rounded_up(budget.delta()),
            1.0 / n as f64
        )
        .into()
    })
}
