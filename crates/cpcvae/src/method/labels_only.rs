//! `labels-only`: a network trained on the labelled rows alone, the baseline.

use super::{DataKind, LabelFacts, MethodInfo, MethodSettings, Recipe};
use crate::error::Result;
use crate::model::ModelKind;
use crate::objective::{ClassifierObjective, Objective};
use serde::{Deserialize, Serialize};

/// No settings of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LabelsOnly {}

impl MethodSettings for LabelsOnly {
    const INFO: MethodInfo = MethodInfo {
        uses_unlabelled: false,
        ..MethodInfo::new(
            "labels-only",
            "a predictor on the labelled rows only; no generative part",
        )
    };

    fn default_for(_: DataKind) -> Self {
        Self {}
    }

    fn recipe(&self, _: &LabelFacts) -> Result<Recipe> {
        let objective = Objective::Classifier(ClassifierObjective::LabelsOnly);
        Ok(Recipe::whole(ModelKind::Classifier, objective))
    }
}
