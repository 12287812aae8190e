//! Early stopping of trials, based on the reports of other trials. Smaller is better.

use super::{Trial, TrialState};

/// The prefix of Optuna's keys for the values at the rungs of successive halving.
pub const RUNG_KEY: &str = "completed_rung_";

/// When trials are stopped early. Steps are percentages of a trial's length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pruner {
    /// Never.
    Nothing,
    /// Its best report so far is worse than the median of those of complete trials at the same
    /// step: Optuna's `MedianPruner`.
    Median {
        /// Complete trials before anything is stopped.
        startup: usize,
        /// The first step at which a trial may be stopped.
        warmup: u64,
    },
    /// At each rung only the best share of all trials that reached it continues, without waiting
    /// for others: ASHA, Optuna's `SuccessiveHalvingPruner`.
    Halving {
        /// The step of the first rung.
        first: u64,
        /// One in this many continues, and the next rung is this many times as far.
        factor: u64,
    },
}

impl Pruner {
    /// The median with Optuna's five startup trials, and not in the first tenth of a trial.
    pub const MEDIAN: Self = Self::Median {
        startup: 5,
        warmup: 10,
    };

    /// Rungs at a ninth and a third of a trial, where the better third continues.
    pub const ASHA: Self = Self::Halving {
        first: 11,
        factor: 3,
    };

    /// Whether to stop a trial after its last report, and the rungs that it reached with it, which
    /// must be stored with the trial.
    pub fn judge(&self, trial: &Trial, others: &[Trial]) -> (bool, Vec<(String, f64)>) {
        match *self {
            Self::Nothing => (false, Vec::new()),
            Self::Median { startup, warmup } => {
                (is_below_median(trial, others, startup, warmup), Vec::new())
            }
            Self::Halving { first, factor } => halve(trial, others, first, factor),
        }
    }
}

fn is_below_median(trial: &Trial, others: &[Trial], startup: usize, warmup: u64) -> bool {
    let complete = others
        .iter()
        .filter(|other| other.state == TrialState::Complete && other.id != trial.id);
    let Some((step, _)) = trial.last_report().filter(|(step, _)| *step >= warmup) else {
        return false;
    };
    if complete.clone().count() < startup.max(1) {
        return false;
    }
    let mut there: Vec<f64> = complete
        .filter_map(|other| other.reports.get(&step).copied())
        .filter(|value| !value.is_nan())
        .collect();
    let own = trial.reports.values().copied().filter(|own| !own.is_nan());
    let own = own.reduce(f64::min);
    match (own, median(&mut there)) {
        (None, _) => true,
        (Some(own), Some(median)) => own > median,
        (Some(_), None) => false,
    }
}

fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => None,
        count if count % 2 == 1 => Some(values[count / 2]),
        count => Some((values[count / 2 - 1] + values[count / 2]) / 2.0),
    }
}

fn halve(trial: &Trial, others: &[Trial], first: u64, factor: u64) -> (bool, Vec<(String, f64)>) {
    let mut reached = Vec::new();
    let Some((step, value)) = trial.last_report() else {
        return (false, reached);
    };
    let has = |key: &str| trial.system_attrs.contains_key(key);
    let mut rung: u32 = 0;
    while has(&format!("{RUNG_KEY}{rung}")) {
        rung += 1;
    }
    loop {
        if step < first.saturating_mul(factor.saturating_pow(rung)) {
            return (false, reached);
        }
        if value.is_nan() {
            return (true, reached);
        }
        let key = format!("{RUNG_KEY}{rung}");
        let others = others.iter().filter(|other| other.id != trial.id);
        let mut there: Vec<f64> = others
            .filter_map(|other| other.system_attrs.get(&key)?.as_f64())
            .chain([value])
            .collect();
        reached.push((key, value));
        there.sort_by(f64::total_cmp);
        // The first few continue only if they are the best of all.
        let place = (there.len() / factor.max(1) as usize).saturating_sub(1);
        if value > there[place] {
            return (true, reached);
        }
        rung += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn trial(id: usize, state: TrialState, reports: &[(u64, f64)]) -> Trial {
        Trial {
            reports: reports.iter().copied().collect(),
            ..Trial::new(id, id, state)
        }
    }

    fn complete(values: &[f64]) -> Vec<Trial> {
        let trials = values.iter().enumerate();
        trials
            .map(|(id, value)| trial(id, TrialState::Complete, &[(20, *value)]))
            .collect()
    }

    #[test]
    fn the_worse_half_is_stopped_once_there_are_enough_to_judge_by() {
        let judge = |own: &[(u64, f64)], others: &[f64]| {
            let own = trial(99, TrialState::Running, own);
            Pruner::MEDIAN.judge(&own, &complete(others)).0
        };
        let others = [1.0, 2.0, 3.0, 4.0, 5.0];
        assert!(judge(&[(20, 3.5)], &others) && !judge(&[(20, 3.0)], &others));
        assert!(!judge(&[(20, 9.0)], &others[..4]), "four are too few");
        assert!(!judge(&[(5, 9.0)], &others), "too early");
        assert!(!judge(&[(25, 9.0)], &others), "nobody was there");
        assert!(!judge(&[(15, 2.0), (20, 9.0)], &others), "it was good once");
        assert!(judge(&[(20, f64::NAN)], &others));
    }

    #[test]
    fn of_those_at_a_rung_a_third_goes_on() {
        let mut others = Vec::new();
        for (id, value) in [5.0, 4.0, 3.0, 2.0, 1.0].into_iter().enumerate() {
            let mut other = trial(id, TrialState::Pruned, &[(15, value)]);
            other
                .system_attrs
                .insert("completed_rung_0".into(), json!(value));
            others.push(other);
        }
        let judge = |reports: &[(u64, f64)]| {
            Pruner::ASHA.judge(&trial(99, TrialState::Running, reports), &others)
        };
        assert_eq!(judge(&[(10, 9.0)]), (false, vec![]));
        let rung = |number: u64, value: f64| (format!("{RUNG_KEY}{number}"), value);
        // Of six, two continue.
        assert_eq!(judge(&[(15, 2.5)]), (true, vec![rung(0, 2.5)]));
        assert_eq!(judge(&[(15, 1.5)]), (false, vec![rung(0, 1.5)]));
        // Alone at the next rung.
        let both = vec![rung(0, 1.5), rung(1, 1.5)];
        assert_eq!(judge(&[(35, 1.5)]), (false, both));
    }
}
