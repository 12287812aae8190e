//! One dense layer.

use crate::noise::{Noise, NoisePurpose};
use crate::op::Compute;
use crate::op::linear::{Activation, linear_activation};
use burn::module::{Module, Param};
use burn::tensor::{Tensor, TensorData};

/// `act(x W + b)`.
#[derive(Module, Debug)]
pub struct Linear {
    /// `[inputs, outputs]`
    pub weight: Param<Tensor<2>>,
    /// `[outputs]`
    pub bias: Param<Tensor<1>>,
    #[module(skip)]
    compute: Compute,
}

impl Linear {
    /// Glorot-uniform weights and zero biases. `layer` distinguishes layers of one model, so that
    /// each gets its own random numbers.
    pub fn new(inputs: usize, outputs: usize, seed: u64, layer: u64, compute: &Compute) -> Self {
        let device = compute.device();
        let limit = (6.0 / (inputs + outputs) as f32).sqrt();
        let unit =
            Noise::new(seed, layer, device).uniform(NoisePurpose::Weights, [inputs, outputs]);
        Self {
            weight: Param::from_tensor(unit.mul_scalar(2.0 * limit).sub_scalar(limit)),
            bias: Param::from_tensor(Tensor::zeros([outputs], device)),
            compute: compute.clone(),
        }
    }

    /// The same layer with output `outputs` for every input: its weights are zero.
    pub fn constant(self, outputs: Vec<f32>) -> Self {
        let weight = self.weight.val();
        let bias = Tensor::from_data(TensorData::from(outputs.as_slice()), &weight.device());
        Self {
            weight: Param::from_tensor(weight.zeros_like()),
            bias: Param::from_tensor(bias),
            compute: self.compute,
        }
    }

    /// `x [rows, inputs]` to `[rows, outputs]`.
    pub fn forward(&self, x: Tensor<2>, act: Activation) -> Tensor<2> {
        linear_activation(&self.compute, x, self.weight.val(), self.bias.val(), act)
    }

    /// `x W` for `x [rows, inputs]`: `[rows, outputs]`, where a normalisation follows, which would
    /// cancel a bias. The bias gets no gradient; otherwise Adam would amplify its rounding errors.
    pub fn product(&self, x: Tensor<2>) -> Tensor<2> {
        let bias = self.bias.val().detach();
        let weight = self.weight.val();
        linear_activation(&self.compute, x, weight, bias, Activation::Identity)
    }

    /// The compute handle.
    pub fn compute(&self) -> &Compute {
        &self.compute
    }

    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        self.bias.val().dims()[0]
    }
}
