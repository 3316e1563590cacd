//! `dpglm collect` in a build without the collection service: says how to get it.

use crate::failure::Failure;
use clap::Args;

/// Private regression from people's devices.
///
/// This program was built without the collection service. Build it with `cargo build --release -p dpglm-cli --features collect`.
#[derive(Args)]
pub struct Arguments {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    rest: Vec<String>,
}

pub fn run(_: &Arguments) -> Result<String, Failure> {
    Err(Failure::Failed(
        "this program was built without the collection service: build it with `cargo build --release -p dpglm-cli \
         --features collect`"
            .into(),
    ))
}
