//! The file format of spaces: TOML with the sections and keys of settings, and for each key the
//! values to search.
//!
//! ```toml
//! [method]
//! prediction_weight = { factor = 10 }                                   # a tenth to ten times what it is
//! entropy_weight = { low = 0.05, high = 5.0, log = true, or_zero = true }  # also without it
//! [model]
//! net = { choices = ["mlp", "wrn"] }
//! depth = { choices = [10, 16, 28], when = { "model.net" = "wrn" } }
//! ```

use super::{Condition, Distribution, Parameter, Result, SearchError, Space};
use serde::Deserialize;
use serde_json::{Value, json};
use toml::Table;

/// The entry for one key.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    low: Option<toml::Value>,
    high: Option<toml::Value>,
    #[serde(default)]
    log: bool,
    factor: Option<f64>,
    choices: Option<Vec<toml::Value>>,
    #[serde(default)]
    or_zero: bool,
    when: Option<Table>,
}

/// A table with one of these keys is a parameter, any other a section.
const KEYS: [&str; 3] = ["low", "factor", "choices"];

impl Space {
    /// Parses a space. `usual` gives the default of a setting, for `factor`; `context` is for
    /// messages.
    pub fn from_toml(
        context: &str,
        text: &str,
        usual: &dyn Fn(&str) -> Option<Value>,
    ) -> Result<Self> {
        let wrong = |problem: String| SearchError::Space {
            context: context.into(),
            problem,
        };
        let table: Table = text
            .parse()
            .map_err(|error: toml::de::Error| wrong(error.to_string().trim().into()))?;
        let mut space = Self::default();
        collect(&table, "", usual, &mut space).map_err(wrong)?;
        space.order().map_err(wrong)
    }

    /// Sorts parameters after those that they depend on.
    fn order(self) -> std::result::Result<Self, String> {
        let mut waiting = self.parameters;
        let mut ordered = Self::default();
        while !waiting.is_empty() {
            let is_next = |parameter: &Parameter| {
                let condition = parameter.when.as_ref();
                condition.is_none_or(|condition| ordered.get(&condition.name).is_some())
            };
            let Some(place) = waiting.iter().position(is_next) else {
                let stuck = &waiting[0];
                let on = stuck.when.as_ref().map_or("", |when| when.name.as_str());
                return Err(format!(
                    "`{}` depends on `{on}`, which is not searched; name a parameter of the space",
                    stuck.name
                ));
            };
            let parameter = waiting.remove(place);
            if let Some(condition) = &parameter.when {
                let other = ordered
                    .get(&condition.name)
                    .map(|other| &other.distribution);
                let impossible = condition
                    .is_one_of
                    .iter()
                    .find(|value| other.is_some_and(|other| other.inner(value).is_none()));
                if let Some(value) = impossible {
                    return Err(format!(
                        "`{}` depends on `{}` being {value}, which it never is",
                        parameter.name, condition.name
                    ));
                }
            }
            ordered.parameters.push(parameter);
        }
        Ok(ordered)
    }
}

fn collect(
    table: &Table,
    section: &str,
    usual: &dyn Fn(&str) -> Option<Value>,
    space: &mut Space,
) -> std::result::Result<(), String> {
    for (key, value) in table {
        let name = match section {
            "" => key.clone(),
            section => format!("{section}.{key}"),
        };
        let Some(inner) = value.as_table() else {
            return Err(format!(
                "`{name}` is {value}; say which values to search, for example {{ low = 0.1, high = 10.0, \
                 log = true }}"
            ));
        };
        if !KEYS.iter().any(|key| inner.contains_key(*key)) {
            collect(inner, &name, usual, space)?;
            continue;
        }
        let written: Written = inner
            .clone()
            .try_into()
            .map_err(|error: toml::de::Error| format!("`{name}`: {}", error.message()))?;
        let parameters = written
            .parameters(&name, usual)
            .map_err(|problem| format!("`{name}` {problem}"))?;
        space.parameters.extend(parameters);
    }
    Ok(())
}

impl Written {
    fn parameters(
        self,
        name: &str,
        usual: &dyn Fn(&str) -> Option<Value>,
    ) -> std::result::Result<Vec<Parameter>, String> {
        let or_zero = self.or_zero;
        let when = self.when.as_ref().map(condition).transpose()?;
        let distribution = self.distribution(name, usual)?;
        let parameter = |name: String, distribution, when| Parameter {
            name,
            distribution,
            when,
        };
        if !or_zero {
            return Ok(vec![parameter(name.into(), distribution, when)]);
        }
        let switch = format!("{name}{}", Space::SWITCH);
        let choices = Distribution::Choice(vec![json!(false), json!(true)]);
        let is_on = Condition {
            name: switch.clone(),
            is_one_of: vec![json!(true)],
        };
        Ok(vec![
            parameter(switch, choices, when),
            parameter(name.into(), distribution, Some(is_on)),
        ])
    }

    fn distribution(
        self,
        name: &str,
        usual: &dyn Fn(&str) -> Option<Value>,
    ) -> std::result::Result<Distribution, String> {
        match (self.low, self.high, self.factor, self.choices) {
            (Some(low), Some(high), None, None) => range(&low, &high, self.log),
            (None, None, Some(factor), None) => around(name, factor, usual(name)),
            (None, None, None, Some(choices)) => {
                let choices: std::result::Result<Vec<Value>, String> =
                    choices.iter().map(choice).collect();
                match choices? {
                    none if none.is_empty() => Err("has no choices".into()),
                    choices => Ok(Distribution::Choice(choices)),
                }
            }
            _ => Err("needs either `low` and `high`, or `factor`, or `choices`".into()),
        }
    }
}

fn range(
    low: &toml::Value,
    high: &toml::Value,
    log: bool,
) -> std::result::Result<Distribution, String> {
    let number = |value: &toml::Value| {
        let number = value
            .as_float()
            .or(value.as_integer().map(|number| number as f64));
        number
            .filter(|number| number.is_finite())
            .ok_or_else(|| format!("has the end {value}, which is not a number"))
    };
    let (from, to) = (number(low)?, number(high)?);
    if from >= to {
        return Err(format!(
            "goes from {from} to {to}; `low` must be below `high`"
        ));
    }
    match (low.as_integer(), high.as_integer()) {
        (Some(low), Some(high)) if !log || low > 0 => Ok(Distribution::Int { low, high, log }),
        _ if log && from <= 0.0 => Err(format!(
            "goes from {from} in powers of ten; `low` must be above 0 (`or_zero = true` tries 0 too)"
        )),
        _ => Ok(Distribution::Float {
            low: from,
            high: to,
            log,
        }),
    }
}

/// From the default divided by the factor to the default times the factor.
fn around(
    name: &str,
    factor: f64,
    usual: Option<Value>,
) -> std::result::Result<Distribution, String> {
    if !(factor > 1.0 && factor.is_finite()) {
        return Err(format!("has the factor {factor}; it must be above 1"));
    }
    let Some(usual) = usual else {
        return Err("is not a setting of this method".into());
    };
    match (usual.as_u64(), usual.as_f64()) {
        (Some(whole), _) if whole > 0 => Ok(Distribution::Int {
            low: ((whole as f64 / factor).round() as i64).max(1),
            high: (whole as f64 * factor).round() as i64,
            log: true,
        }),
        (_, Some(number)) if number > 0.0 => Ok(Distribution::Float {
            low: number / factor,
            high: number * factor,
            log: true,
        }),
        _ => Err(format!(
            "is {usual}, which has no multiples; say `low` and `high` instead of `factor` for `{name}`"
        )),
    }
}

/// Lists are stored as text, since choices in Optuna are plain values.
fn choice(value: &toml::Value) -> std::result::Result<Value, String> {
    Ok(match value {
        toml::Value::String(text) => json!(text),
        toml::Value::Integer(number) => json!(number),
        toml::Value::Float(number) => json!(number),
        toml::Value::Boolean(flag) => json!(flag),
        toml::Value::Array(_) => json!(value.to_string()),
        other => return Err(format!("cannot have the value {other}")),
    })
}

fn condition(table: &Table) -> std::result::Result<Condition, String> {
    let mut entries = table.iter();
    let (Some((name, value)), None) = (entries.next(), entries.next()) else {
        return Err("has a `when` that does not name one other parameter".into());
    };
    let is_one_of: std::result::Result<Vec<Value>, String> = match value {
        toml::Value::Array(values) => values.iter().map(choice).collect(),
        value => choice(value).map(|value| vec![value]),
    };
    Ok(Condition {
        name: name.clone(),
        is_one_of: is_one_of?,
    })
}

#[cfg(test)]
#[path = "space_file_tests.rs"]
mod tests;
