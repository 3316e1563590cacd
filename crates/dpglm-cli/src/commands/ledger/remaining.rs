//! `dpglm ledger remaining`.

use super::read;
use crate::failure::Failure;
use crate::{Format, flags, render};
use clap::Args;
use dpglm::accounting::filter::Rule;
use dpglm::privacy::decimal::rounded_down;
use dpglm_workflow::ledger::percent_left;
use serde::Serialize;
use std::path::PathBuf;

/// What one more release may cost: the largest epsilon of one that has Gaussian noise alone.
///
/// A fit that also chooses among columns, levels or quantiles costs a little more than a Gaussian of the same epsilon; a dry run with --ledger
/// says exactly.
#[derive(Args)]
pub struct Arguments {
    /// A file that `dpglm ledger init` made
    #[arg(value_name = "LEDGER")]
    ledger: PathBuf,
    /// At this delta of the release [default: the total's]
    #[arg(long, value_name = "D", value_parser = flags::delta, allow_negative_numbers = true)]
    delta: Option<f64>,
}

#[derive(Serialize)]
struct Document {
    schema: &'static str,
    epsilon: f64,
    delta: f64,
    loss_left: f64,
    reserve_left: f64,
}

pub fn run(arguments: &Arguments, format: Format) -> Result<String, Failure> {
    let chain = read(&arguments.ledger)?;
    let delta = arguments.delta.unwrap_or(chain.terms().delta);
    let epsilon = chain.filter().room(chain.spent(), delta)?;
    let left = chain.filter().left(chain.spent());
    if format == Format::Json {
        let (loss_left, reserve_left) = (left.loss, left.failure);
        return render::json(&Document {
            schema: "dpglm.ledger-left/1",
            epsilon,
            delta,
            loss_left,
            reserve_left,
        });
    }
    let reserve = match chain.terms().reserve > 0.0 {
        true => format!(" Of the reserve of delta {} is left.", rounded_down(left.failure)),
        false => String::new(),
    };
    if chain.terms().rule == Rule::Pure {
        return Ok(format!(
            "{} of the total is left: room for one pure release of epsilon {}, or for several smaller ones.\n",
            percent_left(&chain),
            rounded_down(epsilon)
        ));
    }
    Ok(format!(
        "{} of the total is left: room for one release of epsilon {} at delta {} with Gaussian noise, or for several smaller \
         ones.{reserve}\n",
        percent_left(&chain),
        rounded_down(epsilon),
        render::plain(delta)
    ))
}
