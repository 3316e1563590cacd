//! One file per subcommand: its flags, its help, and how its result is shown.

pub mod account;
pub mod audit;
pub mod calibrate;
#[cfg(feature = "device")]
pub mod collect;
pub mod describe;
pub mod fit;
pub mod keygen;
pub mod mean;
pub mod methods;
pub mod plan;
pub mod predict;
pub mod schema;
pub mod show;
pub mod sites;
#[cfg(not(feature = "device"))]
pub mod without_collect;
