//! The list of trainings: one cell for each setting, label count, code size, method and draw.

use super::plan::{MethodPlan, Plan, PresetName, Selection, SettingPlan};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use toml::{Table, Value};

/// The default name of variants.
const NO_SETTING: &str = "default";

/// Identifies a cell.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CellKey {
    /// The method's label.
    pub method: String,
    /// The variant's name.
    pub setting: String,
    /// The label count.
    pub labels: usize,
    /// The code size.
    pub code: usize,
    /// Candidate values of the method's `choose`; empty if nothing is selected.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub candidate: String,
    /// The number of the draw, which is its seed.
    pub draw: u64,
}

/// Settings that override others, with their origin.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// For messages.
    pub context: String,
    /// The settings.
    pub settings: Table,
}

/// One training of an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Identifies it.
    pub key: CellKey,
    /// The method's name.
    pub method: String,
    /// The preset of its defaults.
    pub preset: PresetName,
    /// Settings that override the defaults, in this order.
    pub layers: Vec<Layer>,
}

/// All cells, ordered by draw, so that there are soon results for everything.
pub fn cells(plan: &Plan) -> Vec<Cell> {
    let settings = variants(plan);
    let most = settings
        .iter()
        .flat_map(|setting| {
            plan.methods
                .iter()
                .map(|method| draws(plan, setting, method))
        })
        .max()
        .unwrap_or(0);
    let mut cells = Vec::new();
    for draw in 0..most {
        for setting in &settings {
            for labels in all(plan, |method| labels(plan, setting, method)) {
                for code in all(plan, |method| code(plan, setting, method)) {
                    let methods = plan.methods.iter().filter(|method| {
                        draw < draws(plan, setting, method)
                            && wants(method, &setting.name)
                            && self::labels(plan, setting, method).contains(&labels)
                            && self::code(plan, setting, method).contains(&code)
                    });
                    for method in methods {
                        cells.extend(candidates(plan, setting, method, (labels, code, draw)));
                    }
                }
            }
        }
    }
    cells
}

/// The cells of a method with one set of values: one, or one for each candidate.
fn candidates(
    plan: &Plan,
    setting: &SettingPlan,
    method: &MethodPlan,
    (labels, code, draw): (usize, usize, u64),
) -> Vec<Cell> {
    combinations(&method.choose)
        .into_iter()
        .map(|(candidate, chosen)| {
            let place = nested("data.labels", &Value::from(labels as i64));
            let size = nested("model.code", &Value::from(code as i64));
            let seed = nested("seed", &Value::from(draw as i64));
            let layer = |context: String, settings: &Table| Layer {
                context,
                settings: settings.clone(),
            };
            let mut layers = vec![
                layer("`set`".into(), &plan.set),
                layer(format!("setting `{}`", setting.name), &setting.set),
                layer(format!("method `{}`", method.label), &method.set),
            ];
            layers.extend(chosen.iter().map(|one| layer("`choose`".into(), one)));
            layers.extend([&place, &size, &seed].map(|one| layer("the cell".into(), one)));
            layers.push(layer("`quick.set`".into(), &plan.last));
            Cell {
                key: CellKey {
                    method: method.label.clone(),
                    setting: setting.name.clone(),
                    labels,
                    code,
                    candidate,
                    draw,
                },
                method: method.method.clone(),
                preset: method.preset.unwrap_or(plan.preset),
                layers,
            }
        })
        .collect()
}

/// The plan's named variants, or those of its grid, or one without a name.
fn variants(plan: &Plan) -> Vec<SettingPlan> {
    if !plan.settings.is_empty() {
        return plan.settings.clone();
    }
    combinations(&plan.grid)
        .into_iter()
        .map(|(name, tables)| {
            let mut set = Table::new();
            for table in tables {
                merge(&mut set, table);
            }
            SettingPlan {
                name: match name.is_empty() {
                    true => NO_SETTING.into(),
                    false => name,
                },
                labels: None,
                code: None,
                draws: None,
                set,
            }
        })
        .collect()
}

/// All combinations of values, with names such as `beta 1, rate 0.1`; a single empty one where
/// there are no keys.
fn combinations(grid: &BTreeMap<String, Vec<Value>>) -> Vec<(String, Vec<Table>)> {
    let mut all = vec![(String::new(), Vec::new())];
    for (key, values) in grid {
        let short = key.rsplit('.').next().unwrap_or(key);
        all = all
            .iter()
            .flat_map(|(name, tables)| {
                values.iter().map(move |value| {
                    let comma = if name.is_empty() { "" } else { ", " };
                    let mut tables = tables.clone();
                    tables.push(nested(key, value));
                    (format!("{name}{comma}{short} {value}"), tables)
                })
            })
            .collect();
    }
    all
}

/// `a.b = value` as a table.
fn nested(key: &str, value: &Value) -> Table {
    let mut parts = key.rsplit('.');
    let last = parts.next().unwrap_or(key);
    let innermost = Table::from_iter([(last.to_string(), value.clone())]);
    parts.fold(innermost, |inner, part| {
        Table::from_iter([(part.to_string(), Value::Table(inner))])
    })
}

fn merge(base: &mut Table, over: Table) {
    for (key, value) in over {
        match (base.get_mut(&key), value) {
            (Some(Value::Table(inner)), Value::Table(over)) => merge(inner, over),
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}

fn wants(method: &MethodPlan, setting: &str) -> bool {
    let names = method.settings.as_ref();
    names.is_none_or(|names| names.iter().any(|name| name == setting))
}

fn draws(plan: &Plan, setting: &SettingPlan, method: &MethodPlan) -> u64 {
    method.draws.or(setting.draws).unwrap_or(plan.draws)
}

fn labels<'a>(plan: &'a Plan, setting: &'a SettingPlan, method: &'a MethodPlan) -> &'a [usize] {
    let own = method.labels.as_ref().or(setting.labels.as_ref());
    own.unwrap_or(&plan.labels)
}

fn code<'a>(plan: &'a Plan, setting: &'a SettingPlan, method: &'a MethodPlan) -> &'a [usize] {
    let own = method.code.as_ref().or(setting.code.as_ref());
    own.unwrap_or(&plan.code)
}

/// The distinct values of all methods, in order of first occurrence.
fn all<'a>(plan: &'a Plan, of: impl Fn(&'a MethodPlan) -> &'a [usize]) -> Vec<usize> {
    let mut values = Vec::new();
    for value in plan.methods.iter().flat_map(of) {
        if !values.contains(value) {
            values.push(*value);
        }
    }
    values
}

impl Selection {
    /// Whether it includes the method of that label.
    pub(crate) fn has_method(&self, label: &str) -> bool {
        self.methods.is_empty() || self.methods.iter().any(|name| name == label)
    }

    /// Whether it includes the variant of that name.
    pub(crate) fn has_setting(&self, name: &str) -> bool {
        self.settings.is_empty() || self.settings.iter().any(|own| own == name)
    }

    /// Whether it includes that label count.
    pub(crate) fn has_labels(&self, labels: usize) -> bool {
        self.labels.is_empty() || self.labels.contains(&labels)
    }

    /// Whether it includes that code size.
    pub(crate) fn has_code(&self, code: usize) -> bool {
        self.code.is_empty() || self.code.contains(&code)
    }

    /// Whether it includes the cell.
    pub fn has(&self, key: &CellKey) -> bool {
        self.has_method(&key.method)
            && self.has_setting(&key.setting)
            && self.has_labels(key.labels)
            && self.has_code(key.code)
    }
}

impl CellKey {
    /// A file name: lower case letters, digits and dashes.
    pub fn slug(&self) -> String {
        slug(&self.to_string())
    }
}

/// The text as a part of a file name: lower case letters, digits, dots and single dashes.
pub fn slug(text: &str) -> String {
    let mut slug = String::new();
    for character in text.chars() {
        match character.to_ascii_lowercase() {
            plain @ ('a'..='z' | '0'..='9' | '.') => slug.push(plain),
            _ if slug.ends_with('-') => {}
            _ => slug.push('-'),
        }
    }
    slug.trim_matches('-').into()
}

impl fmt::Display for CellKey {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}", self.method)?;
        for part in [&self.setting, &self.candidate] {
            if !part.is_empty() && part != NO_SETTING {
                write!(to, ", {part}")?;
            }
        }
        let Self {
            labels, code, draw, ..
        } = self;
        write!(to, ", {labels} labels, code {code}, draw {draw}")
    }
}

#[cfg(test)]
#[path = "cells_tests.rs"]
pub(super) mod tests;
