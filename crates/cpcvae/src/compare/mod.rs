//! Evaluation on held-out labels, compared with baselines on the same rows, with a verdict in
//! words.

mod baselines;
mod comparison;
mod learning_curve;
mod paired;
mod power_law;
mod verdict;
mod workplace;

pub(crate) use baselines::baselines;
pub use baselines::{
    baseline_trainings, comparison, hold_out_labels, members_held_out, trained_baselines,
    with_baselines, with_voters,
};
pub use comparison::{Comparison, MethodScores, ScoreKind};
pub use learning_curve::{LearningCurve, learning_curve};
pub(crate) use learning_curve::{label_counts, point_folder, point_name, with_labels};
pub use paired::Paired;
pub use power_law::{CurvePoint, PowerLaw, worth_buying};
pub use verdict::{Outcome, Verdict};
pub use workplace::Workplace;
pub(crate) use workplace::folds_folder;
