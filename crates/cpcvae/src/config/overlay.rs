//! Overriding settings, and conversion from and to text.

use super::{RunConfig, old_keys};
use crate::error::{Error, Result};
use toml::{Table, Value};

impl RunConfig {
    /// Overrides settings: every key must exist, and values must have the right type.
    pub fn overlaid(&self, settings: &Table, context: &str) -> Result<Self> {
        let mut table = Table::try_from(self).expect("a configuration has only plain values");
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

    /// Parses the complete text that [`RunConfig::to_toml`] wrote in this or an earlier version:
    /// old names are read, and missing newer keys get the value that reproduces the earlier
    /// behaviour.
    pub fn from_toml(text: &str, context: &str) -> Result<Self> {
        if let Ok(config) = toml::from_str(text) {
            return Ok(config);
        }
        let settings = text
            .parse()
            .map_err(|error: toml::de::Error| Error::Config {
                context: context.into(),
                problem: error.to_string().trim().into(),
            })?;
        old_keys::completed(settings, context).map_err(|error| match error {
            Error::Config { .. } => error,
            other => Error::Config {
                context: context.into(),
                problem: other.to_string(),
            },
        })
    }
}

/// Parses `key.sub=value` pairs into a table; a value that is not valid TOML is a string.
pub fn parse_settings(pairs: &[String]) -> Result<Table> {
    let mut table = Table::new();
    for pair in pairs {
        let Some((key, text)) = pair.split_once('=') else {
            return Err(Error::Config {
                context: format!("`{pair}`"),
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
            // An integer is accepted where a float is expected.
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
    use crate::method::{DataKind, Method};

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
        let config = defaults().overlaid(&settings, "test").expect("known keys");
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
        let error = defaults().overlaid(&settings, "test").expect_err("unknown");
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
            .overlaid(&settings, "test")
            .expect_err("not a number");
        assert!(error.to_string().contains("train.steps"), "{error}");
    }
}
