//! The main interface: one builder per method, [`Fit::fit`] in memory or in a folder, and the
//! fitted model [`Fitted`].
//!
//! ```
//! use cpcvae::prelude::*;
//!
//! // Two groups of points; two rows of each have a label.
//! let rows: Vec<[f32; 2]> = (0..80)
//!     .map(|i| if i % 2 == 0 { [i as f32 % 7.0, 1.0] } else { [i as f32 % 7.0 + 20.0, 9.0] })
//!     .collect();
//! let labels = (0..80).map(|i| (i < 8).then_some(if i % 2 == 0 { "left" } else { "right" }));
//! let data = Dataset::from_rows(&rows, Labels::classes(labels))?;
//!
//! let fitted = Cpc::new().seed(1).steps(200).folds(2).fit(&data)?;
//! let answers = fitted.predict(&[[3.0, 1.0], [23.0, 9.0]])?;
//! assert_eq!([answers.label(0), answers.label(1)], ["left", "right"]);
//! # Ok::<(), cpcvae::Error>(())
//! ```

// The main type of this module has a file of its own.
#[allow(clippy::module_inception)]
mod estimator;

mod budget;
pub mod builders;
mod codes;
mod export;
mod finished;
mod fit;
mod fitted;
mod held_out_details;
mod impute;
mod input;
mod measure;
mod parts;
mod predict;
mod predictions;
mod quality;
mod read_rows;
mod row_options;
mod sample;
mod saved;
mod suggest;
mod suspects;

pub use builders::*;
pub use estimator::Estimator;
pub use fit::Fit;
pub use fitted::{Fitted, HeldOutState};
pub use held_out_details::{HeldOutDetails, ReliabilityBin};
pub use impute::Imputed;
pub use input::AsRows;
pub use predict::PredictOptions;
pub use predictions::Predictions;
pub use quality::{Quality, QualityOptions};
pub use read_rows::OpenedRows;
pub use row_options::{LabelColumns, RowOptions, WantedLabels};
pub use sample::{SampleOptions, SampledClass};
pub use suggest::Suggestion;
pub use suspects::Suspect;
