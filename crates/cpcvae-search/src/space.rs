//! The search space: an ordered list of parameters, some of them conditional on others.

use super::{Distribution, Trial};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A parameter is active only if another one has one of these values.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The other one, which precedes it.
    pub name: String,
    /// Its external values.
    pub is_one_of: Vec<Value>,
}

/// One parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// The key of a setting, or of a switch (see [`Space::SWITCH`]).
    pub name: String,
    /// Its values.
    pub distribution: Distribution,
    /// The condition; `None` for always.
    pub when: Option<Condition>,
}

/// All parameters of a search.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Space {
    /// Conditions name preceding parameters.
    pub parameters: Vec<Parameter>,
}

impl Space {
    /// The suffix of a name that is not a setting of its own, but says whether the setting before
    /// it is non-zero.
    pub const SWITCH: &str = "?";

    /// The parameter of that name.
    pub fn get(&self, name: &str) -> Option<&Parameter> {
        self.parameters
            .iter()
            .find(|parameter| parameter.name == name)
    }

    /// Whether a parameter is active, given the values of those before it.
    pub(crate) fn is_active(&self, parameter: &Parameter, params: &BTreeMap<String, f64>) -> bool {
        let Some(condition) = &parameter.when else {
            return true;
        };
        let other = self.get(&condition.name);
        let value = params.get(&condition.name);
        match other.zip(value) {
            Some((other, value)) => {
                let shown = other.distribution.shown(*value);
                condition.is_one_of.contains(&shown)
            }
            None => false,
        }
    }

    /// The settings of a trial: external values, and 0 for those that are switched off.
    pub fn settings(&self, trial: &Trial) -> BTreeMap<String, Value> {
        let mut settings = BTreeMap::new();
        for parameter in &self.parameters {
            let Some(value) = trial.params.get(&parameter.name) else {
                continue;
            };
            let shown = parameter.distribution.shown(*value);
            match parameter.name.strip_suffix(Self::SWITCH) {
                Some(setting) if shown == json!(false) => {
                    settings.insert(setting.to_string(), json!(0.0));
                }
                Some(_) => {}
                None => {
                    settings.insert(parameter.name.clone(), shown);
                }
            }
        }
        settings
    }

    /// The trial with these settings, as far as they are in the space; and the names of those that
    /// are not.
    pub fn trial_of(
        &self,
        setting: &dyn Fn(&str) -> Option<Value>,
    ) -> (BTreeMap<String, f64>, Vec<String>) {
        let (mut params, mut outside) = (BTreeMap::new(), Vec::new());
        for parameter in &self.parameters {
            if !self.is_active(parameter, &params) {
                continue;
            }
            let name = &parameter.name;
            let shown = match name.strip_suffix(Self::SWITCH) {
                Some(of) => setting(of).map(|value| json!(value.as_f64() != Some(0.0))),
                None => setting(name),
            };
            match shown.and_then(|shown| parameter.distribution.inner(&shown)) {
                Some(value) => {
                    params.insert(name.clone(), value);
                }
                None => outside.push(name.clone()),
            }
        }
        (params, outside)
    }

    /// As a JSON object, for programs in other languages.
    pub fn to_json(&self) -> Value {
        let parameters = self.parameters.iter().map(|parameter| {
            let when = parameter.when.as_ref().map(
                |condition| json!({ "name": condition.name, "is_one_of": condition.is_one_of }),
            );
            json!({
                "name": parameter.name,
                "distribution": parameter.distribution.to_optuna(),
                "when": when,
            })
        });
        json!({ "parameters": parameters.collect::<Vec<_>>() })
    }
}
