//! The importance of parameters: PED-ANOVA (Watanabe et al. 2023), the measure that Optuna 5 shows.
//! For each parameter, the distribution of its values among the best tenth of trials is compared
//! with that among all.

use super::sampler::grid_density;
use super::{Distribution, Parameter, Space, Trial};

/// Grid points over a range.
const STEPS: usize = 50;
/// The share of trials that count as the best ones.
const BEST: f64 = 0.1;

/// Parameters with their importance, which sum to 1; the most important first. Empty if fewer than
/// two trials have a value, or all have the same.
pub fn importances(space: &Space, trials: &[Trial]) -> Vec<(String, f64)> {
    let known: Vec<(&Trial, f64)> = trials
        .iter()
        .filter_map(|trial| Some((trial, trial.finished_value()?)))
        .collect();
    if known.len() < 2 {
        return Vec::new();
    }
    let mut values: Vec<f64> = known.iter().map(|(_, value)| *value).collect();
    values.sort_by(f64::total_cmp);
    let place = (BEST * values.len() as f64).ceil() as usize - 1;
    let best: Vec<&Trial> = known
        .iter()
        .filter(|(_, value)| *value <= values[place])
        .map(|(trial, _)| *trial)
        .collect();
    let all: Vec<&Trial> = known.iter().map(|(trial, _)| *trial).collect();
    let of = |parameter: &Parameter| (parameter.name.clone(), importance(parameter, &best, &all));
    let mut found: Vec<(String, f64)> = space.parameters.iter().map(of).collect();
    let total: f64 = found.iter().map(|(_, one)| one).sum();
    if total <= 0.0 {
        return Vec::new();
    }
    found.iter_mut().for_each(|(_, one)| *one /= total);
    found.sort_by(|a, b| b.1.total_cmp(&a.1));
    found
}

fn importance(parameter: &Parameter, best: &[&Trial], all: &[&Trial]) -> f64 {
    let with = |trials: &[&Trial]| -> Vec<f64> {
        let values = trials
            .iter()
            .filter_map(|trial| trial.params.get(&parameter.name));
        values.copied().collect()
    };
    let (best_values, all_values) = (with(best), with(all));
    if parameter.distribution.is_single() || best_values.is_empty() || all_values.len() < 2 {
        return 0.0;
    }
    let of_best = on_grid(&parameter.distribution, &best_values);
    let of_all = on_grid(&parameter.distribution, &all_values);
    let divergence: f64 = of_best
        .iter()
        .zip(&of_all)
        .map(|(best, all)| {
            let (best, all) = (best + 1e-12, all + 1e-12);
            all * (best / all - 1.0).powi(2)
        })
        .sum();
    let share = |part: usize, of: usize| part as f64 / of as f64;
    share(best_values.len(), best.len()).powi(2) / share(all_values.len(), all.len()) * divergence
}

/// Smoothed probabilities on a grid.
fn on_grid(distribution: &Distribution, values: &[f64]) -> Vec<f64> {
    let (low, high, log, steps) = match distribution {
        Distribution::Choice(choices) => {
            let mut counts = vec![0; choices.len()];
            values.iter().for_each(|value| counts[*value as usize] += 1);
            return grid_density(&counts, true);
        }
        Distribution::Float { low, high, log } => (*low, *high, *log, STEPS),
        Distribution::Int { low, high, log } => {
            let count = (high - low + 1) as usize;
            let steps = match log {
                true => (count as f64).log2().ceil() as usize + 1,
                false => count,
            };
            (*low as f64, *high as f64, *log, steps.min(STEPS))
        }
    };
    let inner = |value: f64| if log { value.ln() } else { value };
    let (low, high) = (inner(low), inner(high));
    let step = (high - low) / (steps - 1) as f64;
    let mut counts = vec![0; steps];
    for value in values {
        let place = ((inner(*value) - low) / step - 0.5).ceil();
        counts[place.clamp(0.0, (steps - 1) as f64) as usize] += 1;
    }
    grid_density(&counts, false)
}
