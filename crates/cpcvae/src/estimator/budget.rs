//! A time budget for a complete fit: fewer steps, then fewer folds.

use super::estimator::HeldOutOptions;
use crate::config::RunConfig;
use crate::device::Device;
use crate::error::Result;
use crate::run::run;
use crate::train::{Observer, StepReport};
use cpcvae_data::Source;
use std::time::{Duration, Instant};

/// Steps of the training that measures the time of a step.
const PROBE: u64 = 30;
/// With fewer steps than this a network learns nothing; folds are reduced first.
const FEWEST_STEPS: u64 = 100;
/// Share of the remaining time that is planned with: other programs may use the processor, too.
const PLANNED: f64 = 0.85;
/// Time of training on the labels alone, as a share of a training.
const LABELS_ONLY: f64 = 0.25;

/// The times of steps.
#[derive(Default)]
struct Clock {
    first: Option<(u64, Instant)>,
    last: Option<(u64, Instant)>,
}

impl Observer for Clock {
    fn on_step(&mut self, report: &StepReport<'_>) {
        let now = (report.step, Instant::now());
        self.first.get_or_insert(now);
        self.last = Some(now);
    }
}

/// The time of a training, in seconds.
#[derive(Clone, Copy, Debug)]
struct Cost {
    /// Of a step.
    step: f64,
    /// Of everything before and after.
    fixed: f64,
}

/// Settings and folds with which a fit stays within the budget, estimated by a short training;
/// `began` is when the fit started. Never more steps and folds than without a budget.
pub(super) fn plan(
    config: RunConfig,
    held_out: HeldOutOptions,
    folds: usize,
    (source, device): (&Source, &Device),
    (budget, began): (Duration, Instant),
) -> Result<(RunConfig, HeldOutOptions)> {
    let mut probe = config.clone();
    probe.train.steps = PROBE.min(config.train.steps);
    probe.train.epochs = 0.0;
    probe.train.log_every = 1;
    let (mut clock, start) = (Clock::default(), Instant::now());
    run(&probe, source.clone(), None, device, &mut clock)?;
    let all = start.elapsed().as_secs_f64();
    let step = match (clock.first, clock.last) {
        (Some((first, began)), Some((last, ended))) if last > first => {
            (ended - began).as_secs_f64() / (last - first) as f64
        }
        _ => all / probe.train.steps.max(1) as f64,
    };
    let cost = Cost {
        step,
        fixed: (all - step * probe.train.steps as f64).max(0.0),
    };
    let left = PLANNED * budget.as_secs_f64() - began.elapsed().as_secs_f64();
    let (steps, folds) = affordable(left, cost, config.train.steps, folds, held_out.compare);
    let mut config = config;
    config.train.steps = steps;
    let held_out = HeldOutOptions {
        wanted: match folds {
            0 => Some(false),
            _ => held_out.wanted,
        },
        folds: (folds > 0).then_some(folds),
        ..held_out
    };
    Ok((config, held_out))
}

/// The most folds, up to `folds`, for which a training still has enough steps, and those steps.
fn affordable(left: f64, cost: Cost, most: u64, folds: usize, compare: bool) -> (u64, usize) {
    let steps = |folds: usize| {
        let trainings = 1.0 + folds as f64 * (1.0 + if compare { LABELS_ONLY } else { 0.0 });
        let steps = (left / trainings - cost.fixed) / cost.step.max(1e-9);
        (steps.max(0.0) as u64).min(most)
    };
    let fewest = FEWEST_STEPS.min(most);
    let choices = [folds, folds.min(3), folds.min(2)];
    match choices.into_iter().find(|folds| steps(*folds) >= fewest) {
        Some(folds) => (steps(folds), folds),
        None => (steps(0).max(1), 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_buys_steps_first_and_folds_before_too_few_of_them() {
        let cost = Cost {
            step: 0.01,
            fixed: 1.0,
        };
        let plan = |left| affordable(left, cost, 1000, 5, true);
        assert_eq!(plan(1000.0), (1000, 5));
        let (steps, folds) = plan(30.0);
        assert!(folds == 5 && (300..400).contains(&steps), "{steps}");
        assert_eq!(plan(12.0).1, 3);
        assert_eq!(plan(5.0), (400, 0));
        assert_eq!(plan(0.5), (1, 0));
        assert_eq!(affordable(60.0, cost, 40, 5, false), (40, 5));
    }
}
