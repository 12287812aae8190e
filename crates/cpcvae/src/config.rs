//! Settings as written, and their way to a checked plan.
//!
//! A [`RunConfig`] always has every key: it starts from the defaults for the method and the kind
//! of data, and a TOML file and `--set key=value` are laid over them. What is written to a run's
//! `config.toml` is therefore complete, and an unknown key is one that the defaults do not have.

use crate::distribution::Family;
use crate::error::{Error, Result};
use crate::method::{DataKind, Method};
use crate::model::ActivationName;
use crate::net::spatial_transformer::TransformRanges;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

/// All settings of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunConfig {
    /// For the split, weights, batches and noise.
    pub seed: u64,
    /// What is learnt from.
    pub data: DataConfig,
    /// What is learnt.
    pub model: ModelConfig,
    /// How the objective is made.
    pub method: Method,
    /// A prediction constraint to be met.
    pub constraint: ConstraintConfig,
    /// How it is optimised.
    pub train: TrainConfig,
}

/// Data and split.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataConfig {
    /// A file, or the name of a built-in data set.
    pub source: String,
    /// Label columns of a table: one, or several continuous ones.
    pub label: Vec<String>,
    /// auto, classify or regress.
    pub task: String,
    /// A value of the label column that means "no label"; blank, NaN and -1 always do.
    pub unlabeled_value: String,
    /// Columns to leave out.
    pub ignore: Vec<String>,
    /// Whether columns are brought to mean 0 and standard deviation 1.
    pub standardise: bool,
    /// Labels that training may use, the same number for each class; 0 for all.
    pub labels: usize,
    /// Rows for validation: a share below 1, a number of rows from 1 on, 0 for none.
    pub validation: f64,
    /// Rows for the final test, where the data has no test set of its own.
    pub test: f64,
    /// Rows to generate, for generated data.
    pub rows: usize,
    /// Which rows of half-moon have labels: `random`, or `evenly-spaced` as in the paper.
    pub half_moon_labels: String,
}

/// The networks and the likelihood.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelConfig {
    /// Code dimensions C, transform and style dimensions included.
    pub code: usize,
    /// Code dimensions that the predictor does not see.
    pub style: usize,
    /// Hidden units of the encoder, layer by layer; the decoder mirrors them.
    pub hidden: Vec<usize>,
    /// Hidden units of the predictor; empty for a linear one.
    pub predictor: Vec<usize>,
    /// softplus, leaky-relu, elu or relu.
    pub activation: ActivationName,
    /// normal, bernoulli or noise-normal.
    pub likelihood: Family,
    /// Smallest standard deviation of the likelihood.
    pub scale_floor: f64,
    /// Affine transforms in the code.
    pub transform: TransformConfig,
}

/// The spatial transformer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TransformConfig {
    /// Whether the first six code dimensions are an affine transform.
    pub enabled: bool,
    /// Largest translation as a share of the image's side.
    pub translation: f64,
    /// Largest rotation in radians.
    pub rotation: f64,
    /// Largest shear in radians.
    pub shear: f64,
    /// Largest scale factor.
    pub scale: f64,
    /// Side of the decoder's canvas as a multiple of the image's side.
    pub canvas: f64,
}

/// The constrained problem.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConstraintConfig {
    /// none, loss or accuracy.
    pub measure: String,
    /// Largest loss, or smallest accuracy.
    pub target: f64,
    /// dual or sequence.
    pub solver: String,
    /// Dual ascent: largest change of log lambda in a step.
    pub rate: f64,
    /// Sequence: what lambda is multiplied by.
    pub factor: f64,
    /// Sequence: trainings at most.
    pub rounds: u64,
}

/// The optimisation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainConfig {
    /// Steps; 0 takes `epochs`.
    pub steps: u64,
    /// Passes over the larger of the labelled and unlabelled rows.
    pub epochs: f64,
    /// Labelled rows in a batch.
    pub labelled_per_batch: usize,
    /// Unlabelled rows in a batch.
    pub unlabelled_per_batch: usize,
    /// Adam's step size.
    pub learning_rate: f64,
    /// constant, cosine or plateau.
    pub schedule: String,
    /// Plateau: what the rate is multiplied by.
    pub plateau_factor: f64,
    /// Plateau: evaluations without improvement to wait for.
    pub plateau_patience: u64,
    /// Evaluations without improvement after which training ends; 0 for never.
    pub early_stop: u64,
    /// Largest norm of the gradient; 0 for no limit.
    pub clip_norm: f64,
    /// Steps between evaluations on validation rows; 0 for once an epoch.
    pub evaluate_every: u64,
    /// Steps between checkpoints.
    pub checkpoint_every: u64,
    /// Steps between lines of metrics.
    pub log_every: u64,
}

impl RunConfig {
    /// The defaults for a method on a kind of data.
    pub fn defaults(method: &str, kind: DataKind, source: &str) -> Result<Self> {
        let method = Method::named(method, kind)?;
        let is_m2 = matches!(method, Method::M2(_));
        let images = kind == DataKind::Images;
        let hidden = if images {
            vec![1000, 1000]
        } else {
            vec![100, 100]
        };
        let ranges = TransformRanges::default();
        Ok(Self {
            seed: 0,
            data: DataConfig {
                source: source.into(),
                label: Vec::new(),
                task: "auto".into(),
                unlabeled_value: String::new(),
                ignore: Vec::new(),
                // The toy data of the paper is used as it is.
                standardise: source != "half-moon",
                labels: 0,
                validation: 0.0,
                test: 0.0,
                rows: 0,
                half_moon_labels: "random".into(),
            },
            model: ModelConfig {
                code: if images { 50 } else { 2 },
                style: 0,
                predictor: match method {
                    Method::VaeThenMlp(_) => vec![hidden[0]],
                    _ => Vec::new(),
                },
                hidden,
                activation: if images {
                    ActivationName::Softplus
                } else {
                    ActivationName::Elu
                },
                likelihood: match (images, is_m2) {
                    (true, true) => Family::Bernoulli,
                    (true, false) => Family::NoiseNormal,
                    (false, _) => Family::Normal,
                },
                scale_floor: 0.01,
                transform: TransformConfig {
                    enabled: images && !is_m2,
                    translation: ranges.translation,
                    rotation: ranges.rotation,
                    shear: ranges.shear,
                    scale: ranges.scale,
                    canvas: 1.5,
                },
            },
            constraint: ConstraintConfig {
                measure: "none".into(),
                target: 0.0,
                solver: "dual".into(),
                rate: 0.005,
                factor: 4.0,
                rounds: 6,
            },
            train: TrainConfig {
                steps: if images { 0 } else { 4000 },
                epochs: 100.0,
                labelled_per_batch: 100,
                unlabelled_per_batch: 100,
                learning_rate: if images { 1e-3 } else { 3e-3 },
                schedule: "cosine".into(),
                plateau_factor: 0.2,
                plateau_patience: 10,
                early_stop: 0,
                clip_norm: 0.0,
                evaluate_every: 0,
                checkpoint_every: 500,
                log_every: 10,
            },
            method,
        })
    }

    /// Lays settings over these: every key must exist, and values must have the right type.
    pub fn overlaid(&self, settings: &Table, context: &str) -> Result<Self> {
        let mut table = match Value::try_from(self) {
            Ok(Value::Table(table)) => table,
            _ => unreachable!("a configuration is a table"),
        };
        merge(&mut table, settings, "")?;
        Value::Table(table)
            .try_into()
            .map_err(|error| Error::Config {
                context: context.into(),
                problem: toml::de::Error::to_string(&error).trim().replace('\n', " "),
            })
    }

    /// The settings as TOML text.
    pub fn to_toml(&self) -> String {
        toml::to_string_pretty(self).expect("a configuration has only plain values")
    }

    /// From the complete text that [`RunConfig::to_toml`] wrote.
    pub fn from_toml(text: &str, context: &str) -> Result<Self> {
        toml::from_str(text).map_err(|error| Error::Config {
            context: context.into(),
            problem: error.to_string().trim().into(),
        })
    }
}

/// Parses `key.sub=value` pairs into a table; a value that is not TOML is taken as text.
pub fn parse_settings(pairs: &[String]) -> Result<Table> {
    let mut table = Table::new();
    for pair in pairs {
        let Some((key, text)) = pair.split_once('=') else {
            return Err(Error::Config {
                context: format!("--set {pair}"),
                problem: "must be key=value, for example `train.learning_rate=1e-3`".into(),
            });
        };
        let value = format!("value = {text}")
            .parse::<Table>()
            .ok()
            .and_then(|mut parsed| parsed.remove("value"))
            .unwrap_or_else(|| Value::String(text.into()));
        insert(&mut table, key.trim(), value);
    }
    Ok(table)
}

fn insert(table: &mut Table, key: &str, value: Value) {
    match key.split_once('.') {
        None => {
            table.insert(key.into(), value);
        }
        Some((first, rest)) => {
            let inner = table
                .entry(first)
                .or_insert_with(|| Value::Table(Table::new()));
            if let Value::Table(inner) = inner {
                insert(inner, rest, value);
            }
        }
    }
}

fn merge(base: &mut Table, over: &Table, path: &str) -> Result<()> {
    for (key, value) in over {
        let full = if path.is_empty() {
            key.clone()
        } else {
            format!("{path}.{key}")
        };
        if !base.contains_key(key) {
            return Err(unknown_key(&full, base, path));
        }
        match (&mut base[key], value) {
            (Value::Table(inner), Value::Table(over)) => merge(inner, over, &full)?,
            // 3 is a fine way to write 3.0.
            (slot @ Value::Float(_), Value::Integer(whole)) => *slot = Value::Float(*whole as f64),
            (slot, value) => *slot = value.clone(),
        }
    }
    Ok(())
}

fn unknown_key(full: &str, known: &Table, path: &str) -> Error {
    let last = full.rsplit('.').next().unwrap_or(full);
    let nearest = known
        .keys()
        .max_by(|a, b| strsim::jaro_winkler(a, last).total_cmp(&strsim::jaro_winkler(b, last)))
        .map(|key| {
            if path.is_empty() {
                key.clone()
            } else {
                format!("{path}.{key}")
            }
        })
        .unwrap_or_default();
    Error::UnknownSetting {
        key: full.into(),
        nearest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn defaults() -> RunConfig {
        RunConfig::defaults("cpc", DataKind::Images, "mnist").expect("cpc exists")
    }

    #[test]
    fn a_complete_configuration_survives_the_way_to_toml_and_back() {
        for method in crate::method::NAMES {
            for kind in [DataKind::Images, DataKind::Table] {
                let config = RunConfig::defaults(method, kind, "x").expect("listed");
                let back = RunConfig::from_toml(&config.to_toml(), "test").expect("own text");
                assert_eq!(config, back);
            }
        }
    }

    #[test]
    fn settings_are_laid_over_the_defaults() {
        let pairs = [
            "train.learning_rate=1e-3",
            "model.hidden=[5]",
            "method.beta=2",
            "seed=7",
        ];
        let settings = parse_settings(&pairs.map(String::from)).expect("well formed");
        let config = defaults().overlaid(&settings, "--set").expect("known keys");
        assert_eq!(config.train.learning_rate, 1e-3);
        assert_eq!(config.model.hidden, [5]);
        assert_eq!(config.seed, 7);
        let Method::Cpc(cpc) = &config.method else {
            panic!("method changed")
        };
        assert_eq!(cpc.beta, 2.0);
    }

    #[test]
    fn an_unknown_key_names_the_nearest() {
        let settings = parse_settings(&["train.learning_rat=1".into()]).expect("well formed");
        let error = defaults()
            .overlaid(&settings, "--set")
            .expect_err("unknown");
        let text = error.to_string();
        assert_eq!(
            text,
            "unknown setting `train.learning_rat`; did you mean `train.learning_rate`?"
        );
    }

    #[test]
    fn a_value_of_the_wrong_type_is_an_error() {
        let settings = parse_settings(&["train.steps=many".into()]).expect("well formed");
        let error = defaults()
            .overlaid(&settings, "--set")
            .expect_err("not a number");
        assert!(error.to_string().contains("--set"), "{error}");
    }
}
