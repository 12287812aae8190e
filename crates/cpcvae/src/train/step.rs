//! One step of training: a batch, its terms, their gradient, the update.

use super::Solver;
use super::fit::Training;
use crate::error::{Error, Result};
use crate::model::Model;
use crate::noise::Noise;
use crate::objective::{Examples, Progress, RowsUsed, Terms};
use cpcvae_data::{BatchPlan, Prefetch, Split};

impl Training<'_> {
    /// The next batch on the device, with its pseudo-labels.
    pub(super) fn next_examples(&self, stream: &mut Prefetch) -> Result<Examples> {
        let batch = stream
            .next()
            .ok_or_else(|| Error::Mismatch("the stream of batches ended".into()))?;
        let target = &self.plan.shape.target;
        let (outputs, is_classes) = (target.outputs(), target.is_classes());
        let pseudo_labels = self
            .pseudo_labels
            .as_ref()
            .map(|assigned| assigned.of(&batch.rows.unlabelled));
        let examples = Examples::from_batch(batch, outputs, is_classes, &self.device);
        Ok(match pseudo_labels {
            Some(pseudo_labels) => examples.with_pseudo_labels(pseudo_labels),
            None => examples,
        })
    }

    /// One batch: terms, gradient, update.
    pub(super) fn step(&mut self, examples: Examples, stage: usize, share: f64) -> Result<Terms> {
        let noise = Noise::new(self.plan.seed, self.total_steps(), &self.device);
        let examples = match self.plan.shape.likelihood.is_binary() {
            true => examples.binarised(&noise),
            false => examples,
        };
        let progress = Progress {
            share,
            multiplier: match self.plan.constraint.map(|constraint| constraint.solver) {
                Some(Solver::Dual { .. }) => self.state.multiplier,
                _ => None,
            },
        };
        let terms =
            self.recipe.stages[stage]
                .objective
                .terms(&self.model, &examples, &noise, progress)?;
        if let Some(loss) = terms.loss() {
            if !loss.clone().into_scalar::<f32>().is_finite() {
                return Err(self.not_finite(&terms));
            }
            let rate =
                self.plan.learning_rate * self.plan.schedule.factor(share, &self.state.schedule);
            let gradients = loss.backward();
            drop(loss);
            // Moved, not cloned: parameters with a single handle are updated in place.
            let model = std::mem::replace(&mut self.model, Model::placeholder());
            let clip_norm = self.plan.clip_norm;
            let adam = &mut self.adam;
            self.model = adam.step(model, gradients, rate, clip_norm, &self.compute);
            self.model.update_running_statistics();
        }
        Ok(terms)
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
            .with_stretch(self.plan.stretch as f32);
        let first = self.state.step;
        Ok(Prefetch::start(self.data.rows.clone(), plan, first)?)
    }
}
