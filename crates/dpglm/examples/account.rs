//! What do releases cost together, and how much noise does a budget ask for?
//!
//! `cargo run --release --example account`

use dpglm::accounting::{account, calibrate};
use dpglm::prelude::*;
use dpglm::privacy::{Event, Noise};

fn main() -> Result<()> {
    let events = [
        Event::new("which columns", Noise::Selection { sensitivity: 1.0, scale: 20.0 }, 10)?,
        Event::new("their values", Noise::Gaussian { sensitivity: 1.0, sigma: 8.0 }, 1)?,
    ];
    let guarantee = account(&events, 1e-6)?;
    println!("together: epsilon {:.3} at delta 1e-6, by {:?}", guarantee.epsilon, guarantee.method);

    // The same releases with all their noise in one proportion, so that the budget is met.
    for event in calibrate(&events, &[], Budget::new(0.5, 1e-6)?)? {
        println!("within (0.5, 1e-6): {event:?}");
    }
    Ok(())
}
