//! Evaluation after training: labels are held out, ensemble votes are set, baselines are trained.

use super::estimator::Estimator;
use super::fitted::{Fitted, HeldOutState};
use super::held_out_details::HeldOutDetails;
use super::suspects::suspects;
use crate::calibration::{accuracies, compared_without_label, negative_errors};
use crate::compare::{self, Workplace};
use crate::config::RunConfig;
use crate::crossfit::{CrossFit, HeldOut};
use crate::ensemble::{Ensemble, Truth};
use crate::error::Result;
use crate::infer::quality::share;
use crate::prepare::Prepared;
use crate::train::Watch;
use cpcvae_data::{Dataset, Labels, Matrix, Source, Split};

impl Estimator {
    /// The ensemble members' figures on held-out labels, reported before the network is trained,
    /// since they take only seconds. `None` if there are no members, and for a resumed run, which
    /// has reported them before.
    pub(super) fn report_members(
        &self,
        config: &RunConfig,
        source: &Source,
        watch: &dyn Watch,
    ) -> Result<Vec<HeldOut>> {
        let data = &source.rows;
        let has_members = Ensemble::is_wanted(config, &data.labels);
        if !has_members || !self.holds_out(config, data) || self.resume {
            return Ok(Vec::new());
        }
        let split = Prepared::new(source.clone(), config, None)?.training.split;
        let Ok(fit) = CrossFit::new(data, &split, &self.folding(data, config.seed)) else {
            return Ok(Vec::new());
        };
        let members = compare::members_held_out(&fit, config)?;
        if let Some(first) = members.first() {
            let predictions: Vec<Vec<f32>> =
                members.iter().map(|m| m.outputs.values.clone()).collect();
            let together = first.with_values(Ensemble::members_mean(&predictions, &data.labels));
            if let Some(note) = held_out_summary(data, &together) {
                watch.note(&format!("first result, without the network: {note}"));
            }
        }
        Ok(members)
    }

    /// Evaluates predictions on held-out labels, and stores the results beside the model. `members`
    /// are the members' held-out predictions, if known.
    pub(super) fn measure(
        &self,
        fitted: &mut Fitted,
        data: &Dataset,
        members: Vec<HeldOut>,
        watch: &dyn Watch,
    ) -> Result<()> {
        let config = fitted.config.clone();
        if !self.holds_out(&config, data) {
            return Ok(());
        }
        let split = fitted.split.clone();
        let folding = self.folding(data, config.seed);
        let fit = match CrossFit::new(data, &split, &folding) {
            Ok(fit) => fit,
            Err(error) => {
                fitted.held_out = HeldOutState::Impossible(error.to_string());
                return Ok(());
            }
        };
        let trainings = fit.parts()
            + match self.held_out.compare {
                true => compare::baseline_trainings(&config, &fit),
                false => 0,
            };
        watch.note(&format!(
            "holding labels out: {trainings} more trainings like this one"
        ));
        let device = fitted.device.clone();
        let place = Workplace {
            device: &device,
            folder: self.folder.clone(),
            watch,
        };
        fitted.held_out = HeldOutState::Stopped;
        let Some(ours) = compare::hold_out_labels(&fit, &config, &folding, &place)? else {
            return Ok(());
        };
        let members = match &fitted.ensemble {
            Some(_) if members.is_empty() => compare::members_held_out(&fit, &config)?,
            Some(_) => members,
            None => Vec::new(),
        };
        let network = ours;
        let ours = fitted.vote(data, &network, &members);
        let unlabelled = fitted
            .with_seed(config.seed)
            .unlabelled_predictions(data, &split)?;
        let calibration = fitted.calibration.clone();
        let calibration = calibration.with_held_out(data, &ours, &unlabelled);
        let comparison = compare::comparison(
            (data, &split),
            &config,
            (&fit, &folding),
            &ours,
            &calibration.class_weights,
        );
        let comparison = match members.is_empty() {
            true => comparison,
            false => compare::with_voters(comparison, data, &fitted.voters(), &network, &members),
        };
        let comparison = match self.held_out.compare {
            false => Some(comparison),
            true => compare::with_baselines(comparison, data, &config, (&fit, &folding), &place)?,
        };
        let Some(comparison) = comparison else {
            return Ok(());
        };
        fitted.details = HeldOutDetails::new(data, &ours, calibration.temperature);
        fitted.suspects = suspects(data, &ours, calibration.temperature);
        fitted.calibration = calibration;
        fitted.test_again(data)?;
        fitted.comparison = Some(comparison);
        fitted.held_out = HeldOutState::Measured;
        fitted.keep_calibration()?;
        fitted.keep_report()?;
        if !self.held_out.keep_folds {
            place.remove_folds(&folding);
        }
        Ok(())
    }
}

impl Fitted {
    /// The ensemble's prediction for held-out rows, with votes derived from the held-out
    /// predictions of network and members. The network's own if there are no members.
    fn vote(&mut self, data: &Dataset, network: &HeldOut, members: &[HeldOut]) -> HeldOut {
        let Some(ensemble) = self.ensemble.take() else {
            return network.clone();
        };
        let predictions = |all: &HeldOut| all.outputs.values.clone();
        let of_members: Vec<Vec<f32>> = members.iter().map(predictions).collect();
        let mut all = vec![predictions(network)];
        all.extend(of_members.iter().cloned());
        let ensemble = ensemble.with_votes(&all, &Truth::of(data, &network.rows));
        let mean = ensemble.mean(network.outputs.clone(), of_members);
        self.ensemble = Some(ensemble);
        network.with_values(mean.values)
    }

    /// The predictions for some rows without a label: `[rows, outputs]`.
    fn unlabelled_predictions(&self, data: &Dataset, split: &Split) -> Result<Matrix> {
        match &self.ensemble {
            None => self.trained.unlabelled_predictions(data, split),
            Some(_) => {
                let rows = data.select(&compared_without_label(split));
                self.ensemble_outputs(&self.card().preprocess.apply(rows)?)
            }
        }
    }

    /// Figures on test rows by the ensemble; training only measured the network.
    fn test_again(&mut self, data: &Dataset) -> Result<()> {
        if self.ensemble.is_some() && !self.split.test.is_empty() && self.report.test.is_some() {
            self.report.test = Some(self.evaluate(&data.select(&self.split.test))?);
        }
        Ok(())
    }
}

/// The figures on held-out labels in words: the accuracy, or the mean absolute error. `None` if no
/// label was held out.
fn held_out_summary(data: &Dataset, held_out: &HeldOut) -> Option<String> {
    let mean = |scores: &[f64]| scores.iter().sum::<f64>() / scores.len().max(1) as f64;
    if matches!(data.labels, Labels::Values { .. }) {
        let near = negative_errors(data, held_out);
        let error = -mean(&near);
        return (!near.is_empty()).then(|| {
            format!(
                "a mean error of {error:.4} on {} held-out labels",
                near.len()
            )
        });
    }
    let right = accuracies(data, held_out);
    let share = share(mean(&right), right.len())?;
    Some(format!(
        "{:.1}% of {} held-out labels right (95% interval {:.1}% to {:.1}%)",
        100.0 * share.value,
        right.len(),
        100.0 * share.low,
        100.0 * share.high
    ))
}
