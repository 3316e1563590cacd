//! Private estimation of means, linear regression and generalized linear models.
//!
//! Reading order is dependency order: nothing points upward.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`noise`] | where randomness enters: a CSPRNG and exact samplers on a grid |
//! | [`privacy`] | what is promised: budget, events, whom they protect |
//! | [`accounting`] | how the promise is computed: exact Gaussian, privacy-loss distributions, Rényi, calibration, certificates |
//! | [`data`] | private rows and the bounds enforced on them |
//! | [`mechanisms`] | every way in which something may leave |
//! | [`families`] | response families and their bounded scores |
//! | [`kernels`] | the passes over the rows, where the time is spent |
//! | [`passes`] | what may be asked of private rows, as plain data, and who answers; rows that do not fit in memory |
//! | [`release`] | one budget, many releases: plan, calibrated plan, session; nothing leaves outside it |
//! | [`central`] | estimators for a trusted curator: means, linear and generalized linear models |
//! | [`estimators`] | regression in few passes over the rows |
//! | [`model`] | what most programs need: models of columns with public bounds, fitted in the columns' units |
//! | [`comparators`] | methods of other authors, made private for every data set, to compare with |
//! | [`local`] | what leaves a user's device is already private: randomizers and protocols |
//! | [`tuning`] | private choice of sparsity, ridge and truncation, from the same budget |
//! | [`theory`] | rates and lower bounds of the papers |
//! | [`audit`] | attacks, and lower confidence bounds on epsilon from one run and from many |
//! | [`registry`] | every mechanism with its worst-case neighbours and its weakened twins |
//!
//! # Example
//! The median income and the mean of two columns, with one certificate for both.
//!
//! ```
//! use dpglm::mechanisms::{Candidates, ClippedSum, PrivateQuantile};
//! use dpglm::noise::RandomSource;
//! use dpglm::accounting::Certificate;
//! use dpglm::privacy::Adjacency;
//!
//! let incomes: Vec<f64> = (0..2_000).map(|i| 20_000.0 + 10.0 * f64::from(i)).collect();
//! let columns: Vec<f64> = incomes.iter().flat_map(|x| [x / 1e5, 0.5]).collect();
//! let mut rng = RandomSource::from_os()?;
//!
//! let mut median = PrivateQuantile::new(Candidates::even(0.0, 200_000.0, 20_001)?, 0.5, 10.0)?;
//! let sum = ClippedSum::new(1.0, 12.0, 2)?; // rows of l2 norm at most 1
//!
//! let a = median.release(&incomes, &mut rng)?;
//! let b = sum.release(&columns, &mut rng)?;
//!
//! let events = [a.events, b.events].concat();
//! let certificate = Certificate::certified(Adjacency::ReplaceRow, events, 1e-6, &rng)?
//!     .enforcing("each row of the sum is clipped to l2 norm 1");
//! println!("median {}, mean of the second column {}", a.value, b.value[1] / 2_000.0);
//! println!("{certificate}");
//! # assert!(certificate.guarantee().is_some());
//! # Ok::<(), dpglm::Error>(())
//! ```

pub mod accounting;
pub mod audit;
pub mod central;
pub mod comparators;
pub mod data;
pub mod error;
pub mod estimators;
pub mod families;
pub mod kernels;
pub mod local;
pub mod mechanisms;
pub mod model;
pub mod noise;
pub mod numeric;
mod parallel;
pub mod passes;
pub mod prelude;
pub mod privacy;
pub mod registry;
pub mod release;
pub mod theory;
pub mod tuning;

pub use error::{Error, Result};
