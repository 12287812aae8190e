//! The section `[ensemble]`.

use serde::{Deserialize, Serialize};

/// Members of the ensemble beside the network: an extension of ours, not the paper's.
/// `docs/methods/ensemble.md` describes it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnsembleConfig {
    /// none (the network predicts alone), or all.
    pub members: EnsembleMembers,
    /// The most training rows of a table that are stored with the model: new rows are unusual if
    /// they are far from these, and missing cells are imputed from the nearest ones. 0: the network
    /// does both.
    #[serde(default)]
    pub kept_rows: usize,
}

/// The members of the ensemble.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EnsembleMembers {
    /// The network predicts alone: the paper's method.
    #[default]
    None,
    /// Extremely randomised trees, a random forest, logistic regression and a kernel ridge
    /// classifier vote with it.
    All,
}
