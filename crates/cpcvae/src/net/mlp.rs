//! Dense networks of any depth.

use super::Linear;
use crate::op::linear::Activation;
use burn::module::Module;
use burn::tensor::{Device, Tensor};

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
}

/// Hidden layers with an activation, and a last layer without.
#[derive(Module, Debug)]
pub struct Mlp {
    layers: Vec<Linear>,
    #[module(skip)]
    activation: Activation,
}

impl Mlp {
    /// `first_layer` numbers this network's layers within the model (see [`Linear::new`]).
    pub fn new(shape: &MlpShape, seed: u64, first_layer: u64, device: &Device) -> Self {
        let mut sizes = vec![shape.inputs];
        sizes.extend(&shape.hidden);
        sizes.push(shape.outputs);
        let layers = sizes
            .windows(2)
            .zip(first_layer..)
            .map(|(pair, layer)| Linear::new(pair[0], pair[1], seed, layer, device))
            .collect();
        Self {
            layers,
            activation: shape.activation,
        }
    }

    /// A network without layers: a place holder that is never run.
    pub fn hollow() -> Self {
        Self {
            layers: Vec::new(),
            activation: Activation::Identity,
        }
    }

    /// `x [rows, inputs]` to `[rows, outputs]`.
    pub fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        let last = self.layers.len() - 1;
        let hidden = self.layers[..last]
            .iter()
            .fold(x, |x, layer| layer.forward(x, self.activation));
        self.layers[last].forward(hidden, Activation::Identity)
    }

    /// The sum of squared differences to the parameters of a network of the same shape: `[1]`.
    pub fn squared_distance(&self, other: &Self) -> Tensor<1> {
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
    pub fn squared_norm(&self) -> Tensor<1> {
        self.layers
            .iter()
            .map(|layer| layer.weight.val().square().sum())
            .reduce(|a, b| a + b)
            .expect("a network has at least one layer")
    }
}
