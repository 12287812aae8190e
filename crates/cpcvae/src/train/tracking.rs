//! Metrics, validation and the best model so far in the training loop.

use super::checkpoint::Best;
use super::fit::{FitOutcome, Training};
use super::validate;
use super::{EvaluationReport, FitReport, Observer, StepReport, StopReason};
use crate::error::Result;
use crate::infer::Evaluation;
use crate::model::Model;
use crate::objective::Terms;
use serde_json::json;

impl Training<'_> {
    /// Writes a line of metrics and calls the observer, at the configured interval.
    pub(super) fn log(
        &mut self,
        terms: &Terms,
        stage: usize,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let step = self.state.step;
        if !step.is_multiple_of(self.plan.log_every) && step != 1 && step != self.plan.steps {
            return Ok(());
        }
        let values = terms.values();
        let loss = terms.loss().map_or(0.0, |loss| loss.into_scalar::<f32>());
        let stage = self.recipe.stages[stage].name;
        let mut line = json!({ "step": self.total_steps(), "stage": stage, "loss": loss });
        for (name, value) in &values {
            line[*name] = json!(value);
        }
        if let Some(multiplier) = self.state.multiplier {
            line["multiplier"] = json!(multiplier);
        }
        self.metrics.write(&line)?;
        observer.on_step(&StepReport {
            step: self.total_steps(),
            steps: self.state.steps_before + self.plan.steps,
            stage,
            loss,
            terms: &values,
            multiplier: self.state.multiplier,
        });
        Ok(())
    }

    /// Evaluates the validation rows for the schedule, the best model so far, and the observer. The
    /// evidence is computed only if there is nothing to predict.
    pub(super) fn evaluate(
        &mut self,
        in_last_stage: bool,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let Some(validation) = &self.data.validation else {
            return Ok(());
        };
        let inference = self.inference();
        let mut evaluation = inference.evaluate_predictions(validation);
        if evaluation.quality().is_none() {
            evaluation = inference.with_evidence(evaluation, validation);
        }
        if let Some(loss) = validate::loss(&evaluation) {
            self.plan.schedule.observe(loss, &mut self.state.schedule);
        }
        let is_best = in_last_stage && self.note_best(&evaluation)?;
        self.metrics
            .write(&json!({ "step": self.total_steps(), "validation": evaluation }))?;
        observer.on_evaluation(&EvaluationReport {
            step: self.total_steps(),
            validation: &evaluation,
            is_best,
            model: &inference,
        });
        Ok(())
    }

    /// The model to keep, and what is known of it.
    pub(super) fn finish(mut self, stop: StopReason) -> Result<FitOutcome> {
        let steps = self.total_steps();
        let mut kept_step = steps;
        let mut evaluation = None;
        // A constraint is measured at the last step, so with one that is the model to keep.
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

    /// Keeps the model if it is the best so far.
    fn note_best(&mut self, evaluation: &Evaluation) -> Result<bool> {
        let (Some(quality), Some(loss)) =
            (validate::quality(evaluation), validate::loss(evaluation))
        else {
            return Ok(false);
        };
        let better = self.state.best.as_ref().is_none_or(|best| {
            quality > best.quality || (quality == best.quality && loss < best.loss)
        });
        if better {
            let step = self.state.step;
            self.state.best = Some(Best {
                step,
                quality,
                loss,
                evaluation: Some(evaluation.clone()),
            });
            self.state.waited = 0;
            self.checkpoints.save_best(&self.model, &self.state)?;
        } else {
            self.state.waited += 1;
        }
        Ok(better)
    }
}
