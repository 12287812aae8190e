//! Pseudo-labels: class probabilities of all rows from a few labels, without a network.
//!
//! The main method is label propagation over the graph of nearest neighbours. Rows that are close
//! to each other in a dense region mostly share their class, so a few labels are informative about
//! all rows (Zhou et al. 2004, "Learning with local and global consistency"; with the scales of
//! Zelnik-Manor and Perona 2004 and class mass normalisation as in Zhu et al. 2003).

mod alpha;
pub(crate) mod cholesky;
mod conjugate_gradient;
mod ensemble;
mod features;
mod forest;
mod hog;
pub(crate) mod kernel;
mod knn;
mod knn_graph;
mod labelled;
mod lbfgs;
mod logistic;
mod members;
mod pca;
mod pca_logistic;
mod propagate;
pub(crate) mod ridge;
mod spread;
pub(crate) mod trees;
mod vote;

pub(crate) use ensemble::PCA_LOGISTIC_PRIOR;
pub use ensemble::{PROPAGATION_PRIOR, ensemble};
pub use features::ComparedFeatures;
pub use forest::forest;
pub(crate) use hog::{CELLS, DIRECTIONS, votes as hog_votes};
pub use hog::{HOG_LENGTH, hog};
pub(crate) use kernel::Kernel;
pub use knn::knn;
pub(crate) use labelled::Classifier;
pub(crate) use logistic::Logistic;
pub use logistic::logistic;
pub use members::Members;
pub(crate) use pca::principal_components;
pub(crate) use pca_logistic::PcaLogistic;
pub use propagate::{Propagation, propagate};
pub(crate) use ridge::Ridge;
pub use spread::{LeaveOneOut, Spread};
pub(crate) use spread::{NEAREST_DISTANCE, NEIGHBOURS};
pub(crate) use vote::uniform_mix;
pub use vote::{Vote, log_mean};

use std::borrow::Cow;

/// Features with 0 for missing cells (NaN), like the encoder's input: distances need numbers.
pub(crate) fn zero_filled(features: &[f32]) -> Cow<'_, [f32]> {
    if !features.iter().any(|value| value.is_nan()) {
        return Cow::Borrowed(features);
    }
    let known = |value: &f32| if value.is_nan() { 0.0 } else { *value };
    features.iter().map(known).collect()
}
