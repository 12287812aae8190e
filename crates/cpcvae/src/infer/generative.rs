//! Models by capability: whether they have codes, and a class among their latent variables.

use super::Inference;
use super::encode::{auxiliary_and_class, most_probable};
use crate::distribution::Likelihood;
use crate::error::{Error, Result};
use crate::model::{AuxiliaryVae, LabelVae, Model, Posterior, StackedVae, Vae};
use burn::tensor::Tensor;

/// A model with codes.
#[derive(Clone, Copy)]
pub(super) enum Generative<'a> {
    /// Features are generated from the code alone.
    Vae(&'a Vae),
    /// A class is among the latent variables.
    OfClasses(ClassModel<'a>),
}

/// A model with a class among its latent variables: M2 and its variants.
#[derive(Clone, Copy)]
pub(super) enum ClassModel<'a> {
    Label(&'a LabelVae),
    Stacked(&'a StackedVae),
    Auxiliary(&'a AuxiliaryVae),
}

impl Inference {
    /// The model, if it has codes; otherwise an error.
    pub(super) fn generative(&self) -> Result<Generative<'_>> {
        self.generative_model().ok_or_else(|| {
            let problem = "a `labels-only` or `vat` model has no generative part: it can only \
                           predict and be evaluated";
            Error::Mismatch(problem.into())
        })
    }

    /// Whether the model has codes, so that it can generate rows.
    pub(crate) fn is_generative(&self) -> bool {
        self.generative_model().is_some()
    }

    /// The model, if it has codes.
    pub(super) fn generative_model(&self) -> Option<Generative<'_>> {
        Some(match &self.model {
            Model::Vae(model) => Generative::Vae(model),
            Model::LabelVae(model) => Generative::OfClasses(ClassModel::Label(model)),
            Model::StackedVae(model) => Generative::OfClasses(ClassModel::Stacked(model)),
            Model::AuxiliaryVae(model) => Generative::OfClasses(ClassModel::Auxiliary(model)),
            Model::Classifier(_) => return None,
        })
    }
}

impl Generative<'_> {
    /// q(z|x), or q(z|x,y) at the most probable class.
    pub(super) fn posterior(self, x: Tensor<2>) -> Posterior {
        match self {
            Self::Vae(vae) => vae.encode(x),
            Self::OfClasses(ClassModel::Label(model)) => {
                let y = most_probable(model.predict(x.clone()).probs());
                model.encode(x, y)
            }
            Self::OfClasses(ClassModel::Stacked(model)) => model.features().encode(x),
            Self::OfClasses(ClassModel::Auxiliary(model)) => {
                let (a, y) = auxiliary_and_class(model, x.clone());
                model.encode(x, a, y)
            }
        }
    }

    /// p(x|z), for M2 and its variants at the most probable class of `x`.
    pub(super) fn decode(self, z: Tensor<2>, x: Tensor<2>) -> Likelihood {
        match self {
            Self::Vae(vae) => vae.decode(z),
            Self::OfClasses(ClassModel::Label(model)) => {
                model.decode(z, most_probable(model.predict(x).probs()))
            }
            Self::OfClasses(ClassModel::Stacked(model)) => model.features().decode(z),
            Self::OfClasses(ClassModel::Auxiliary(model)) => {
                let (a, y) = auxiliary_and_class(model, x);
                model.decode(z, a, y)
            }
        }
    }
}
