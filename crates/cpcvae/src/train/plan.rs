//! The checked plan of a training.

use super::{Constraint, DecoderStart, Schedule};
use crate::method::{LabelFacts, Method, ObjectiveOptions, Recipe, Stage};
use crate::model::Shape;
use cpcvae_kernels::product::Precision;

/// A checked plan: none of its values can be out of range.
#[derive(Clone, Debug)]
pub struct TrainPlan {
    /// The seed of weights, batches and noise.
    pub seed: u64,
    /// The model.
    pub shape: Shape,
    /// The initial output of the decoder of images.
    pub decoder_start: DecoderStart,
    /// The method as configured; a constraint solver makes recipes with other lambdas from it.
    pub method: Method,
    /// Facts about the labels that recipes need.
    pub facts: LabelFacts,
    /// Settings outside of `[method]` that recipes depend on.
    pub options: ObjectiveOptions,
    /// Its stages.
    pub recipe: Recipe,
    /// Optimiser steps.
    pub steps: u64,
    /// Labelled rows in a batch.
    pub labelled_per_batch: usize,
    /// Unlabelled rows in a batch.
    pub unlabelled_per_batch: usize,
    /// Parts of a batch whose gradients are summed: a power of two.
    pub shards: usize,
    /// Images are shifted by at most this many pixels, drawn anew at each step.
    pub shift: usize,
    /// Each entry of the random matrix that images are transformed by differs from the identity's
    /// by at most this.
    pub stretch: f64,
    /// Base learning rate.
    pub learning_rate: f64,
    /// The schedule of the learning rate.
    pub schedule: Schedule,
    /// Largest norm of the gradient.
    pub clip_norm: Option<f64>,
    /// Evaluations without improvement after which training ends; needs validation rows.
    pub early_stop: Option<u64>,
    /// Steps between evaluations.
    pub evaluate_every: u64,
    /// Steps between checkpoints.
    pub checkpoint_every: u64,
    /// Steps between lines of metrics.
    pub log_every: u64,
    /// The precision of the products of the layers, on the CPU.
    pub precision: Precision,
    /// The prediction constraint.
    pub constraint: Option<Constraint>,
}

/// The position of a step.
pub(super) struct Place {
    /// Index into the recipe's stages.
    pub stage: usize,
    /// The completed share of the stage.
    pub share: f64,
}

impl TrainPlan {
    /// The stage of a step counted from the start of a round, and its completed share.
    pub(super) fn place(&self, step: u64) -> Place {
        let mut start = 0.0;
        let mut place = Place {
            stage: 0,
            share: 0.0,
        };
        for (stage, Stage { share, .. }) in self.recipe.stages.iter().enumerate() {
            let length = share * self.steps as f64;
            place = Place {
                stage,
                share: ((step as f64 - start) / length.max(1.0)).clamp(0.0, 1.0),
            };
            if (step as f64) < start + length {
                break;
            }
            start += length;
        }
        place
    }
}
