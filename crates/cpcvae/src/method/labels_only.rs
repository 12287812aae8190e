//! `labels-only`: a network trained on the labelled rows alone, the baseline to beat.

use super::{Recipe, Stage};
use crate::error::Result;
use crate::model::ModelKind;
use crate::objective::Objective;
use serde::{Deserialize, Serialize};

/// No settings of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LabelsOnly {}

impl LabelsOnly {
    pub(super) fn recipe(&self) -> Result<Recipe> {
        Ok(Recipe {
            kind: ModelKind::Classifier,
            stages: Stage::whole(Objective::LabelsOnly),
        })
    }
}
