//! The distribution of a parameter's values, and its format in an Optuna journal.
//!
//! Internally, every value is an `f64`: a number as it is, a choice as its index.

use serde_json::{Value, json};

/// The values of one parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Distribution {
    /// Numbers from `low` to `high`.
    Float {
        /// The smallest.
        low: f64,
        /// The largest.
        high: f64,
        /// Whether the logarithm is uniform.
        log: bool,
    },
    /// Whole numbers from `low` to `high`, inclusive.
    Int {
        /// The smallest.
        low: i64,
        /// The largest.
        high: i64,
        /// Whether the logarithm is uniform.
        log: bool,
    },
    /// One of a few: text, numbers or booleans.
    Choice(Vec<Value>),
}

impl Distribution {
    /// Whether only one value is possible.
    pub(crate) fn is_single(&self) -> bool {
        match self {
            Self::Float { low, high, .. } => low == high,
            Self::Int { low, high, .. } => low == high,
            Self::Choice(choices) => choices.len() == 1,
        }
    }

    /// Whether a value is possible.
    pub fn contains(&self, value: f64) -> bool {
        match self {
            Self::Float { low, high, .. } => (*low..=*high).contains(&value),
            Self::Int { low, high, .. } => {
                value.fract() == 0.0 && (*low as f64..=*high as f64).contains(&value)
            }
            Self::Choice(choices) => {
                value.fract() == 0.0 && { (0.0..choices.len() as f64).contains(&value) }
            }
        }
    }

    /// The external value.
    pub fn shown(&self, value: f64) -> Value {
        match self {
            Self::Float { .. } => json!(value),
            Self::Int { .. } => json!(value as i64),
            Self::Choice(choices) => choices[value as usize].clone(),
        }
    }

    /// The internal value of an external one; `None` if it is not possible.
    pub fn inner(&self, shown: &Value) -> Option<f64> {
        let value = match self {
            Self::Float { .. } | Self::Int { .. } => shown.as_f64()?,
            Self::Choice(choices) => choices.iter().position(|choice| choice == shown)? as f64,
        };
        self.contains(value).then_some(value)
    }

    /// The value at a share in [0, 1) of the range.
    pub fn at(&self, share: f64) -> f64 {
        match self {
            Self::Float { low, high, log } => {
                let value = match log {
                    true => (low.ln() + share * (high.ln() - low.ln())).exp(),
                    false => low + share * (high - low),
                };
                value.clamp(*low, *high)
            }
            Self::Int { low, high, log } => {
                let (from, to) = (*low as f64 - 0.5, *high as f64 + 0.5);
                let value = match log {
                    true => (from.ln() + share * (to.ln() - from.ln())).exp(),
                    false => from + share * (to - from),
                };
                value.round().clamp(*low as f64, *high as f64)
            }
            Self::Choice(choices) => {
                let place = (share * choices.len() as f64).floor();
                place.clamp(0.0, choices.len() as f64 - 1.0)
            }
        }
    }

    /// The position of a value between the ends, in [0, 1], for an axis.
    pub fn share(&self, value: f64) -> f64 {
        let between = |value: f64, low: f64, high: f64| match high > low {
            true => ((value - low) / (high - low)).clamp(0.0, 1.0),
            false => 0.5,
        };
        match self {
            Self::Float { low, high, log } => match log {
                true => between(value.ln(), low.ln(), high.ln()),
                false => between(value, *low, *high),
            },
            Self::Int { low, high, log } => match log {
                true => between(value.ln(), (*low as f64).ln(), (*high as f64).ln()),
                false => between(value, *low as f64, *high as f64),
            },
            Self::Choice(choices) => between(value, 0.0, choices.len() as f64 - 1.0),
        }
    }

    /// In Optuna's format: JSON inside a string.
    pub(crate) fn to_optuna(&self) -> String {
        match self {
            Self::Float { low, high, log } => json!({
                "name": "FloatDistribution",
                "attributes": { "step": null, "low": low, "high": high, "log": log },
            }),
            Self::Int { low, high, log } => json!({
                "name": "IntDistribution",
                "attributes": { "log": log, "step": 1, "low": low, "high": high },
            }),
            Self::Choice(choices) => json!({
                "name": "CategoricalDistribution",
                "attributes": { "choices": choices },
            }),
        }
        .to_string()
    }

    /// Parses Optuna's format; unsupported distributions are errors.
    pub(crate) fn from_optuna(text: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let attributes = &value["attributes"];
        let number = |key: &str| {
            let number = attributes[key].as_f64();
            number.ok_or_else(|| format!("a distribution without `{key}`: {text}"))
        };
        let log = attributes["log"].as_bool().unwrap_or(false);
        let step = attributes["step"].as_f64();
        match value["name"].as_str() {
            Some("FloatDistribution") if step.is_none() => Ok(Self::Float {
                low: number("low")?,
                high: number("high")?,
                log,
            }),
            Some("IntDistribution") if step == Some(1.0) => Ok(Self::Int {
                low: number("low")? as i64,
                high: number("high")? as i64,
                log,
            }),
            Some("CategoricalDistribution") => match attributes["choices"].as_array() {
                Some(choices) => Ok(Self::Choice(choices.clone())),
                None => Err(format!("a distribution without `choices`: {text}")),
            },
            _ => Err(format!(
                "the distribution {text} is not one that cpcvae writes (numbers without steps, \
                 whole numbers, choices)"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> [Distribution; 4] {
        [
            Distribution::Float {
                low: 1e-4,
                high: 0.1,
                log: true,
            },
            Distribution::Float {
                low: -1.5,
                high: 2.0,
                log: false,
            },
            Distribution::Int {
                low: 2,
                high: 64,
                log: true,
            },
            Distribution::Choice(vec![json!("a"), json!(3), json!(true)]),
        ]
    }

    #[test]
    fn what_is_written_is_read_again() {
        for distribution in some() {
            let text = distribution.to_optuna();
            assert_eq!(Distribution::from_optuna(&text), Ok(distribution), "{text}");
        }
        let stepped = r#"{"name": "FloatDistribution", "attributes": {"step": 0.25, "low": 0, "high": 1, "log": false}}"#;
        assert!(Distribution::from_optuna(stepped).is_err());
    }

    #[test]
    fn shares_cover_all_values_and_only_those() {
        for distribution in some() {
            for place in 0..200 {
                let value = distribution.at(f64::from(place) / 200.0);
                assert!(distribution.contains(value), "{distribution:?} {value}");
                let shown = distribution.shown(value);
                assert_eq!(distribution.inner(&shown), Some(value));
            }
        }
        let [_, _, whole, choice] = some();
        assert_eq!((whole.at(0.0), whole.at(0.999_999)), (2.0, 64.0));
        assert_eq!((choice.at(0.34), choice.inner(&json!("b"))), (1.0, None));
    }
}
