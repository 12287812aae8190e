//! What training needs to know, checked.

use super::{Constraint, DecoderStart, Schedule};
use crate::method::{LabelFacts, Method, ObjectiveOptions, Recipe, Stage};
use crate::model::Shape;
use cpcvae_kernels::product::Precision;

/// A checked plan: nothing in it can fail later for being out of range.
#[derive(Clone, Debug)]
pub struct TrainPlan {
    /// For weights, batches and noise.
    pub seed: u64,
    /// The model.
    pub shape: Shape,
    /// Where the decoder of images starts.
    pub decoder_start: DecoderStart,
    /// The method as configured; a constraint solver makes recipes with other lambdas from it.
    pub method: Method,
    /// What recipes need to know of the labels.
    pub facts: LabelFacts,
    /// What else they depend on.
    pub options: ObjectiveOptions,
    /// Its stages.
    pub recipe: Recipe,
    /// Optimiser steps.
    pub steps: u64,
    /// Labelled rows in a batch.
    pub labelled_per_batch: usize,
    /// Unlabelled rows in a batch.
    pub unlabelled_per_batch: usize,
    /// Pixels by which images are moved at most, anew at each step.
    pub shift: usize,
    /// How much they are turned, sheared and scaled at most.
    pub stretch: f64,
    /// Base learning rate.
    pub learning_rate: f64,
    /// How it changes.
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
    /// Of the factors of dense layers' products, on the CPU.
    pub precision: Precision,
    /// The prediction constraint.
    pub constraint: Option<Constraint>,
}

/// Where a step lies.
pub(super) struct Place {
    /// Index into the recipe's stages.
    pub stage: usize,
    /// Share of the stage that is behind us.
    pub share: f64,
}

impl TrainPlan {
    /// The stage of a step counted from the start of a round, and how far it has gone.
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
