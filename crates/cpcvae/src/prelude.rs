//! The items that most programs need: `use cpcvae::prelude::*;`

pub use crate::compare::{Comparison, Verdict};
pub use crate::config::Preset;
pub use crate::error::{Error, Result};
pub use crate::estimator::builders::*;
pub use crate::estimator::{
    AsRows, Estimator, Fit, Fitted, PredictOptions, Predictions, Quality, QualityOptions,
    SampleOptions,
};
pub use crate::infer::{CodeSource, Codes, Evaluation, Filling, Scores};
pub use crate::train::{Observer, Silent, Watch};
pub use cpcvae_data::{Dataset, Label, Labels, Layout, Matrix, Source};
