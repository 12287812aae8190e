//! The tree-structured Parzen estimator: a point is the more promising, the larger the ratio of the
//! densities of good and other trials. As in Optuna 5: parameters that are always active are
//! modelled jointly, others independently, and running trials count as bad ones, so that parallel
//! workers do not try the same.

use super::parzen::Parzen;
use crate::{Parameter, Space, Trial, TrialState};
use rand::Rng;
use std::collections::BTreeMap;

/// Settings of the search, with Optuna's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tpe {
    /// Random trials before TPE starts.
    pub startup: usize,
    /// Draws of which the most promising is chosen.
    pub candidates: usize,
}

impl Default for Tpe {
    fn default() -> Self {
        Self {
            startup: 10,
            candidates: 24,
        }
    }
}

impl Tpe {
    /// Whether there are enough trials.
    pub(super) fn has_enough(&self, trials: &[Trial]) -> bool {
        trials.iter().filter(|trial| is_known(trial)).count() >= self.startup
    }

    /// Proposes the parameters that are always active.
    pub(super) fn joint(
        &self,
        space: &Space,
        trials: &[Trial],
        random: &mut impl Rng,
    ) -> BTreeMap<String, f64> {
        let always = |parameter: &&Parameter| {
            parameter.when.is_none() && !parameter.distribution.is_single()
        };
        let parameters: Vec<&Parameter> = space.parameters.iter().filter(always).collect();
        if parameters.is_empty() {
            return BTreeMap::new();
        }
        let values = self.most_promising(&parameters, trials, random);
        let names = parameters.iter().map(|parameter| parameter.name.clone());
        names.zip(values).collect()
    }

    /// Proposes a single parameter.
    pub(super) fn alone(
        &self,
        parameter: &Parameter,
        trials: &[Trial],
        random: &mut impl Rng,
    ) -> f64 {
        match parameter.distribution.is_single() {
            true => parameter.distribution.at(0.0),
            false => self.most_promising(&[parameter], trials, random)[0],
        }
    }

    fn most_promising(
        &self,
        parameters: &[&Parameter],
        trials: &[Trial],
        random: &mut impl Rng,
    ) -> Vec<f64> {
        let (good, bad) = self.densities(parameters, trials);
        let draws: Vec<Vec<f64>> = (0..self.candidates).map(|_| good.draw(random)).collect();
        let promise = |point: &Vec<f64>| good.log_density(point) - bad.log_density(point);
        let best = draws.into_iter().map(|point| (promise(&point), point));
        let best = best.reduce(|best, other| if other.0 > best.0 { other } else { best });
        best.map_or(Vec::new(), |(_, point)| point)
    }

    /// Densities of good trials and of the others.
    fn densities(&self, parameters: &[&Parameter], trials: &[Trial]) -> (Parzen, Parzen) {
        let (good, bad) = split(trials);
        let seen = |trials: Vec<&Trial>| -> Vec<Vec<f64>> {
            let of = |trial: &&Trial| {
                let value = |one: &&Parameter| {
                    let value = trial.params.get(&one.name).copied();
                    value.filter(|value| one.distribution.contains(*value))
                };
                parameters.iter().map(value).collect()
            };
            trials.iter().filter_map(of).collect()
        };
        (
            Parzen::new(parameters, &seen(good)),
            Parzen::new(parameters, &seen(bad)),
        )
    }

    /// The logarithm of the ratio of densities, for tests against Optuna.
    #[doc(hidden)]
    pub fn promise(&self, space: &Space, trials: &[Trial], point: &[f64]) -> f64 {
        let parameters: Vec<&Parameter> = space.parameters.iter().collect();
        let (good, bad) = self.densities(&parameters, trials);
        good.log_density(point) - bad.log_density(point)
    }
}

fn is_known(trial: &Trial) -> bool {
    matches!(trial.state, TrialState::Complete | TrialState::Pruned)
}

/// The good tenth, at most 25, and the others including running ones; both by number. Stopped
/// trials are ranked after complete ones, by their last step and value.
fn split(trials: &[Trial]) -> (Vec<&Trial>, Vec<&Trial>) {
    let mut ranked: Vec<&Trial> = trials.iter().filter(|trial| is_known(trial)).collect();
    let key = |trial: &Trial| {
        let value = trial.value.filter(|value| !value.is_nan());
        match (trial.state, trial.last_report()) {
            (TrialState::Complete, _) => (0, 0, value.unwrap_or(f64::INFINITY)),
            (_, Some((step, value))) => {
                let value = if value.is_nan() { f64::INFINITY } else { value };
                (1, u64::MAX - step, value)
            }
            (_, None) => (2, 0, 0.0),
        }
    };
    ranked.sort_by(|a, b| {
        let (a, b) = (key(a), key(b));
        (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2))
    });
    let count = ranked.len().div_ceil(10).min(25);
    let mut bad = ranked.split_off(count);
    let running = |trial: &&Trial| trial.state == TrialState::Running;
    bad.extend(trials.iter().filter(running));
    ranked.sort_by_key(|trial| trial.number);
    bad.sort_by_key(|trial| trial.number);
    (ranked, bad)
}
