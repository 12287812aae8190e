//! `pc`: the prediction-constrained VAE.

use super::{DataKind, LabelFacts, MethodInfo, MethodSettings, Recipe};
use crate::error::Result;
use crate::model::ModelKind;
use crate::objective::{Constrained, Objective, Term, VaeObjective};
use crate::range::at_least_zero;
use serde::{Deserialize, Serialize};

/// Evidence minus lambda times the prediction loss of labelled rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pc {
    /// lambda.
    pub prediction_weight: f64,
    /// Weight beta of the KL divergence.
    pub beta: f64,
    /// Weight of the predictor's squared weights.
    pub predictor_norm: f64,
}

impl MethodSettings for Pc {
    const INFO: MethodInfo = MethodInfo {
        takes_constraint: true,
        ..MethodInfo::new(
            "pc",
            "a VAE whose codes must predict the labels (prediction constraint)",
        )
    };

    /// The paper's lambda for images, with a smaller penalty on the predictor's weights (0.1, not
    /// 1), which keeps codes of confident predictions nearer to the prior. The evidence of a few
    /// columns is some nats, not thousands, so for tables the same balance needs smaller weights.
    fn default_for(data: DataKind) -> Self {
        let (prediction_weight, predictor_norm) = match data {
            DataKind::Images => (25.0, 0.1),
            DataKind::Table => (5.0, 0.01),
        };
        Self {
            prediction_weight,
            beta: 1.0,
            predictor_norm,
        }
    }

    fn recipe(&self, _: &LabelFacts) -> Result<Recipe> {
        let term = |key, weight| at_least_zero(key, weight).map(Term::constant);
        let objective = VaeObjective::Constrained(Constrained {
            beta: term("method.beta", self.beta)?,
            prediction: term("method.prediction_weight", self.prediction_weight)?,
            predictor_norm: term("method.predictor_norm", self.predictor_norm)?,
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
