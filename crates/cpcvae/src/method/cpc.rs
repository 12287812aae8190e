//! `cpc`: the consistent prediction-constrained VAE, the paper's main method.

use super::{DataKind, LabelFacts, MethodInfo, MethodSettings, Pc, Recipe};
use crate::error::{Error, Result};
use crate::model::ModelKind;
use crate::objective::{
    AggregateViews, Constrained, GradientPath, Objective, Simulated, Term, VaeObjective,
};
use crate::range::{at_least_zero, share};
use serde::{Deserialize, Serialize};

/// Evidence, prediction loss, consistency, aggregate label consistency, entropy.
///
/// Consistency, aggregate and entropy weights are multiples of lambda, as in the paper's table
/// of settings. A ramp is the share of the run over which a weight rises linearly from zero.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cpc {
    /// lambda.
    pub prediction_weight: f64,
    /// gamma, as a multiple of lambda.
    pub consistency_weight: f64,
    /// Weight of the aggregate label consistency, as a multiple of lambda.
    pub aggregate_weight: f64,
    /// Weight of the predictions' entropy, as a multiple of lambda.
    pub entropy_weight: f64,
    /// Which predictions the aggregate term uses: `first` for those for z (the paper), `both` for
    /// those for z and z-bar (the authors' code).
    pub aggregate_views: AggregateViews,
    /// How x-bar is made: a `draw` from p(x|z), as in the paper, or its `mean`, as in the authors'
    /// code.
    pub simulated: Simulated,
    /// Share of the aggregate weight that is removed by the end of the run, 0 to 1; it falls
    /// linearly.
    pub aggregate_decay: f64,
    /// Standard deviation of noise on the encoder's input in training. Not in the paper.
    pub input_noise: f64,
    /// Weight beta of the KL divergence.
    pub beta: f64,
    /// Weight of the predictor's squared weights.
    pub predictor_norm: f64,
    /// Class frequencies pi for the aggregate term; empty for those of the labelled rows.
    pub class_shares: Vec<f64>,
    /// Path of the consistency cost's gradient: auto, open, code, features.
    pub gradient_path: GradientPath,
    /// Whether the consistency cost has a gradient into the prediction for the original row too.
    pub target_gradient: bool,
    /// Ramp of the prediction weight.
    pub prediction_ramp: f64,
    /// Ramp of the consistency weight.
    pub consistency_ramp: f64,
    /// Ramp of the aggregate weight.
    pub aggregate_ramp: f64,
    /// Ramp of the entropy weight.
    pub entropy_ramp: f64,
    /// Ramp of the KL weight.
    pub beta_ramp: f64,
}

impl MethodSettings for Cpc {
    const INFO: MethodInfo = MethodInfo {
        takes_constraint: true,
        takes_pseudo_labels: true,
        ..MethodInfo::new(
            "cpc",
            "pc, and predictions must survive reconstruction (consistency constraint)",
        )
    };

    /// The paper's terms with weights that did well on half-moon and MNIST (`docs/methods/cpc.md`
    /// has each deviation from the paper's table with its reason): consistency is ramped up once
    /// predictions are useful, a strong aggregate term keeps the classes apart, and there is no
    /// entropy term, which would reinforce early mistakes.
    fn default_for(data: DataKind) -> Self {
        let pc = Pc::default_for(data);
        let images = data == DataKind::Images;
        // The evidence of images is thousands of nats, so other terms need large weights to matter.
        let choose = |of_table: f64, of_images: f64| if images { of_images } else { of_table };
        let ramp = choose(0.5, 0.3);
        Self {
            prediction_weight: pc.prediction_weight,
            consistency_weight: 4.25,
            aggregate_weight: 3.0,
            entropy_weight: 0.0,
            aggregate_views: AggregateViews::Both,
            simulated: Simulated::Draw,
            aggregate_decay: 0.0,
            input_noise: 0.0,
            beta: pc.beta,
            predictor_norm: pc.predictor_norm,
            class_shares: Vec::new(),
            gradient_path: GradientPath::Open,
            target_gradient: true,
            prediction_ramp: 0.0,
            consistency_ramp: ramp,
            aggregate_ramp: choose(0.0, ramp),
            entropy_ramp: ramp,
            beta_ramp: 0.0,
        }
    }

    fn recipe(&self, facts: &LabelFacts) -> Result<Recipe> {
        let lambda = at_least_zero("method.prediction_weight", self.prediction_weight)?;
        // Continuous labels have neither class frequencies nor an entropy.
        let for_classes = if facts.class_shares.is_empty() {
            0.0
        } else {
            lambda
        };
        let norm = at_least_zero("method.predictor_norm", self.predictor_norm)?;
        let objective = VaeObjective::Constrained(Constrained {
            beta: term(1.0, ("beta", self.beta), ("beta_ramp", self.beta_ramp))?,
            prediction: term(
                1.0,
                ("prediction_weight", lambda),
                ("prediction_ramp", self.prediction_ramp),
            )?,
            consistency: term(
                lambda,
                ("consistency_weight", self.consistency_weight),
                ("consistency_ramp", self.consistency_ramp),
            )?,
            aggregate: term(
                for_classes,
                ("aggregate_weight", self.aggregate_weight),
                ("aggregate_ramp", self.aggregate_ramp),
            )?,
            entropy: term(
                for_classes,
                ("entropy_weight", self.entropy_weight),
                ("entropy_ramp", self.entropy_ramp),
            )?,
            predictor_norm: Term::constant(norm),
            class_shares: self.class_shares(facts)?,
            gradient_path: self.gradient_path,
            target_gradient: self.target_gradient,
            simulated: self.simulated,
            aggregate_views: self.aggregate_views,
            aggregate_decay: share("method.aggregate_decay", self.aggregate_decay)?,
            labelled_share: facts.labelled_share(),
            input_noise: at_least_zero("method.input_noise", self.input_noise)?,
            ..Constrained::default()
        });
        Ok(Recipe::whole(ModelKind::Vae, Objective::Vae(objective)))
    }

    fn prediction_weight(&self) -> Option<f64> {
        Some(self.prediction_weight)
    }

    fn set_prediction_weight(&mut self, weight: f64) {
        self.prediction_weight = weight;
    }
}

/// A term from its two settings, each with its key; the weight is a multiple of `unit`.
fn term(
    unit: f64,
    (weight_key, weight): (&str, f64),
    (ramp_key, ramp): (&str, f64),
) -> Result<Term> {
    Ok(Term {
        weight: unit * at_least_zero(&format!("method.{weight_key}"), weight)?,
        ramp: share(&format!("method.{ramp_key}"), ramp)?,
    })
}

impl Cpc {
    fn class_shares(&self, facts: &LabelFacts) -> Result<Vec<f32>> {
        if self.class_shares.is_empty() {
            return Ok(facts.class_shares.clone());
        }
        let key = "method.class_shares";
        let classes = facts.class_shares.len();
        if self.class_shares.len() != classes {
            let given = self.class_shares.len();
            let problem = format!("has {given} numbers, but the data has {classes} classes");
            return Err(Error::setting(key, problem));
        }
        let sum: f64 = self.class_shares.iter().sum();
        if self.class_shares.iter().any(|share| *share < 0.0) || (sum - 1.0).abs() > 1e-3 {
            let problem =
                format!("must be shares of at least 0 that add up to 1; they add up to {sum}");
            return Err(Error::setting(key, problem));
        }
        Ok(self
            .class_shares
            .iter()
            .map(|share| (share / sum) as f32)
            .collect())
    }
}
