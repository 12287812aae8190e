//! Values from the paper.

use super::Metric;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Values from one table or figure of the paper.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaperValues {
    /// The metric; the report's first by default.
    pub metric: Option<Metric>,
    /// Only for this variant.
    pub setting: Option<String>,
    /// Only for this label count.
    pub labels: Option<usize>,
    /// Only for this code size.
    pub code: Option<usize>,
    /// By the method's label, in the metric's unit.
    pub values: BTreeMap<String, PaperValue>,
}

/// A value, optionally with its standard deviation: `98.4` or `[96.68, 0.54]`.
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

    /// The standard deviation, if it is reported.
    pub fn std(self) -> Option<f64> {
        match self {
            Self::Plain(_) => None,
            Self::Spread(_, std) => Some(std),
        }
    }
}
