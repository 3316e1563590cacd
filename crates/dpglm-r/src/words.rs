//! Failures in the words of R, with parameters as R's arguments.

use dpglm::error::{Dialect, Message, Parameter};
use dpglm_workflow::Failure;

/// R's way: `row_norm`.
struct Arguments;

impl Dialect for Arguments {
    fn name(&self, parameter: Parameter) -> String {
        match parameter {
            Parameter::NoIntercept => "`- 1` in the formula (intercept = FALSE)".into(),
            Parameter::NoHeader => "header = FALSE".into(),
            // What other functions of R call so.
            Parameter::SampleWeight => "weights".into(),
            Parameter::Weights => "precision".into(),
            other => other.words().replace(' ', "_"),
        }
    }

    fn bounds(&self, parameter: Parameter) -> String {
        format!("{} = c(LOW, HIGH)", self.name(parameter))
    }
}

/// What went wrong.
pub fn of(failure: &Failure) -> String {
    failure.in_dialect(&Arguments)
}

/// What is said beside a result.
pub fn said(message: &Message) -> String {
    message.in_dialect(&Arguments)
}
