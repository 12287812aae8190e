//! The constrained problem of the paper: the largest evidence subject to a prediction loss of at
//! most epsilon (or an accuracy of at least A) on the labelled rows. Two solvers find lambda.

use serde::{Deserialize, Serialize};

/// What the constraint bounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConstraintMeasure {
    /// The mean prediction loss of labelled rows must be at most the target.
    Loss,
    /// The accuracy on labelled rows must be at least the target.
    Accuracy,
}

/// How lambda is found.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Solver {
    /// Dual ascent: lambda grows while the constraint is violated and shrinks while it is not.
    Dual {
        /// Largest change of log lambda in one step.
        rate: f64,
    },
    /// The paper's solver: complete trainings with an increasing sequence of lambda, until one
    /// satisfies the constraint.
    Sequence {
        /// The factor of lambda from one training to the next.
        factor: f64,
        /// The most trainings.
        rounds: u64,
    },
}

/// A prediction constraint and its solver.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Constraint {
    /// What is bounded.
    pub measure: ConstraintMeasure,
    /// epsilon, or the accuracy A.
    pub target: f64,
    /// How lambda is found.
    pub solver: Solver,
}

/// The constraint at the end of a training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConstraintReport {
    /// What is bounded.
    pub measure: ConstraintMeasure,
    /// epsilon, or the accuracy A.
    pub target: f64,
    /// The measure on the labelled training rows.
    pub value: f64,
    /// Whether the constraint holds.
    pub satisfied: bool,
    /// lambda at the end.
    pub multiplier: f64,
}

/// lambda is clamped to this range, so that an infeasible constraint does not end in an overflow.
const MULTIPLIER_RANGE: (f64, f64) = (1e-3, 1e6);

/// Dual ascent aims slightly inside the feasible region, so that the noise of the last steps does
/// not violate a constraint that was satisfied.
const AIM: f64 = 0.8;

/// Smaller errors count as this when an accuracy is the target.
const SMALLEST_ERROR: f64 = 0.01;

impl Constraint {
    /// Whether a value satisfies the constraint.
    pub fn holds(&self, value: f64) -> bool {
        match self.measure {
            ConstraintMeasure::Loss => value <= self.target,
            ConstraintMeasure::Accuracy => value >= self.target,
        }
    }

    /// The report for a value measured at this lambda.
    pub fn report(&self, value: f64, multiplier: f64) -> ConstraintReport {
        ConstraintReport {
            measure: self.measure,
            target: self.target,
            value,
            satisfied: self.holds(value),
            multiplier,
        }
    }

    /// lambda after `steps` steps at which the measure had this value, at `share` of training.
    ///
    /// An accuracy changes in jumps: lambda may shrink without effect until a row changes its
    /// class. So in the second half of training an accuracy constraint may only raise lambda, or
    /// the constraint might be violated at the last step.
    pub(crate) fn ascend(
        &self,
        multiplier: f64,
        value: f64,
        rate: f64,
        steps: u64,
        share: f64,
    ) -> f64 {
        let (excess, scale) = match self.measure {
            ConstraintMeasure::Loss => {
                let aim = AIM * self.target;
                (value - aim, aim)
            }
            ConstraintMeasure::Accuracy => {
                let aim = AIM * (1.0 - self.target);
                ((1.0 - value) - aim, aim.max(SMALLEST_ERROR))
            }
        };
        let lowest = match self.measure {
            ConstraintMeasure::Accuracy if share >= 0.5 => 0.0,
            _ => -1.0,
        };
        let violation = (excess / scale).clamp(lowest, 1.0);
        let next = multiplier * (rate * violation * steps as f64).exp();
        next.clamp(MULTIPLIER_RANGE.0, MULTIPLIER_RANGE.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOSS: Constraint = Constraint {
        measure: ConstraintMeasure::Loss,
        target: 0.1,
        solver: Solver::Dual { rate: 0.01 },
    };

    #[test]
    fn lambda_grows_while_violated_and_shrinks_while_not() {
        assert!(LOSS.ascend(10.0, 0.5, 0.01, 1, 0.0) > 10.0);
        assert!(LOSS.ascend(10.0, 0.01, 0.01, 1, 0.9) < 10.0);
        let at_aim = LOSS.ascend(10.0, 0.08, 0.01, 1, 0.0);
        assert!((at_aim - 10.0).abs() < 1e-6, "{at_aim}");
    }

    #[test]
    fn a_perfect_accuracy_can_be_asked_for() {
        let perfect = Constraint {
            measure: ConstraintMeasure::Accuracy,
            target: 1.0,
            ..LOSS
        };
        assert!(perfect.ascend(10.0, 0.99, 0.01, 1, 0.0) > 10.0);
        assert_eq!(perfect.ascend(10.0, 1.0, 0.01, 1, 0.0), 10.0);
        assert!(perfect.holds(1.0) && !perfect.holds(0.999));
    }

    #[test]
    fn an_accuracy_only_raises_lambda_in_the_second_half() {
        let accuracy = Constraint {
            measure: ConstraintMeasure::Accuracy,
            target: 0.9,
            ..LOSS
        };
        assert!(accuracy.ascend(10.0, 1.0, 0.01, 25, 0.49) < 10.0);
        assert_eq!(accuracy.ascend(10.0, 1.0, 0.01, 25, 0.5), 10.0);
        assert!(accuracy.ascend(10.0, 0.8, 0.01, 25, 0.5) > 10.0);
    }

    #[test]
    fn an_infeasible_constraint_does_not_overflow() {
        let ascend = |lambda, _| LOSS.ascend(lambda, 9.0, 0.1, 1, 0.0);
        let lambda = (0..10_000).fold(10.0, ascend);
        assert_eq!(lambda, 1e6);
    }
}
