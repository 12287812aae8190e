//! The training loop.

use super::checkpoint::{Finished, LoopState};
use super::checkpoints::Checkpoints;
use super::communicator::{Alone, Communicator, agree};
use super::metrics::Metrics;
use super::pseudo_labels::AssignedLabels;
use super::report::{FitReport, StopReason, TrainingData};
use super::shards::{Shards, TreeSum};
use super::{Adam, Observer, Parameters, TrainPlan, initial_model};
use crate::error::Result;
use crate::infer::Inference;
use crate::method::Recipe;
use crate::model::Model;
use crate::op::Compute;
use burn::tensor::Device;
use cpcvae_data::{Dataset, Prefetch};
use cpcvae_kernels::isa::Isa;
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
    fit_with(&Alone, plan, data, folder, device, observer)
}

/// The same on rank 0 of several processes; the others call `assist`.
pub fn fit_with(
    ranks: &dyn Communicator,
    plan: &TrainPlan,
    data: &TrainingData,
    folder: Option<&Path>,
    device: &Device,
    observer: &mut dyn Observer,
) -> Result<FitOutcome> {
    with_compute(plan, device, |compute| {
        let checkpoints = match folder {
            Some(folder) => Checkpoints::in_folder(folder)?,
            None => Checkpoints::in_memory(None),
        };
        let mut training = Training::start(ranks, plan, data, checkpoints, compute)?;
        if let Some(folder) = folder {
            let bytes = training.state.metrics_bytes;
            training.metrics = Metrics::open(&folder.join("metrics.jsonl"), bytes)?;
        }
        let stop = training.run(observer)?;
        training.finish(stop)
    })
}

/// Takes part in the training of rank 0, from its checkpoint if there is one. Nothing is written.
pub(crate) fn assist(
    ranks: &dyn Communicator,
    plan: &TrainPlan,
    data: &TrainingData,
    checkpoint: Option<Vec<u8>>,
    device: &Device,
    observer: &mut dyn Observer,
) -> Result<StopReason> {
    with_compute(plan, device, |compute| {
        let checkpoints = Checkpoints::in_memory(checkpoint);
        Training::start(ranks, plan, data, checkpoints, compute)?.run(observer)
    })
}

/// Runs on a thread of the kernels' pool, which shares in every kernel's work instead of sleeping
/// meanwhile, and keeps the other threads awake.
fn with_compute<T: Send>(
    plan: &TrainPlan,
    device: &Device,
    work: impl FnOnce(&Compute) -> Result<T> + Send,
) -> Result<T> {
    let compute = Compute::new(&device.clone().autodiff(), plan.precision);
    let result = with_threads_awake(|| work(&compute));
    // Buffers of training's sizes are not needed afterwards.
    compute.free_memory();
    result
}

/// A training between two steps: what it is given, and what its steps change.
pub(super) struct Training<'a> {
    pub(super) plan: &'a TrainPlan,
    pub(super) data: &'a TrainingData,
    /// The labelled training rows.
    pub(super) labelled: Dataset,
    pub(super) ranks: &'a dyn Communicator,
    pub(super) shards: Shards,
    /// Sums gradients over shards and ranks.
    pub(super) sum: TreeSum,
    pub(super) compute: Compute,
    pub(super) device: Device,
    pub(super) checkpoints: Checkpoints,
    pub(super) metrics: Metrics,
    /// The plan's, or in later rounds of a constraint solver one with another lambda.
    pub(super) recipe: Recipe,
    pub(super) model: Model,
    pub(super) adam: Adam,
    pub(super) pseudo_labels: Option<AssignedLabels>,
    /// Position, best evaluation, multiplier: all that a checkpoint has beside the tensors.
    pub(super) state: LoopState,
    /// Whether this rank, and after a step whether any, was asked to stop.
    pub(super) wants_stop: bool,
    pub(super) clock: Instant,
    /// Seconds of training before the last resume.
    pub(super) seconds_before: f64,
}

impl<'a> Training<'a> {
    fn start(
        ranks: &'a dyn Communicator,
        plan: &'a TrainPlan,
        data: &'a TrainingData,
        checkpoints: Checkpoints,
        compute: &Compute,
    ) -> Result<Self> {
        let shards = Shards::of(plan, ranks)?;
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
            ranks,
            shards,
            sum: TreeSum::default(),
            wants_stop: false,
            plan,
            data,
            recipe: plan.recipe.clone(),
            compute: compute.clone(),
            device: compute.device().clone(),
            checkpoints,
            metrics: Metrics::in_memory(),
            model,
            adam,
            pseudo_labels,
            labelled: data.rows.select(&data.split.labelled),
            clock: Instant::now(),
            seconds_before: state.seconds,
            state,
        };
        training.set_recipe()?;
        let plan = format!("{:?} {plan:?}", Isa::current());
        agree(ranks, "settings", crc32fast::hash(plan.as_bytes()))?;
        training.check_ranks()?;
        Ok(training)
    }

    /// Every rank evaluates, assigns pseudo-labels and decides by itself, which is sound only as long
    /// as all have the same model.
    fn check_ranks(&self) -> Result<()> {
        match self.ranks.size() {
            1 => Ok(()),
            _ => agree(
                self.ranks,
                "parameters",
                Parameters::of(&self.model).checksum(),
            ),
        }
    }

    /// Rounds of the constraint solver; one without it. None if training has finished before.
    fn run(&mut self, observer: &mut dyn Observer) -> Result<StopReason> {
        match &self.state.finished {
            Some(finished) if finished.early => return Ok(StopReason::EarlyStop),
            Some(_) => return Ok(StopReason::Complete),
            None => {}
        }
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
            // Of several ranks all must stop at the same step: they tell each other in the next one.
            let wants_stop = observer.wants_stop();
            if self.wants_stop || (wants_stop && self.ranks.size() == 1) {
                return Ok(StopReason::Interrupted);
            }
            self.wants_stop = wants_stop;
            let place = self.plan.place(self.state.step);
            if batches
                .as_ref()
                .is_none_or(|(stage, _)| *stage != place.stage)
            {
                batches = Some((place.stage, self.batches_of(place.stage)?));
            }
            let (_, stream) = batches.as_mut().expect("set just above");
            self.assign_pseudo_labels(place.stage, place.share)?;
            let terms = self.step(stream, &place)?;
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
        self.check_ranks()?;
        self.state.metrics_bytes = self.metrics.sync()?;
        self.state.seconds = self.seconds_before + self.clock.elapsed().as_secs_f64();
        let assigned = self.pseudo_labels.as_ref();
        self.checkpoints
            .save_last(&self.model, &self.adam, assigned, &self.state)
    }
}
