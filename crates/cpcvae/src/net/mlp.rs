//! Dense networks of any depth.

use super::{BatchNorm, Linear};
use crate::op::Compute;
use crate::op::linear::{Activation, activate};
use burn::module::Module;
use burn::tensor::Tensor;

/// The sizes of a dense network.
#[derive(Clone, Debug)]
pub struct MlpShape {
    /// Number of inputs.
    pub inputs: usize,
    /// Units of each hidden layer; empty for a single linear layer.
    pub hidden: Vec<usize>,
    /// Number of outputs.
    pub outputs: usize,
    /// Activation of the hidden layers; the last layer has none.
    pub activation: Activation,
    /// Whether hidden layers are normalised before their activation.
    pub batch_norm: bool,
}

/// Hidden layers with an activation, and a last layer without.
#[derive(Module, Debug)]
pub struct Mlp {
    layers: Vec<Linear>,
    /// One for each hidden layer, or none at all.
    norms: Vec<BatchNorm>,
    #[module(skip)]
    activation: Activation,
}

impl Mlp {
    /// `first_layer` is the number of its first layer within the model (see [`Linear::new`]).
    pub fn new(shape: &MlpShape, seed: u64, first_layer: u64, compute: &Compute) -> Self {
        let mut sizes = vec![shape.inputs];
        sizes.extend(&shape.hidden);
        sizes.push(shape.outputs);
        let layers = sizes
            .windows(2)
            .zip(first_layer..)
            .map(|(pair, layer)| Linear::new(pair[0], pair[1], seed, layer, compute))
            .collect();
        let normalised = if shape.batch_norm {
            &shape.hidden[..]
        } else {
            &[]
        };
        let leak = shape.activation.slope_below_zero().unwrap_or(1.0);
        Self {
            layers,
            norms: normalised
                .iter()
                .map(|units| BatchNorm::new(*units, leak, compute))
                .collect(),
            activation: shape.activation,
        }
    }

    /// The same network with initial output `outputs` for every input.
    pub(crate) fn start_at(mut self, outputs: Vec<f32>) -> Self {
        if let Some(last) = self.layers.pop() {
            self.layers.push(last.constant(outputs));
        }
        self
    }

    /// The compute handle of its layers.
    pub fn compute(&self) -> &Compute {
        self.layers[0].compute()
    }

    /// A network without layers: a placeholder that is never run.
    pub fn placeholder() -> Self {
        Self {
            layers: Vec::new(),
            norms: Vec::new(),
            activation: Activation::Identity,
        }
    }

    /// `x [rows, inputs]` to `[rows, outputs]`.
    pub fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        let last = self.layers.len() - 1;
        self.layers[last].forward(self.last_hidden(x), Activation::Identity)
    }

    /// `x [rows, inputs]` to the input of the last layer, `[rows, its inputs]`.
    pub(crate) fn last_hidden(&self, x: Tensor<2>) -> Tensor<2> {
        let last = self.layers.len() - 1;
        (0..last).fold(x, |x, layer| self.hidden(layer, x))
    }

    /// `x [rows, inputs of the layer]` to `[rows, its units]`.
    fn hidden(&self, layer: usize, x: Tensor<2>) -> Tensor<2> {
        let Some(norm) = self.norms.get(layer) else {
            return self.layers[layer].forward(x, self.activation);
        };
        let normalised = norm.forward_rows(self.layers[layer].product(x));
        match self.activation.slope_below_zero() {
            Some(_) => normalised, // rectified in the same pass
            None => activate(normalised, self.activation),
        }
    }

    /// See [`BatchNorm::update_running_statistics`].
    pub fn update_running_statistics(&mut self) {
        self.norms
            .iter_mut()
            .for_each(BatchNorm::update_running_statistics);
    }

    /// The sum of squared differences to the parameters of a network of the same shape: `[1]`.
    pub(crate) fn squared_distance(&self, other: &Self) -> Tensor<1> {
        let of_layer = |(a, b): (&Linear, &Linear)| {
            let weights = (a.weight.val() - b.weight.val()).square().sum();
            weights + (a.bias.val() - b.bias.val()).square().sum()
        };
        self.layers
            .iter()
            .zip(&other.layers)
            .map(of_layer)
            .reduce(|a, b| a + b)
            .expect("a network has at least one layer")
    }

    /// The sum of all squared weights, biases not counted: `[1]`.
    pub(crate) fn squared_norm(&self) -> Tensor<1> {
        self.layers
            .iter()
            .map(|layer| layer.weight.val().square().sum())
            .reduce(|a, b| a + b)
            .expect("a network has at least one layer")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::{Noise, NoisePurpose};
    use crate::op::Precision;
    use burn::tensor::Device;

    /// Every activation comes after the normalisation, in the same pass or a later one.
    #[test]
    fn a_normalised_layer_is_its_definition() {
        let device = Device::flex().autodiff();
        let x = Noise::new(3, 0, &device).normal(NoisePurpose::Features, [6, 2]);
        for activation in [
            Activation::Identity,
            Activation::Softplus,
            Activation::LeakyRelu,
            Activation::Elu,
            Activation::Relu,
        ] {
            let shape = MlpShape {
                inputs: 2,
                hidden: vec![4],
                outputs: 3,
                activation,
                batch_norm: true,
            };
            let net = Mlp::new(&shape, 1, 0, &Compute::new(&device, Precision::F32));
            let products = x.clone().matmul(net.layers[0].weight.val());
            let apart = products.clone() - products.mean_dim(0);
            let sd = apart.clone().square().mean_dim(0).add_scalar(1e-5).sqrt();
            let hidden = activate(apart / sd, activation);
            let expected = net.layers[1].forward(hidden, Activation::Identity);
            let worst = (net.forward(x.clone()) - expected).abs().max();
            assert!(worst.into_scalar::<f32>() < 1e-5, "{activation:?}");
        }
    }
}
