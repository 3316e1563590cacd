//! One file per subcommand: its flags, its help, and how its result is shown.

pub mod account;
pub mod calibrate;
