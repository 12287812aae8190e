//! M2 (Kingma et al. 2014), whose label is a separate latent variable; and blended M2, which has an
//! additional predictor.

use super::class_conditional::ClassConditionalMlp;
use super::{Observation, Posterior, RowInput, Shape};
use crate::distribution::{Categorical, Likelihood};
use crate::net::{Mlp, MlpShape};
use crate::op::Compute;
use burn::module::Module;
use burn::tensor::Tensor;

/// p(y) uniform, p(z) = N(0, I), p(x|y,z) by a decoder; q(y|x) by a classifier, q(z|x,y) by an
/// encoder.
#[derive(Module, Debug)]
pub struct LabelVae {
    classifier: Mlp,
    /// A predictor of the same shape as q(y|x): only in blended models.
    discriminative: Option<Mlp>,
    encoder: ClassConditionalMlp,
    decoder: ClassConditionalMlp,
    #[module(skip)]
    input: RowInput,
    #[module(skip)]
    observation: Observation,
    #[module(skip)]
    classes: usize,
    #[module(skip)]
    code: usize,
}

impl LabelVae {
    /// A freshly initialised model.
    pub fn new(shape: &Shape, seed: u64, compute: &Compute) -> Self {
        Self::numbered(shape, seed, 0, compute)
    }

    /// The same with a separate predictor, which is initialised like q(y|x).
    pub fn blended(shape: &Shape, seed: u64, compute: &Compute) -> Self {
        let model = Self::new(shape, seed, compute);
        Self {
            discriminative: Some(Self::new(shape, seed, compute).classifier),
            ..model
        }
    }

    /// The same with layers numbered from `layers` on, for a model that is part of another.
    pub(super) fn numbered(shape: &Shape, seed: u64, layers: u64, compute: &Compute) -> Self {
        let observation = Observation::new(shape, compute);
        let classes = shape.target.outputs();
        let mlp = |inputs, hidden: Vec<usize>, outputs| MlpShape {
            inputs,
            hidden,
            outputs,
            activation: shape.activation.into(),
            batch_norm: false,
        };
        let hidden = shape.hidden.clone();
        let mirrored = hidden.iter().rev().copied().collect();
        let input = RowInput::new(shape);
        let inputs = input.inputs();
        let encoder = mlp(inputs, hidden.clone(), 2 * shape.code);
        let decoder = mlp(shape.code, mirrored, observation.decoder_outputs());
        Self {
            classifier: Mlp::new(&mlp(inputs, hidden, classes), seed, layers + 100, compute),
            discriminative: None,
            encoder: ClassConditionalMlp::new(&encoder, 0, classes, seed, layers + 200, compute),
            decoder: ClassConditionalMlp::new(&decoder, 0, classes, seed, layers + 300, compute),
            input,
            observation,
            classes,
            code: shape.code,
        }
    }

    /// q(y|x) for `x [rows, features]`.
    pub fn classify(&self, x: Tensor<2>) -> Categorical {
        Categorical::from_logits(self.classifier.forward(self.input.forward(x)))
    }

    /// The prediction for `x [rows, features]`: p(y|x) of the blended model's own predictor,
    /// otherwise q(y|x).
    pub fn predict(&self, x: Tensor<2>) -> Categorical {
        match &self.discriminative {
            Some(network) => Categorical::from_logits(network.forward(self.input.forward(x))),
            None => self.classify(x),
        }
    }

    /// Squared distance between the parameters of the two classifiers, `[1]`; only in blended
    /// models.
    pub(crate) fn classifiers_apart(&self) -> Option<Tensor<1>> {
        let own = self.discriminative.as_ref()?;
        Some(own.squared_distance(&self.classifier))
    }

    /// q(z|x,y) for `y [rows, classes]`, one-hot.
    pub fn encode(&self, x: Tensor<2>, y: Tensor<2>) -> Posterior {
        let raw = self.encoder.forward(self.input.forward(x), None, y);
        Posterior::from_raw(raw, self.compute())
    }

    /// q(z|x,y) for every class: row `i * classes + k` is row i with class k. Parts that do not
    /// depend on the class are computed once.
    pub(crate) fn encode_each_class(&self, x: Tensor<2>) -> Posterior {
        let raw = self.encoder.forward_each_class(self.input.forward(x));
        Posterior::from_raw(raw, self.compute())
    }

    /// p(x|y,z) for `z [rows, code]`, `y [rows, classes]`, one-hot.
    pub fn decode(&self, z: Tensor<2>, y: Tensor<2>) -> Likelihood {
        self.observation
            .likelihood(self.decoder.forward(z, None, y), None)
    }

    /// p(x|y,z) where row `i * classes + k` of `z` belongs to class k.
    pub(crate) fn decode_each_class(&self, z: Tensor<2>) -> Likelihood {
        self.observation
            .likelihood(self.decoder.forward_class_rows(z, None), None)
    }

    /// The compute handle of its layers.
    pub fn compute(&self) -> &Compute {
        self.classifier.compute()
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// Number of code dimensions.
    pub fn code(&self) -> usize {
        self.code
    }
}
