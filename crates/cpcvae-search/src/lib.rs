//! Hyperparameter search: the search space ([`Space`]), the choice of the next trial ([`Sampler`]),
//! early stopping ([`Pruner`]), and the record of all trials ([`Study`]), which is an Optuna 5
//! journal file: `optuna` and `optuna-dashboard` can open it, and several processes and machines
//! can work on it.
//!
//! This crate knows nothing of what is trained. Values are always minimised.
//!
//! ```
//! use cpcvae_search::{Limits, Outcome, Sampler, Space, Study};
//!
//! let space = Space::from_toml("here", "x = { low = -5.0, high = 5.0 }", &|_| None)?;
//! let folder = std::env::temp_dir().join(format!("cpcvae-search-{}", std::process::id()));
//! let mut study = Study::open(&folder.join("journal.log"), "parabola")?;
//! let limits = Limits { trials: 30, until: None };
//! while let Some(trial) = study.ask(&space, Sampler::Tpe, 1, &limits, |_| None)? {
//!     let x = trial.params["x"];
//!     study.tell(trial.id, Outcome::Complete((x - 2.0).powi(2)))?;
//! }
//! let best = study.best().expect("thirty trials");
//! assert!((best.params["x"] - 2.0).abs() < 1.0);
//! # std::fs::remove_dir_all(&folder).ok();
//! # Ok::<(), cpcvae_search::SearchError>(())
//! ```
#![forbid(unsafe_code)]

mod clock;
mod distribution;
mod error;
mod importance;
mod journal;
mod pruner;
mod sampler;
mod space;
mod space_file;
mod study;
mod trial;

pub use distribution::Distribution;
pub use error::{Result, SearchError};
pub use importance::importances;
pub use journal::GRACE;
pub use pruner::{Pruner, RUNG_KEY};
pub use sampler::{Sampler, Tpe};
pub use space::{Condition, Parameter, Space};
pub use study::{Limits, Outcome, Study};
pub use trial::{Trial, TrialState};
