//! Auxiliary deep generative models (Maaloe et al. 2016): M2 with an additional latent variable a,
//! which makes the variational posterior richer than a normal. ADGM leaves p(x, y, z) unchanged; in
//! SDGM the features depend on the auxiliary variable too.

use super::class_conditional::ClassConditionalMlp;
use super::{Observation, Posterior, RowInput, Shape};
use crate::distribution::{Categorical, Likelihood};
use crate::net::{Mlp, MlpShape};
use crate::op::Compute;
use burn::module::Module;
use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

/// The parameters of an auxiliary model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuxiliaryShape {
    /// Dimensions of a; 0 for as many as the code has.
    pub dimensions: usize,
    /// Whether a is a parent of x (SDGM); otherwise x is a parent of a (ADGM).
    pub skip: bool,
}

/// p(y) uniform and p(z) = N(0, I); for ADGM p(x|z,y) and p(a|z,y,x), for SDGM p(a|z,y) and
/// p(x|a,z,y). Inference by q(a|x), q(y|a,x) and q(z|a,x,y).
#[derive(Module, Debug)]
pub struct AuxiliaryVae {
    auxiliary: Mlp,
    classifier: Mlp,
    encoder: ClassConditionalMlp,
    auxiliary_decoder: ClassConditionalMlp,
    decoder: ClassConditionalMlp,
    #[module(skip)]
    input: RowInput,
    #[module(skip)]
    observation: Observation,
    #[module(skip)]
    sizes: Sizes,
}

#[derive(Clone, Copy, Debug)]
struct Sizes {
    classes: usize,
    code: usize,
    auxiliary: usize,
    skip: bool,
}

impl AuxiliaryVae {
    /// A freshly initialised model.
    pub fn new(shape: &Shape, auxiliary: AuxiliaryShape, seed: u64, compute: &Compute) -> Self {
        let observation = Observation::new(shape, compute);
        let input = RowInput::new(shape);
        let (inputs, classes, code) = (input.inputs(), shape.target.outputs(), shape.code);
        let AuxiliaryShape { dimensions, skip } = auxiliary;
        let a = if dimensions == 0 { code } else { dimensions };
        let hidden = shape.hidden.clone();
        let mirrored: Vec<usize> = hidden.iter().rev().copied().collect();
        let mlp = |inputs, hidden: &[usize], outputs| MlpShape {
            inputs,
            hidden: hidden.to_vec(),
            outputs,
            activation: shape.activation.into(),
            batch_norm: shape.batch_norm,
        };
        let conditional = |network: MlpShape, context, first_layer| {
            ClassConditionalMlp::new(&network, context, classes, seed, first_layer, compute)
        };
        // Additional inputs of the decoders beside z and y: SDGM's a for x, ADGM's x for a.
        let (context_of_a, context_of_x) = if skip { (0, a) } else { (inputs, 0) };
        let outputs = observation.decoder_outputs();
        Self {
            auxiliary: Mlp::new(&mlp(inputs, &hidden, 2 * a), seed, 400, compute),
            classifier: Mlp::new(&mlp(inputs + a, &hidden, classes), seed, 100, compute),
            encoder: conditional(mlp(inputs + a, &hidden, 2 * code), 0, 200),
            auxiliary_decoder: conditional(mlp(code, &mirrored, 2 * a), context_of_a, 500),
            decoder: conditional(mlp(code, &mirrored, outputs), context_of_x, 300),
            input,
            observation,
            sizes: Sizes {
                classes,
                code,
                auxiliary: a,
                skip,
            },
        }
    }

    /// q(a|x) for `x [rows, features]`.
    pub fn auxiliary(&self, x: Tensor<2>) -> Posterior {
        self.posterior(self.auxiliary.forward(self.input.forward(x)))
    }

    /// q(y|a,x) for `x [rows, features]`, `a [rows, auxiliary]`.
    pub fn classify(&self, x: Tensor<2>, a: Tensor<2>) -> Categorical {
        Categorical::from_logits(self.classifier.forward(self.both(x, a)))
    }

    /// q(z|a,x,y) for `y [rows, classes]`, one-hot.
    pub fn encode(&self, x: Tensor<2>, a: Tensor<2>, y: Tensor<2>) -> Posterior {
        self.posterior(self.encoder.forward(self.both(x, a), None, y))
    }

    /// q(z|a,x,y) for every class: row `i * classes + k` is row i with class k.
    pub(crate) fn encode_each_class(&self, x: Tensor<2>, a: Tensor<2>) -> Posterior {
        self.posterior(self.encoder.forward_each_class(self.both(x, a)))
    }

    /// p(a|z,y,x), for SDGM p(a|z,y), for `z [rows, code]`, `y [rows, classes]` one-hot.
    pub fn decode_auxiliary(&self, z: Tensor<2>, x: Tensor<2>, y: Tensor<2>) -> Posterior {
        let context = self.features_as_context(x);
        self.posterior(self.auxiliary_decoder.forward(z, context, y))
    }

    /// The same, where row `i * classes + k` of `z` belongs to class k and to row i of `x`.
    pub(crate) fn decode_auxiliary_each_class(&self, z: Tensor<2>, x: Tensor<2>) -> Posterior {
        let context = self.features_as_context(x);
        self.posterior(self.auxiliary_decoder.forward_class_rows(z, context))
    }

    /// p(x|z,y), for SDGM p(x|a,z,y), for `z [rows, code]`, `y [rows, classes]` one-hot.
    pub fn decode(&self, z: Tensor<2>, a: Tensor<2>, y: Tensor<2>) -> Likelihood {
        let raw = self.decoder.forward(z, self.sizes.skip.then_some(a), y);
        self.observation.likelihood(raw, None)
    }

    /// The same, where row `i * classes + k` of `z` belongs to class k and to row i of `a`.
    pub(crate) fn decode_each_class(&self, z: Tensor<2>, a: Tensor<2>) -> Likelihood {
        let context = self.sizes.skip.then_some(a);
        let raw = self.decoder.forward_class_rows(z, context);
        self.observation.likelihood(raw, None)
    }

    /// p(x|y,z); for SDGM a is drawn from p(a|z,y) with `noise [rows, auxiliary]`.
    pub fn generate(&self, z: Tensor<2>, y: Tensor<2>, noise: Tensor<2>) -> Likelihood {
        let a = match self.sizes.skip {
            true => {
                let raw = self.auxiliary_decoder.forward(z.clone(), None, y.clone());
                self.posterior(raw).sample_kl(noise).0
            }
            false => noise,
        };
        self.decode(z, a, y)
    }

    /// After a step, see [`super::Model::update_running_statistics`].
    pub(super) fn update_running_statistics(&mut self) {
        self.auxiliary.update_running_statistics();
        self.classifier.update_running_statistics();
        self.encoder.update_running_statistics();
        self.auxiliary_decoder.update_running_statistics();
        self.decoder.update_running_statistics();
    }

    /// The compute handle of its layers.
    pub fn compute(&self) -> &Compute {
        self.classifier.compute()
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.sizes.classes
    }

    /// Number of code dimensions.
    pub fn code(&self) -> usize {
        self.sizes.code
    }

    /// Number of dimensions of a.
    pub(crate) fn auxiliary_code(&self) -> usize {
        self.sizes.auxiliary
    }

    /// (x, a) concatenated, the input of the inference networks.
    fn both(&self, x: Tensor<2>, a: Tensor<2>) -> Tensor<2> {
        Tensor::cat(vec![self.input.forward(x), a], 1)
    }

    fn posterior(&self, raw: Tensor<2>) -> Posterior {
        Posterior::from_raw(raw, self.compute())
    }

    fn features_as_context(&self, x: Tensor<2>) -> Option<Tensor<2>> {
        (!self.sizes.skip).then(|| self.input.forward(x))
    }
}
