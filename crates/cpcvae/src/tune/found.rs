//! The results of a search and its files: settings for `fit`, and a table of all trials.

use super::{Error, Estimate, Objective, Result, Tuning, Unseen};
use crate::config::parse_settings;
use crate::train::Watch;
use cpcvae_data::write_atomically;
use cpcvae_search::{Space, Trial, importances};
use std::path::PathBuf;
use toml::{Table, Value};

/// With fewer labels than this, the choice of the best trial is partly chance.
const MANY: usize = 1000;

/// The results of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// All trials.
    pub trials: Vec<Trial>,
    /// The space that was searched.
    pub space: Space,
    /// The best one; `None` if none has finished.
    pub best: Option<Trial>,
    /// Settings of the best one, for `fit`.
    pub settings: Option<PathBuf>,
    /// Figures on rows that no trial has seen.
    pub estimate: Option<Estimate>,
    /// The importance of parameters, as shares.
    pub importances: Vec<(String, f64)>,
    /// A caveat about the best value.
    pub warning: Option<String>,
    /// Why there is no estimate.
    pub no_estimate: Option<String>,
}

impl Tuning {
    /// All trials so far.
    pub fn trials(&self) -> Result<Vec<Trial>> {
        self.study().read()?;
        Ok(self.study().trials())
    }

    /// Writes the best settings and a table of trials, and evaluates on rows that no trial has
    /// seen. Can be called at any time.
    pub fn finish(&self, watch: &dyn Watch) -> Result<Found> {
        let trials = self.trials()?;
        let best = self.study().best();
        write_atomically(
            &self.folder.join("trials.csv"),
            self.csv(&trials).as_bytes(),
        )?;
        let settings = match &best {
            None => None,
            Some(best) => {
                let path = self.folder.join("best.toml");
                write_atomically(&path, self.settings_text(best)?.as_bytes())?;
                Some(path)
            }
        };
        let estimate = match &best {
            None => None,
            Some(best) => self.estimate(best, watch)?,
        };
        Ok(Found {
            importances: importances(&self.space, &trials),
            space: self.space.clone(),
            warning: self.warning(&trials),
            no_estimate: match &self.unseen {
                Unseen::Nothing(why) => Some(why.clone()),
                _ => None,
            },
            trials,
            best,
            settings,
            estimate,
        })
    }

    fn warning(&self, trials: &[Trial]) -> Option<String> {
        let labels = self.objective.rows();
        let tried = trials
            .iter()
            .filter(|trial| trial.finished_value().is_some());
        let tried = tried.count();
        if labels >= MANY || tried < 2 || !self.base.method.uses_labels() {
            return None;
        }
        let how = match self.objective {
            Objective::Validation { .. } => "validation rows",
            Objective::CrossFit { .. } => "held-out labels",
        };
        // Half the width of the 95 % interval of a difference by chance, at an accuracy of 90 %.
        let half = 196.0 * (0.09 / labels.max(1) as f64).sqrt();
        Some(format!(
            "the best of {tried} trials is the best by {labels} {how}, partly by luck: its \
             {} is too good to be true (an accuracy of 90 % is known to within {half:.0} points \
             from so many)",
            self.loss_name()
        ))
    }

    /// The requested settings overridden by the best ones.
    fn settings_text(&self, best: &Trial) -> Result<String> {
        let mut table = Table::new();
        let method = Table::from_iter([(
            "name".to_string(),
            Value::String(self.base.method.name().into()),
        )]);
        table.insert("method".into(), Value::Table(method));
        let asked = self.request.requested_settings();
        for over in [asked, parse_settings(&self.pairs_of(best))?] {
            for (section, value) in over {
                match (table.get_mut(&section), value) {
                    (Some(Value::Table(inner)), Value::Table(over)) => inner.extend(over),
                    (_, value) => {
                        table.insert(section, value);
                    }
                }
            }
        }
        let text = toml::to_string(&table).map_err(|error| Error::Config {
            context: "best.toml".into(),
            problem: error.to_string(),
        })?;
        let value = best.value.unwrap_or(f64::NAN);
        Ok(format!(
            "# Trial {}: {} {value} by {}.\n{text}",
            best.number,
            self.loss_name(),
            self.evaluated_on()
        ))
    }

    fn csv(&self, trials: &[Trial]) -> String {
        let names: Vec<&str> = self
            .space
            .parameters
            .iter()
            .map(|parameter| parameter.name.as_str())
            .collect();
        let mut text = format!("trial,state,value,reports,{}\n", names.join(","));
        for trial in trials {
            let value = trial.value.map_or(String::new(), |value| value.to_string());
            let (state, reports) = (trial.state.name(), trial.reports.len());
            text += &format!("{},{state},{value},{reports}", trial.number);
            for parameter in &self.space.parameters {
                let value = trial.params.get(&parameter.name);
                let shown = value.map(|value| match parameter.distribution.shown(*value) {
                    serde_json::Value::String(text) if text.contains(',') => format!("\"{text}\""),
                    serde_json::Value::String(text) => text,
                    other => other.to_string(),
                });
                text += &format!(",{}", shown.unwrap_or_default());
            }
            text.push('\n');
        }
        text
    }
}
