//! Evaluation on held-out labels, compared with baselines on the same rows, with a verdict in
//! words.

mod baselines;
mod comparison;
mod learning_curve;
mod paired;
mod power_law;
mod verdict;

pub use baselines::{
    Workplace, baseline_trainings, comparison, hold_out_labels, members_held_out,
    trained_baselines, with_baselines, with_voters,
};
pub use comparison::{Comparison, MethodScores, ScoreKind};
pub use learning_curve::{LearningCurve, learning_curve};
pub use paired::Paired;
pub use power_law::{CurvePoint, PowerLaw, worth_buying};
pub use verdict::{Outcome, Verdict};
