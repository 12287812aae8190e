//! The training loop.

use super::checkpoint::{Finished, LoopState};
use super::checkpoints::Checkpoints;
use super::metrics::Metrics;
use super::pseudo_labels::AssignedLabels;
use super::report::{FitReport, StopReason, TrainingData};
use super::{Adam, Observer, TrainPlan, initial_model};
use crate::error::Result;
use crate::infer::Inference;
use crate::method::Recipe;
use crate::model::Model;
use crate::op::Compute;
use burn::tensor::Device;
use cpcvae_data::{Dataset, Prefetch};
use cpcvae_kernels::parallel::with_threads_awake;
use cpcvae_kernels::timing::timed;
use serde_json::json;
use std::path::Path;
use std::time::Instant;

/// A training's result.
#[derive(Debug)]
pub struct FitOutcome {
    /// The model that is kept.
    pub model: Model,
    /// The report.
    pub report: FitReport,
    /// Every term over time, as lines of JSON; empty if they are in a folder.
    pub metrics: Vec<u8>,
}

/// Trains, or resumes from the last checkpoint in `folder`. Without a folder nothing is written.
pub fn fit(
    plan: &TrainPlan,
    data: &TrainingData,
    folder: Option<&Path>,
    device: &Device,
    observer: &mut dyn Observer,
) -> Result<FitOutcome> {
    let compute = Compute::new(&device.clone().autodiff(), plan.precision);
    // Runs on a thread of the kernels' pool, which shares in every kernel's work instead of
    // sleeping meanwhile, and keeps the other threads awake.
    let result = with_threads_awake(|| {
        let mut training = Training::start(plan, data, folder, &compute)?;
        let stop = match &training.state.finished {
            Some(finished) if finished.early => StopReason::EarlyStop,
            Some(_) => StopReason::Complete,
            None => training.run(observer)?,
        };
        training.finish(stop)
    });
    // Buffers of training's sizes are not needed afterwards.
    compute.free_memory();
    result
}

pub(super) struct Training<'a> {
    pub(super) plan: &'a TrainPlan,
    pub(super) data: &'a TrainingData,
    pub(super) recipe: Recipe,
    pub(super) compute: Compute,
    pub(super) device: Device,
    pub(super) checkpoints: Checkpoints,
    pub(super) metrics: Metrics,
    pub(super) model: Model,
    pub(super) adam: Adam,
    pub(super) pseudo_labels: Option<AssignedLabels>,
    pub(super) state: LoopState,
    pub(super) labelled: Dataset,
    pub(super) clock: Instant,
    pub(super) seconds_before: f64,
}

impl<'a> Training<'a> {
    fn start(
        plan: &'a TrainPlan,
        data: &'a TrainingData,
        folder: Option<&Path>,
        compute: &Compute,
    ) -> Result<Self> {
        let checkpoints = match folder {
            Some(folder) => Checkpoints::in_folder(folder)?,
            None => Checkpoints::in_memory(),
        };
        let earlier = checkpoints.last(|| Model::new(&plan.shape, plan.seed, compute))?;
        let (model, adam, pseudo_labels, state) = match earlier {
            Some(earlier) => earlier,
            None => {
                let state = LoopState {
                    multiplier: plan.constraint.and(plan.method.prediction_weight()),
                    ..LoopState::default()
                };
                let model = initial_model::fresh(plan, data, compute);
                (model, Adam::default(), None, state)
            }
        };
        let mut training = Self {
            plan,
            data,
            recipe: plan.recipe.clone(),
            compute: compute.clone(),
            device: compute.device().clone(),
            checkpoints,
            metrics: match folder {
                Some(folder) => Metrics::open(&folder.join("metrics.jsonl"), state.metrics_bytes)?,
                None => Metrics::in_memory(),
            },
            model,
            adam,
            pseudo_labels,
            labelled: data.rows.select(&data.split.labelled),
            clock: Instant::now(),
            seconds_before: state.seconds,
            state,
        };
        training.set_recipe()?;
        Ok(training)
    }

    /// Rounds of the constraint solver; one without it.
    fn run(&mut self, observer: &mut dyn Observer) -> Result<StopReason> {
        loop {
            let stop = self.run_round(observer)?;
            if stop == StopReason::Interrupted {
                self.save()?;
                return Ok(stop);
            }
            let report = self.constraint_report()?;
            if let Some(report) = &report {
                observer.on_constraint(report);
                self.metrics.write(&json!({
                    "step": self.total_steps(), "constraint": report,
                }))?;
                if self.next_round(report)? {
                    continue;
                }
            }
            self.state.finished = Some(Finished {
                early: stop == StopReason::EarlyStop,
                constraint: report,
            });
            self.save()?;
            return Ok(stop);
        }
    }

    /// Steps until the plan's end, early stopping, or a stop by the observer.
    fn run_round(&mut self, observer: &mut dyn Observer) -> Result<StopReason> {
        let mut batches: Option<(usize, Prefetch)> = None;
        while self.state.step < self.plan.steps {
            if observer.wants_stop() {
                return Ok(StopReason::Interrupted);
            }
            let place = self.plan.place(self.state.step);
            if batches
                .as_ref()
                .is_none_or(|(stage, _)| *stage != place.stage)
            {
                batches = Some((place.stage, self.batches_of(place.stage)?));
            }
            let (_, stream) = batches.as_mut().expect("set just above");
            self.assign_pseudo_labels(place.stage, place.share)?;
            let examples = timed("batch", 0.0, || self.next_examples(stream))?;

            let terms = self.step(examples, place.stage, place.share)?;
            self.state.step += 1;
            self.adjust_multiplier(&terms)?;
            timed("log", 0.0, || self.log(&terms, place.stage, observer))?;
            if self.state.step.is_multiple_of(self.plan.evaluate_every)
                || self.state.step == self.plan.steps
            {
                let in_last_stage = place.stage + 1 == self.recipe.stages.len();
                self.evaluate(in_last_stage, observer)?;
                if self
                    .plan
                    .early_stop
                    .is_some_and(|patience| self.state.waited >= patience)
                {
                    return Ok(StopReason::EarlyStop);
                }
            }
            if self.state.step.is_multiple_of(self.plan.checkpoint_every) {
                self.save()?;
            }
        }
        Ok(StopReason::Complete)
    }

    /// Assigns pseudo-labels when the objective needs them and they are due: first by the features
    /// alone, later by codes too.
    fn assign_pseudo_labels(&mut self, stage: usize, share: f64) -> Result<()> {
        let objective = &self.recipe.stages[stage].objective;
        let due = AssignedLabels::due(objective, share);
        if due <= self.state.spreads {
            return Ok(());
        }
        let classes = self.plan.shape.target.outputs();
        let earlier = self.pseudo_labels.as_ref();
        let coder = earlier.map(|_| self.inference());
        let later = earlier.zip(coder.as_ref());
        let seed = self.plan.seed;
        self.pseudo_labels = AssignedLabels::assign(objective, self.data, classes, seed, later)?;
        self.state.spreads = due;
        Ok(())
    }

    /// Steps over all rounds.
    pub(super) fn total_steps(&self) -> u64 {
        self.state.steps_before + self.state.step
    }

    pub(super) fn inference(&self) -> Inference {
        Inference::new(&self.model, &self.plan.shape, &self.device, self.plan.seed)
    }

    pub(super) fn save(&mut self) -> Result<()> {
        self.state.metrics_bytes = self.metrics.sync()?;
        self.state.seconds = self.seconds_before + self.clock.elapsed().as_secs_f64();
        let assigned = self.pseudo_labels.as_ref();
        self.checkpoints
            .save_last(&self.model, &self.adam, assigned, &self.state)
    }

    fn finish(mut self, stop: StopReason) -> Result<FitOutcome> {
        let steps = self.total_steps();
        let mut kept_step = steps;
        let mut evaluation = None;
        // A constraint is measured at the last step, so with one the last model is kept.
        let keeps_best = stop != StopReason::Interrupted && self.plan.constraint.is_none();
        if let (Some(best), true) = (&self.state.best, keeps_best) {
            kept_step = self.state.steps_before + best.step;
            evaluation = best.evaluation.clone();
            let fresh = Model::new(&self.plan.shape, self.plan.seed, &self.compute);
            self.model = self.checkpoints.best(fresh)?;
        }
        let inference = self.inference();
        let report = FitReport {
            stop,
            steps,
            seconds: self.seconds_before + self.clock.elapsed().as_secs_f64(),
            kept_step,
            validation: self.data.validation.as_ref().map(|rows| {
                let of_best = evaluation.unwrap_or_else(|| inference.evaluate_predictions(rows));
                inference.with_evidence(of_best, rows)
            }),
            constraint: self.state.finished.and_then(|finished| finished.constraint),
        };
        Ok(FitOutcome {
            model: self.model,
            report,
            metrics: self.metrics.into_lines(),
        })
    }
}
