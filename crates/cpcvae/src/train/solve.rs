//! The constraint solver in the training loop, which sets lambda.

use super::fit::Training;
use super::{
    Adam, ConstraintMeasure, ConstraintReport, ScheduleState, Solver, initial_model, validate,
};
use crate::error::Result;
use crate::noise::Noise;
use crate::objective::Terms;

/// Steps between measurements of the accuracy, which take a pass over the labelled rows.
const ACCURACY_EVERY: u64 = 25;

impl Training<'_> {
    /// One step of dual ascent on lambda.
    pub(super) fn adjust_multiplier(&mut self, terms: &Terms) -> Result<()> {
        let (Some(constraint), Some(multiplier)) = (self.plan.constraint, self.state.multiplier)
        else {
            return Ok(());
        };
        let Solver::Dual { rate } = constraint.solver else {
            return Ok(());
        };
        let (value, steps) = match constraint.measure {
            ConstraintMeasure::Loss => {
                let Some(term) = terms.get("prediction") else {
                    return Ok(());
                };
                // The term is a mean over the whole batch, the constraint one over labelled rows.
                let rows = self.plan.labelled_per_batch + self.plan.unlabelled_per_batch;
                let labelled_share = self.plan.labelled_per_batch as f64 / rows as f64;
                let value = f64::from(term.value.clone().into_scalar::<f32>());
                (value / labelled_share, 1)
            }
            ConstraintMeasure::Accuracy if self.state.step.is_multiple_of(ACCURACY_EVERY) => {
                (self.constraint_value()?, ACCURACY_EVERY)
            }
            ConstraintMeasure::Accuracy => return Ok(()),
        };
        let share = self.state.step as f64 / self.plan.steps as f64;
        self.state.multiplier = Some(constraint.ascend(multiplier, value, rate, steps, share));
        Ok(())
    }

    /// The constraint at the end of a round.
    pub(super) fn constraint_report(&self) -> Result<Option<ConstraintReport>> {
        let Some(constraint) = &self.plan.constraint else {
            return Ok(None);
        };
        let value = self.constraint_value()?;
        let multiplier = self.state.multiplier.unwrap_or_default();
        Ok(Some(constraint.report(value, multiplier)))
    }

    /// Prepares another training with a larger lambda, if the solver is a sequence that is not
    /// finished. Returns whether there is one.
    pub(super) fn next_round(&mut self, report: &ConstraintReport) -> Result<bool> {
        let Some(Solver::Sequence { factor, rounds }) =
            self.plan.constraint.map(|constraint| constraint.solver)
        else {
            return Ok(false);
        };
        if report.satisfied || self.state.round + 1 >= rounds {
            return Ok(false);
        }
        self.state.round += 1;
        self.state.steps_before += self.state.step;
        self.state.step = 0;
        self.state.spreads = 0;
        self.pseudo_labels = None;
        self.state.multiplier = self.state.multiplier.map(|multiplier| multiplier * factor);
        self.state.schedule = ScheduleState::default();
        self.state.best = None;
        self.state.waited = 0;
        self.model = initial_model::fresh(self.plan, self.data, &self.compute);
        self.adam = Adam::default();
        self.set_recipe()?;
        self.save()?;
        Ok(true)
    }

    /// In a sequence each training has its own lambda, and weights that are multiples of it.
    pub(super) fn set_recipe(&mut self) -> Result<()> {
        let is_sequence = matches!(
            self.plan.constraint.map(|constraint| constraint.solver),
            Some(Solver::Sequence { .. })
        );
        if let (true, Some(multiplier)) = (is_sequence, self.state.multiplier) {
            let method = self.plan.method.clone().with_prediction_weight(multiplier);
            let (facts, options) = (&self.plan.facts, &self.plan.options);
            self.recipe = method.recipe(facts)?.with_options(options, facts);
        }
        Ok(())
    }

    fn constraint_value(&self) -> Result<f64> {
        let constraint = self.plan.constraint.expect("callers have one");
        let examples =
            validate::as_examples(&self.labelled, &self.plan.shape.target, &self.device)?;
        validate::constraint_value(
            &constraint,
            &self.inference(),
            &self.model,
            &self.labelled,
            &examples,
            &Noise::new(self.plan.seed, self.total_steps(), &self.device),
        )
    }
}
