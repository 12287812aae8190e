//! Figures of a hyperparameter search: its history, the importance of parameters, and the settings
//! of good trials.

use crate::figure::{
    ParallelAxis, ParallelLine, Result, TrialMark, bars, parallel_coordinates, search_history,
};
use cpcvae_search::{Distribution, Space, Trial, TrialState};
use std::path::{Path, PathBuf};

/// Draws all available figures into a folder, as PNG and SVG, and returns the files. `value` is the
/// name of the loss.
pub fn search_figures(
    folder: &Path,
    value: &str,
    space: &Space,
    trials: &[Trial],
    importances: &[(String, f64)],
) -> Result<Vec<PathBuf>> {
    let marks: Vec<TrialMark> = trials.iter().filter_map(mark).collect();
    let mut files = Vec::new();
    for ending in ["png", "svg"] {
        let mut draw = |name: &str, figure: &dyn Fn(&Path) -> Result<()>| -> Result<()> {
            let path = folder.join(format!("{name}.{ending}"));
            figure(&path)?;
            files.push(path);
            Ok(())
        };
        if !marks.is_empty() {
            let title = format!("{} trials", trials.len());
            draw("history", &|path| {
                search_history(&title, value, &marks, path)
            })?;
        }
        if !importances.is_empty() {
            let title = "Importance of the parameters";
            draw("importance", &|path| bars(title, importances, path))?;
        }
        let (axes, lines) = parallel(space, trials);
        if !lines.is_empty() {
            let title = format!("Complete trials, the smaller the {value} the darker");
            draw("parallel", &|path| {
                parallel_coordinates(&title, &axes, &lines, path)
            })?;
        }
    }
    Ok(files)
}

fn mark(trial: &Trial) -> Option<TrialMark> {
    let is_complete = trial.state == TrialState::Complete;
    let value = match trial.state {
        TrialState::Complete => trial.value?,
        TrialState::Pruned => trial.last_report()?.1,
        _ => return None,
    };
    Some(TrialMark {
        number: trial.number,
        value,
        is_complete,
    })
}

fn parallel(space: &Space, trials: &[Trial]) -> (Vec<ParallelAxis>, Vec<ParallelLine>) {
    let axes = space.parameters.iter().map(|parameter| {
        let (low, high) = ends(&parameter.distribution);
        ParallelAxis {
            name: parameter.name.clone(),
            low,
            high,
        }
    });
    let mut known: Vec<(f64, &Trial)> = trials
        .iter()
        .filter_map(|trial| Some((trial.finished_value()?, trial)))
        .collect();
    known.sort_by(|a, b| a.0.total_cmp(&b.0));
    let last = known.len().saturating_sub(1).max(1) as f64;
    let lines = known
        .iter()
        .enumerate()
        .map(|(rank, (_, trial))| ParallelLine {
            places: space
                .parameters
                .iter()
                .map(|parameter| {
                    let value = trial.params.get(&parameter.name)?;
                    Some(parameter.distribution.share(*value))
                })
                .collect(),
            strength: 1.0 - rank as f64 / last,
        });
    (axes.collect(), lines.collect())
}

fn ends(distribution: &Distribution) -> (String, String) {
    let number = |value: f64| match value.abs() {
        small if small > 0.0 && small < 1e-3 => format!("{value:.1e}"),
        _ => format!("{}", (value * 1e4).round() / 1e4),
    };
    let log = |log: bool| if log { " (log)" } else { "" };
    match distribution {
        Distribution::Float { low, high, log: l } => {
            (number(*low), format!("{}{}", number(*high), log(*l)))
        }
        Distribution::Int { low, high, log: l } => (low.to_string(), format!("{high}{}", log(*l))),
        Distribution::Choice(choices) => {
            let text = |choice: Option<&serde_json::Value>| match choice {
                Some(serde_json::Value::String(text)) => text.clone(),
                Some(other) => other.to_string(),
                None => String::new(),
            };
            (text(choices.first()), text(choices.last()))
        }
    }
}
