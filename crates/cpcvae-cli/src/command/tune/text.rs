//! The report at the end of a search.

use crate::printer::percent;
use cpcvae::tune::{Found, Trial, TrialState};
use cpcvae_lab::table::TextTable;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// Trials that are listed.
const SHOWN: usize = 10;

/// The results of a search with its files.
pub(super) struct SearchReport<'a> {
    /// The results.
    pub found: &'a Found,
    /// The name of the loss.
    pub loss: &'a str,
    /// The folder of the search.
    pub folder: &'a Path,
    /// The figures.
    pub figures: &'a [PathBuf],
}

impl SearchReport<'_> {
    /// The report as text.
    pub(super) fn text(&self) -> String {
        let mut text = format!("{}\n", self.table().to_text());
        let count = |state| {
            let trials = self.found.trials.iter();
            trials.filter(|trial| trial.state == state).count()
        };
        text += &format!(
            "{} trials: {} complete, {} stopped early, {} failed\n",
            self.found.trials.len(),
            count(TrialState::Complete),
            count(TrialState::Pruned),
            count(TrialState::Failed)
        );
        if let Some((name, share)) = self.found.importances.first() {
            text += &format!("most important setting: {name} ({:.0} %)\n", 100.0 * share);
        }
        text += &self.estimate();
        if let Some(settings) = &self.found.settings {
            text += &format!("settings   {} (for `fit -c`)\n", settings.display());
        }
        text += &format!("trials     {}\n", self.folder.join("trials.csv").display());
        text += &format!("study      {}\n", self.folder.join("journal.log").display());
        for figure in self
            .figures
            .iter()
            .filter(|path| path.extension().is_some_and(|e| e == "png"))
        {
            text += &format!("figure     {}\n", figure.display());
        }
        text
    }

    fn estimate(&self) -> String {
        if let Some(why) = &self.found.no_estimate {
            return format!("no unbiased estimate: {why}\n");
        }
        let Some(estimate) = &self.found.estimate else {
            return String::new();
        };
        let rows = estimate.found.labelled;
        let mut text = format!("on {rows} rows that no trial has seen:\n");
        if let Some((found, defaults)) = estimate.accuracies() {
            for (name, share) in [("found", found), ("defaults", defaults)] {
                let (low, high) = (percent(share.low), percent(share.high));
                let value = percent(share.value);
                text += &format!("  {name:<9} {value} right (95% interval {low} to {high})");
                let evaluation = match name {
                    "found" => &estimate.found,
                    _ => &estimate.defaults,
                };
                if let Some(loss) = evaluation.log_loss {
                    text += &format!(", log-loss {loss:.4}");
                }
                text.push('\n');
            }
        } else if let Some((found, defaults)) = estimate.found.rmse.zip(estimate.defaults.rmse) {
            text += &format!("  found     RMSE {found:.4}\n  defaults  RMSE {defaults:.4}\n");
        } else if let Some((found, defaults)) = estimate.found.elbo.zip(estimate.defaults.elbo) {
            text += &format!("  found     ELBO {found:.4}\n  defaults  ELBO {defaults:.4}\n");
        }
        text
    }

    /// The best trials with their settings.
    fn table(&self) -> TextTable {
        let mut best: Vec<(f64, &Trial)> = self
            .found
            .trials
            .iter()
            .filter_map(|trial| Some((trial.finished_value()?, trial)))
            .collect();
        best.sort_by(|a, b| a.0.total_cmp(&b.0));
        let names = self
            .found
            .space
            .parameters
            .iter()
            .map(|parameter| &parameter.name);
        let mut header = vec!["trial".to_string(), self.loss.to_string()];
        header.extend(names.map(|name| name.rsplit('.').next().unwrap_or(name).to_string()));
        let row = |(value, trial): &(f64, &Trial)| {
            let mut row = vec![trial.number.to_string(), format!("{value:.4}")];
            for parameter in &self.found.space.parameters {
                let value = trial.params.get(&parameter.name);
                row.push(
                    match value.map(|value| parameter.distribution.shown(*value)) {
                        Some(Value::String(text)) => text,
                        Some(Value::Number(number)) => short(&number),
                        Some(Value::Bool(flag)) => (if flag { "yes" } else { "no" }).into(),
                        _ => "-".into(),
                    },
                );
            }
            row
        };
        TextTable {
            header,
            rows: best.iter().take(SHOWN).map(row).collect(),
        }
    }

    /// The report as a JSON object.
    pub(super) fn json(&self) -> Value {
        let found = self.found;
        let trials = found.trials.iter();
        let trials: Vec<Value> = trials
            .map(|trial| trial_json(&found.space, trial))
            .collect();
        let estimate = found
            .estimate
            .as_ref()
            .map(|estimate| json!({ "found": estimate.found, "defaults": estimate.defaults }));
        let importances = found.importances.iter();
        json!({
            "loss": self.loss,
            "best": found.best.as_ref().map(|best| best.number),
            "trials": trials,
            "importances": importances.map(|(name, share)| (name.clone(), json!(share))).collect::<Map<_, _>>(),
            "unseen": estimate,
            "no_estimate": found.no_estimate,
            "warning": found.warning,
            "settings": found.settings,
            "folder": self.folder,
            "figures": self.figures,
        })
    }
}

/// Rounded to four digits for display.
fn short(number: &serde_json::Number) -> String {
    match number.as_f64() {
        Some(value) if number.is_f64() => {
            let digits = (3.0 - value.abs().log10().floor()).clamp(0.0, 8.0) as usize;
            format!("{value:.digits$}")
        }
        _ => number.to_string(),
    }
}

/// How a trial ended, in words.
pub(super) fn outcome(trial: &Trial) -> String {
    match trial.value {
        Some(value) => format!("{} {value}", trial.state.name()),
        None => trial.state.name().into(),
    }
}

/// A trial as a JSON object.
pub(super) fn trial_json(space: &cpcvae::tune::Space, trial: &Trial) -> Value {
    json!({
        "number": trial.number,
        "state": trial.state.name(),
        "value": trial.value,
        "settings": space.settings(trial),
        "reports": trial.reports.iter().collect::<Vec<_>>(),
        "error": trial.user_attrs.get("error"),
    })
}
