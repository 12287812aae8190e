//! The section `[ensemble]`.

use serde::{Deserialize, Serialize};

/// Who answers for a row's class beside the network: an extension of ours, not the paper's.
/// `docs/methods/ensemble.md` describes it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnsembleConfig {
    /// none (the network answers alone), or all.
    pub members: EnsembleMembers,
    /// Training rows of a table that are kept beside the model at most: new rows are as unusual as
    /// they are far from these, and gaps are filled from the nearest ones. 0: the network alone
    /// says so.
    #[serde(default)]
    pub kept_rows: usize,
}

/// Which members there are, as written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EnsembleMembers {
    /// The network answers alone: the paper's method.
    #[default]
    None,
    /// Extremely randomised trees, a random forest, logistic regression and a kernel ridge
    /// classifier vote with it.
    All,
}
