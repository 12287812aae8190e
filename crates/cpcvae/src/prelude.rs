//! Everything that most programs need: `use cpcvae::prelude::*;`

pub use crate::compare::{Comparison, Verdict};
pub use crate::config::Preset;
pub use crate::error::{Error, Result};
pub use crate::estimator::{
    Adgm, AsRows, BlendedM2, Cpc, Estimator, Fit, Fitted, LabelsOnly, M1, M1M2, M2, Pc,
    PredictOptions, Predictions, SampleOptions, Sdgm, SupervisedVae, Vae, VaeThenMlp, Vat,
};
pub use crate::infer::{CodeSource, Codes, Evaluation, Filling, Scores};
pub use crate::train::{Observer, Silent, Watch};
pub use cpcvae_data::{Dataset, Label, Labels, Layout, Matrix, Source};
