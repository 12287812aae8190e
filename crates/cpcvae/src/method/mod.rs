//! Methods: a method is a recipe, that is a kind of model, and stages with their objectives.
//!
//! The one `match` that lists all methods is in this file.

mod auxiliary;
mod blended_m2;
mod cpc;
mod labels_only;
mod m1_m2;
mod m2;
mod pc;
mod supervised_vae;
mod vae;
mod vae_then_mlp;
mod vat;

pub use auxiliary::Auxiliary;
pub use blended_m2::BlendedM2;
pub use cpc::Cpc;
pub use labels_only::LabelsOnly;
pub use m1_m2::M1M2;
pub use m2::M2;
pub use pc::Pc;
pub use supervised_vae::SupervisedVae;
pub use vae::PlainVae;
pub use vae_then_mlp::VaeThenMlp;
pub use vat::Vat;

use crate::error::{Error, Result};
use crate::model::ModelKind;
use crate::objective::{LabelledEvidence, Objective, PseudoLabels};
use cpcvae_data::{BuiltIn, Layout};
use serde::{Deserialize, Serialize};

/// A method and its settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum Method {
    /// See [`PlainVae`].
    Vae(PlainVae),
    /// See [`VaeThenMlp`].
    VaeThenMlp(VaeThenMlp),
    /// See [`SupervisedVae`].
    SupervisedVae(SupervisedVae),
    /// See [`Pc`].
    Pc(Pc),
    /// See [`Cpc`].
    Cpc(Cpc),
    /// See [`M2`].
    M2(M2),
    /// The recipe of [`VaeThenMlp`] with the classifier and the images of Kingma et al. 2014: other
    /// defaults of the model, see `docs/methods/m1.md`.
    M1(VaeThenMlp),
    /// See [`M1M2`].
    M1M2(M1M2),
    /// See [`Auxiliary`].
    Adgm(Auxiliary),
    /// See [`Auxiliary`].
    Sdgm(Auxiliary),
    /// See [`BlendedM2`].
    BlendedM2(BlendedM2),
    /// See [`LabelsOnly`].
    LabelsOnly(LabelsOnly),
    /// See [`Vat`].
    Vat(Vat),
}

/// What kind of features the data has; defaults differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataKind {
    /// Columns of numbers.
    Table,
    /// Pixels.
    Images,
}

impl DataKind {
    /// What a layout holds.
    pub fn of(layout: &Layout) -> Self {
        match layout {
            Layout::Columns(_) => Self::Table,
            Layout::Image { .. } => Self::Images,
        }
    }

    /// What a built-in data set holds.
    pub fn of_built_in(data: BuiltIn) -> Self {
        match data.holds_images() {
            true => Self::Images,
            false => Self::Table,
        }
    }
}

/// What training does: which model, and which objectives one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    /// The kind of model.
    pub kind: ModelKind,
    /// Stages in order.
    pub stages: Vec<Stage>,
}

/// A stretch of training with one objective.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// Its name in logs.
    pub name: &'static str,
    /// Its share of the run's steps.
    pub share: f64,
    /// What it minimises.
    pub objective: Objective,
}

impl Stage {
    /// The only stage of a method.
    fn whole(objective: Objective) -> Vec<Self> {
        vec![Self {
            name: "fit",
            share: 1.0,
            objective,
        }]
    }
}

/// What a recipe needs to know of the data.
#[derive(Clone, Debug)]
pub struct LabelFacts {
    /// Share of each class among the labelled rows; empty for continuous labels.
    pub class_shares: Vec<f32>,
    /// Rows that training sees, labelled and unlabelled.
    pub rows: usize,
    /// How many of them have a label.
    pub labelled_rows: usize,
}

impl LabelFacts {
    /// Share of the rows that have a label.
    pub fn labelled_share(&self) -> f64 {
        self.labelled_rows as f64 / self.rows.max(1) as f64
    }
}

/// Settings outside of `[method]` that objectives depend on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObjectiveOptions {
    /// Pseudo-labels, with weights that are multiples of lambda.
    pub pseudo_labels: Option<PseudoLabels>,
    /// How much the evidence of labelled rows counts beside that of the others.
    pub labelled_evidence: LabelledEvidence,
}

impl Recipe {
    /// The same with these options. Continuous labels have no pseudo-labels.
    pub fn with_options(mut self, options: &ObjectiveOptions, facts: &LabelFacts) -> Self {
        for stage in &mut self.stages {
            if let Objective::Constrained(objective) = &mut stage.objective {
                objective.labelled_evidence = options.labelled_evidence;
                objective.labelled_share = facts.labelled_share();
                let lambda = objective.weights.prediction;
                objective.pseudo_labels = options
                    .pseudo_labels
                    .as_ref()
                    .filter(|_| !facts.class_shares.is_empty())
                    .map(|pseudo_labels| pseudo_labels.times(lambda))
                    .filter(|pseudo_labels| pseudo_labels.weight != 0.0);
            }
        }
        self
    }
}

/// Names of all methods, for messages and completions.
pub const NAMES: [&str; 13] = [
    "vae",
    "vae-then-mlp",
    "supervised-vae",
    "pc",
    "cpc",
    "m2",
    "m1",
    "m1-m2",
    "adgm",
    "sdgm",
    "blended-m2",
    "labels-only",
    "vat",
];

impl Method {
    /// The method of that name with the defaults for this kind of data.
    pub fn named(name: &str, data: DataKind) -> Result<Self> {
        Ok(match name {
            "vae" => Self::Vae(PlainVae::default()),
            "vae-then-mlp" => Self::VaeThenMlp(VaeThenMlp::default()),
            "supervised-vae" => Self::SupervisedVae(SupervisedVae::default_for(data)),
            "pc" => Self::Pc(Pc::default_for(data)),
            "cpc" => Self::Cpc(Cpc::default_for(data)),
            "m2" => Self::M2(M2::default()),
            "m1" => Self::M1(VaeThenMlp::default()),
            "m1-m2" => Self::M1M2(M1M2::default_for(data)),
            "adgm" => Self::Adgm(Auxiliary::default_for(data)),
            "sdgm" => Self::Sdgm(Auxiliary::default_for(data)),
            "blended-m2" => Self::BlendedM2(BlendedM2::default_for(data)),
            "labels-only" => Self::LabelsOnly(LabelsOnly {}),
            "vat" => Self::Vat(Vat::default_for(data)),
            other => {
                let known = NAMES.join(", ");
                let problem = format!("there is no method `{other}`; there are: {known}");
                return Err(Error::setting("method.name", problem));
            }
        })
    }

    /// The method's name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Vae(_) => "vae",
            Self::VaeThenMlp(_) => "vae-then-mlp",
            Self::SupervisedVae(_) => "supervised-vae",
            Self::Pc(_) => "pc",
            Self::Cpc(_) => "cpc",
            Self::M2(_) => "m2",
            Self::M1(_) => "m1",
            Self::M1M2(_) => "m1-m2",
            Self::Adgm(_) => "adgm",
            Self::Sdgm(_) => "sdgm",
            Self::BlendedM2(_) => "blended-m2",
            Self::LabelsOnly(_) => "labels-only",
            Self::Vat(_) => "vat",
        }
    }

    /// Checks the settings and turns them into a recipe.
    pub fn recipe(&self, facts: &LabelFacts) -> Result<Recipe> {
        match self {
            Self::Vae(method) => method.recipe(),
            Self::VaeThenMlp(method) => method.recipe(),
            Self::SupervisedVae(method) => method.recipe(),
            Self::Pc(method) => method.recipe(),
            Self::Cpc(method) => method.recipe(facts),
            Self::M2(method) => method.recipe(),
            Self::M1(method) => method.recipe(),
            Self::M1M2(method) => method.recipe(),
            Self::Adgm(method) => method.recipe(false),
            Self::Sdgm(method) => method.recipe(true),
            Self::BlendedM2(method) => method.recipe(facts),
            Self::LabelsOnly(method) => method.recipe(),
            Self::Vat(method) => method.recipe(),
        }
    }

    /// The configured lambda, where the method has a prediction constraint.
    pub fn prediction_weight(&self) -> Option<f64> {
        match self {
            Self::SupervisedVae(_) => Some(1.0),
            Self::Pc(method) => Some(method.prediction_weight),
            Self::Cpc(method) => Some(method.prediction_weight),
            _ => None,
        }
    }

    /// The same method with another lambda; weights given as multiples of lambda follow.
    pub fn with_prediction_weight(&self, weight: f64) -> Self {
        let mut method = self.clone();
        match &mut method {
            Self::Pc(pc) => pc.prediction_weight = weight,
            Self::Cpc(cpc) => cpc.prediction_weight = weight,
            _ => {}
        }
        method
    }

    /// Whether training looks at labels at all.
    pub fn uses_labels(&self) -> bool {
        !matches!(self, Self::Vae(_))
    }

    /// Whether training looks at unlabelled rows at all.
    pub fn uses_unlabelled(&self) -> bool {
        !matches!(self, Self::LabelsOnly(_))
    }

    /// Whether labels must be classes.
    pub fn needs_classes(&self) -> bool {
        matches!(
            self,
            Self::M2(_) | Self::M1M2(_) | Self::Adgm(_) | Self::Sdgm(_) | Self::BlendedM2(_)
        )
    }

    /// Whether its networks for images have batch normalisation unless settings say otherwise, as in
    /// Maaloe et al. 2016 and Miyato et al. 2019.
    pub fn has_batch_norm(&self) -> bool {
        matches!(self, Self::Adgm(_) | Self::Sdgm(_) | Self::Vat(_))
    }

    /// Whether images are black and white and have no affine transform unless settings say
    /// otherwise, as in Kingma et al. 2014 and what came after it.
    pub fn has_plain_images(&self) -> bool {
        matches!(self, Self::M1(_)) || self.needs_classes()
    }
}

/// A weight or share that must be a finite number of at least zero.
fn check_weight(key: &str, value: f64) -> Result<f64> {
    if value.is_finite() && value >= 0.0 {
        Ok(value)
    } else {
        let problem = format!("is {value}; it must be a number of at least 0");
        Err(Error::setting(&format!("method.{key}"), problem))
    }
}

/// A share of the run, from 0 to 1.
fn check_share(key: &str, value: f64) -> Result<f64> {
    if (0.0..=1.0).contains(&value) {
        Ok(value)
    } else {
        let problem = format!("is {value}; it must be between 0 and 1");
        Err(Error::setting(&format!("method.{key}"), problem))
    }
}
