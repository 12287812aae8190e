//! What the paper reports.

use super::Metric;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Values of one place in the paper.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaperValues {
    /// Of this metric; the report's first when not given.
    pub metric: Option<Metric>,
    /// Of this variant only.
    pub setting: Option<String>,
    /// Of this label count only.
    pub labels: Option<usize>,
    /// Of this code size only.
    pub code: Option<usize>,
    /// By the method's label, in the metric's unit.
    pub values: BTreeMap<String, PaperValue>,
}

/// A value, perhaps with its standard deviation: `98.4` or `[96.68, 0.54]`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum PaperValue {
    /// One number.
    Plain(f64),
    /// Mean and standard deviation.
    Spread(f64, f64),
}

impl PaperValue {
    /// The mean.
    pub fn mean(self) -> f64 {
        match self {
            Self::Plain(mean) | Self::Spread(mean, _) => mean,
        }
    }

    /// The standard deviation, where it is reported.
    pub fn std(self) -> Option<f64> {
        match self {
            Self::Plain(_) => None,
            Self::Spread(_, std) => Some(std),
        }
    }
}
