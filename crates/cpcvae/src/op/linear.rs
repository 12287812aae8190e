//! `act(x W + b)`: the layer that takes most of the arithmetic.

use super::Compute;
use super::cpu::{contiguous, is_cpu, record, sizes, tensor, values};
use super::weights::Handle;
use burn::backend::autodiff::{
    checkpoint::{base::Checkpointer, strategy::CheckpointStrategy},
    grads::Gradients,
    ops::{Backward, Ops},
};
use burn::backend::{Autodiff, Backend, Dispatch, Flex, backend_extension, tensor::FloatTensor};
use burn::tensor::{Tensor, activation};
use burn_flex::FlexTensor;
pub use cpcvae_kernels::activation::Activation;
use cpcvae_kernels::linear::{self, LinearGrads};

/// `act(x W + b)` with `x [rows, inputs]`, `weight [inputs, outputs]`, `bias [outputs]`; returns
/// `[rows, outputs]`.
pub fn linear_activation(
    compute: &Compute,
    x: Tensor<2>,
    weight: Tensor<2>,
    bias: Tensor<1>,
    act: Activation,
) -> Tensor<2> {
    if is_cpu(&x.device()) {
        Tensor::from_dispatch(<Dispatch as LinearOp>::linear_activation(
            compute.clone(),
            x.into_dispatch(),
            weight.into_dispatch(),
            bias.into_dispatch(),
            act,
        ))
    } else {
        composed(x, weight, bias, act)
    }
}

/// The same in plain tensor operations.
pub fn composed(x: Tensor<2>, weight: Tensor<2>, bias: Tensor<1>, act: Activation) -> Tensor<2> {
    activate(x.matmul(weight) + bias.unsqueeze(), act)
}

/// The activation alone, element by element.
pub(crate) fn activate<const D: usize>(x: Tensor<D>, act: Activation) -> Tensor<D> {
    match act {
        Activation::Identity => x,
        Activation::Softplus => activation::softplus(x, 1.0),
        Activation::LeakyRelu => activation::leaky_relu(x, 0.01),
        Activation::Elu => activation::elu(x, 1.0),
        Activation::Relu => activation::relu(x),
    }
}

#[backend_extension(Flex, Autodiff)]
pub(crate) trait LinearOp: Backend {
    fn linear_activation(
        compute: Compute,
        x: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        act: Activation,
    ) -> FloatTensor<Self>;
}

impl LinearOp for Flex {
    fn linear_activation(
        compute: Compute,
        x: FlexTensor,
        weight: FlexTensor,
        bias: FlexTensor,
        act: Activation,
    ) -> FlexTensor {
        // The copy, if one is made, replaces the original, so that its buffer can be returned to
        // the pool.
        let x = contiguous(x);
        let (weight, bias) = (weight.to_contiguous(), bias.to_contiguous());
        let y = forward(&compute, &x, &weight, &bias, act);
        compute.give_back(x);
        y
    }
}

fn forward(
    compute: &Compute,
    x: &FlexTensor,
    weight: &FlexTensor,
    bias: &FlexTensor,
    act: Activation,
) -> FlexTensor {
    let ([rows, inputs], [_, outputs]) = (sizes(x), sizes(weight));
    compute.filled(&[rows, outputs], |y| {
        linear::forward(
            compute.workspace(),
            [rows, inputs, outputs],
            values(x),
            Handle::of(compute, weight).weights(weight),
            values(bias),
            act,
            y,
        );
    })
}

impl<C: CheckpointStrategy> LinearOp for Autodiff<Flex, C> {
    fn linear_activation(
        compute: Compute,
        x: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        act: Activation,
    ) -> FloatTensor<Self> {
        let ((x, x_node), (weight, weight_node), (bias, bias_node)) =
            (x.into_parts(), weight.into_parts(), bias.into_parts());
        let (x, weight) = (x.to_contiguous(), weight.to_contiguous());
        let y = forward(&compute, &x, &weight, &bias.to_contiguous(), act);
        record!(
            LinearBackward,
            C,
            [x_node, weight_node, bias_node],
            (compute, x, weight, y.clone(), act),
            y
        )
    }
}

#[derive(Debug)]
struct LinearBackward;

impl Backward<Flex, 3> for LinearBackward {
    /// x, weight, y, activation: the slope of each activation is a function of its output.
    type State = (Compute, FlexTensor, FlexTensor, FlexTensor, Activation);

    fn backward(self, ops: Ops<Self::State, 3>, grads: &mut Gradients, _: &mut Checkpointer) {
        let gy = grads.consume::<Flex>(&ops.node).to_contiguous();
        let (compute, x, weight, y, act) = ops.state;
        let ([rows, inputs], [_, outputs]) = (sizes(&x), sizes(&weight));
        let [x_node, weight_node, bias_node] = ops.parents;
        let mut gx = x_node.as_ref().map(|_| compute.take(rows * inputs));
        let mut gw = weight_node.as_ref().map(|_| compute.take(inputs * outputs));
        let mut gb = bias_node.as_ref().map(|_| vec![0.0; outputs]);
        linear::backward(
            compute.workspace(),
            [rows, inputs, outputs],
            values(&x),
            Handle::of(&compute, &weight).weights(&weight),
            values(&y),
            values(&gy),
            act,
            LinearGrads {
                x: gx.as_deref_mut(),
                w: gw.as_deref_mut(),
                b: gb.as_deref_mut(),
            },
        );
        for used in [x, y, gy] {
            compute.give_back(used);
        }
        if let (Some(node), Some(g)) = (x_node, gx) {
            grads.register::<Flex>(node.id, tensor(g, &[rows, inputs]));
        }
        if let (Some(node), Some(g)) = (weight_node, gw) {
            grads.register::<Flex>(node.id, tensor(g, &[inputs, outputs]));
        }
        if let (Some(node), Some(g)) = (bias_node, gb) {
            grads.register::<Flex>(node.id, tensor(g, &[outputs]));
        }
    }
}
