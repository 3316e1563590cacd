//! One file per subcommand: its flags, its help, and how its result is shown.

pub mod account;
pub mod audit;
pub mod calibrate;
#[cfg(feature = "device")]
pub mod collect;
pub mod compare;
pub mod describe;
pub mod fit;
pub mod keygen;
pub mod ledger;
pub mod mean;
pub mod methods;
pub mod plan;
pub mod predict;
pub mod report;
pub mod schema;
pub mod show;
pub mod sites;
pub mod summary;
#[cfg(not(feature = "device"))]
pub mod without_collect;
