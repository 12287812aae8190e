//! One step of training: a batch, its terms, their gradient, the update.

use super::Solver;
use super::fit::Training;
use super::plan::Place;
use crate::error::{Error, Result};
use crate::model::Model;
use crate::noise::Noise;
use crate::objective::{Examples, Progress, RowsUsed, Terms};
use burn::tensor::Gradients;
use cpcvae_data::{BatchPlan, Prefetch, Split};
use cpcvae_kernels::timing::timed;

/// What a batch, or a shard of one, says.
pub(super) struct BatchTerms {
    pub(super) terms: Terms,
    /// The loss and its gradient; nothing where no term has a weight.
    pub(super) learnt: Option<(f32, Gradients)>,
    /// Its share of the step's rows.
    pub(super) share: f32,
}

impl Training<'_> {
    /// One batch: terms, gradient, update.
    pub(super) fn step(&mut self, stream: &mut Prefetch, place: &Place) -> Result<Terms> {
        let BatchTerms { terms, learnt, .. } = match self.shards.count {
            1 => self.batch(stream, place)?,
            _ => self.mean_of_shards(stream, place)?,
        };
        if let Some((loss, gradients)) = learnt {
            if !loss.is_finite() {
                return Err(self.not_finite(&terms));
            }
            let factor = self.plan.schedule.factor(place.share, &self.state.schedule);
            let rate = self.plan.learning_rate * factor;
            // Moved out, not cloned: parameters that only one place holds are updated in place.
            let model = std::mem::replace(&mut self.model, Model::placeholder());
            let clip_norm = self.plan.clip_norm;
            let adam = &mut self.adam;
            self.model = adam.step(model, gradients, rate, clip_norm, &self.compute);
            self.model.update_running_statistics();
        }
        Ok(terms)
    }

    /// Terms and gradient of the stream's next batch or shard.
    pub(super) fn batch(&self, stream: &mut Prefetch, place: &Place) -> Result<BatchTerms> {
        let (examples, shard, share) = timed("batch", 0.0, || self.next_examples(stream))?;
        let noise = Noise::new(self.plan.seed, self.total_steps(), &self.device).shard(shard);
        let examples = match self.plan.shape.likelihood.is_binary() {
            true => examples.binarised(&noise),
            false => examples,
        };
        let progress = Progress {
            share: place.share,
            multiplier: match self.plan.constraint.map(|constraint| constraint.solver) {
                Some(Solver::Dual { .. }) => self.state.multiplier,
                _ => None,
            },
        };
        let objective = &self.recipe.stages[place.stage].objective;
        let terms = objective.terms(&self.model, &examples, &noise, progress)?;
        let learnt = terms.loss().map(|loss| {
            let value = loss.clone().into_scalar::<f32>();
            (value, loss.backward())
        });
        Ok(BatchTerms {
            terms,
            learnt,
            share,
        })
    }

    /// The next batch on the device, with its pseudo-labels; which shard it is, and its share of the
    /// step's rows.
    fn next_examples(&self, stream: &mut Prefetch) -> Result<(Examples, usize, f32)> {
        let batch = stream
            .next()
            .ok_or_else(|| Error::Mismatch("the stream of batches ended".into()))?;
        let (shard, share) = (batch.shard, batch.share);
        let target = &self.plan.shape.target;
        let (outputs, is_classes) = (target.outputs(), target.is_classes());
        let pseudo_labels = self
            .pseudo_labels
            .as_ref()
            .map(|assigned| assigned.of(&batch.rows.unlabelled));
        let examples = Examples::from_batch(batch, outputs, is_classes, &self.device);
        let examples = match pseudo_labels {
            Some(pseudo_labels) => examples.with_pseudo_labels(pseudo_labels),
            None => examples,
        };
        Ok((examples, shard, share))
    }

    fn not_finite(&self, terms: &Terms) -> Error {
        let (term, value) = terms
            .values()
            .into_iter()
            .find(|(_, value)| !value.is_finite())
            .unwrap_or(("loss", f32::INFINITY));
        Error::NotFinite {
            step: self.state.step,
            term: term.into(),
            value,
            checkpoint: self.checkpoints.last_path(),
        }
    }

    /// The batches of a stage: all rows without their labels if labels are not used, labelled rows
    /// alone if unlabelled ones are not used, otherwise both.
    pub(super) fn batches_of(&self, stage: usize) -> Result<Prefetch> {
        let Split {
            labelled,
            unlabelled,
            ..
        } = &self.data.split;
        let (many, few) = (self.plan.unlabelled_per_batch, self.plan.labelled_per_batch);
        let (labelled, unlabelled, few, many) =
            match self.recipe.stages[stage].objective.rows_used() {
                RowsUsed::AllUnlabelled => {
                    let all = [labelled.as_slice(), unlabelled].concat();
                    (Vec::new(), all, 0, few + many)
                }
                RowsUsed::Labelled => (labelled.clone(), Vec::new(), few, 0),
                RowsUsed::Both => (labelled.clone(), unlabelled.clone(), few, many),
            };
        let plan = BatchPlan::new(labelled, unlabelled, few, many, self.plan.seed)?
            .with_shift(self.plan.shift)
            .with_stretch(self.plan.stretch as f32)
            .with_shards(self.shards.count, self.shards.own.clone());
        let first = self.state.step;
        Ok(Prefetch::start(self.data.rows.clone(), plan, first)?)
    }
}
