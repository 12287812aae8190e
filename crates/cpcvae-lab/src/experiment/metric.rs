//! Metrics of a cell.

use serde::{Deserialize, Serialize};

/// A number that a table or figure can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Share of test rows whose class is predicted correctly, in percent.
    Accuracy,
    /// Mean of -log P(true class) on test rows, in nats.
    LogLoss,
    /// Evidence lower bound of a test row, in nats.
    Elbo,
    /// Accuracy on validation rows, in percent.
    ValidationAccuracy,
    /// Time of a training step, in milliseconds.
    StepTime,
    /// The final lambda of a constraint solver.
    Multiplier,
    /// The constraint's measure on labelled rows: an accuracy or a loss.
    ConstraintValue,
}

impl Metric {
    /// Its name in words.
    pub fn title(self) -> &'static str {
        match self {
            Self::Accuracy => "test accuracy",
            Self::LogLoss => "test log-loss",
            Self::Elbo => "test ELBO",
            Self::ValidationAccuracy => "validation accuracy",
            Self::StepTime => "time a step",
            Self::Multiplier => "multiplier",
            Self::ConstraintValue => "labelled rows' value",
        }
    }

    /// Its unit; empty for a plain number.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Accuracy | Self::ValidationAccuracy => "%",
            Self::LogLoss | Self::Elbo => "nats",
            Self::StepTime => "ms",
            Self::Multiplier | Self::ConstraintValue => "",
        }
    }

    /// Name and unit, for a column header or an axis.
    pub(crate) fn heading(self) -> String {
        match self.unit() {
            "" => self.title().into(),
            unit => format!("{} ({unit})", self.title()),
        }
    }

    /// Decimals to show.
    pub fn decimals(self) -> usize {
        match self {
            Self::LogLoss | Self::Multiplier | Self::ConstraintValue => 3,
            _ => 1,
        }
    }
}

/// The figures of a cell's training, in plain units: shares from 0 to 1, nats, seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Metrics {
    /// On test rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<f64>,
    /// On test rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_loss: Option<f64>,
    /// On test rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elbo: Option<f64>,
    /// On validation rows, of the model that was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validation_accuracy: Option<f64>,
    /// On validation rows, of the model that was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validation_elbo: Option<f64>,
    /// Accuracy on validation rows at each evaluation while training, with its step.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub validation_curve: Vec<(u64, f64)>,
    /// Seconds of training for a step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_seconds: Option<f64>,
    /// lambda at the end, if there was a constraint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub multiplier: Option<f64>,
    /// The constraint's measure on labelled rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constraint_value: Option<f64>,
    /// Whether the constraint holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub satisfied: Option<bool>,
}

impl Metrics {
    /// The value in the metric's unit.
    pub fn get(&self, metric: Metric) -> Option<f64> {
        match metric {
            Metric::Accuracy => self.accuracy.map(|share| 100.0 * share),
            Metric::LogLoss => self.log_loss,
            Metric::Elbo => self.elbo,
            Metric::ValidationAccuracy => self.validation_accuracy.map(|share| 100.0 * share),
            Metric::StepTime => self.step_seconds.map(|seconds| 1000.0 * seconds),
            Metric::Multiplier => self.multiplier,
            Metric::ConstraintValue => self.constraint_value,
        }
    }

    /// The criterion for selecting candidates: validation rows only, accuracy before evidence.
    pub fn quality(&self) -> Option<f64> {
        self.validation_accuracy.or(self.validation_elbo)
    }
}
