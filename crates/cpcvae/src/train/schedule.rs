//! Learning rates over time.

use serde::{Deserialize, Serialize};

/// How the learning rate changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Schedule {
    /// Constant.
    Constant,
    /// Down to zero along half a cosine, over each stage.
    Cosine,
    /// Multiplied by `factor` when the validation loss has not improved for `patience`
    /// evaluations.
    Plateau {
        /// The factor.
        factor: f64,
        /// Evaluations without improvement before it is applied.
        patience: u64,
    },
}

/// The state of a plateau schedule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScheduleState {
    /// Product of the reductions so far.
    pub factor: f64,
    /// Smallest validation loss so far.
    pub best: Option<f64>,
    /// Evaluations since then.
    pub waited: u64,
}

impl Default for ScheduleState {
    fn default() -> Self {
        Self {
            factor: 1.0,
            best: None,
            waited: 0,
        }
    }
}

impl Schedule {
    /// The factor of the base rate at `share` of the stage.
    pub fn factor(&self, share: f64, state: &ScheduleState) -> f64 {
        match self {
            Self::Constant => 1.0,
            Self::Cosine => 0.5 * (1.0 + (std::f64::consts::PI * share).cos()),
            Self::Plateau { .. } => state.factor,
        }
    }

    /// Updates the state with a validation loss.
    pub fn observe(&self, loss: f64, state: &mut ScheduleState) {
        let Self::Plateau { factor, patience } = self else {
            return;
        };
        if state.best.is_none_or(|best| loss < best) {
            state.best = Some(loss);
            state.waited = 0;
            return;
        }
        state.waited += 1;
        if state.waited >= *patience {
            state.factor *= factor;
            state.waited = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plateau_lowers_the_rate_after_patience_runs_out() {
        let schedule = Schedule::Plateau {
            factor: 0.2,
            patience: 2,
        };
        let mut state = ScheduleState::default();
        for loss in [1.0, 0.9, 0.95] {
            schedule.observe(loss, &mut state);
        }
        assert_eq!(schedule.factor(0.5, &state), 1.0);
        schedule.observe(0.91, &mut state);
        assert!((schedule.factor(0.5, &state) - 0.2).abs() < 1e-12);
        schedule.observe(0.5, &mut state);
        schedule.observe(0.6, &mut state);
        assert!((schedule.factor(0.5, &state) - 0.2).abs() < 1e-12);
    }

    #[test]
    fn cosine_goes_from_one_to_zero() {
        let at = |share| Schedule::Cosine.factor(share, &ScheduleState::default());
        assert_eq!(at(0.0), 1.0);
        assert!((at(0.5) - 0.5).abs() < 1e-12);
        assert!(at(1.0).abs() < 1e-12);
    }
}
