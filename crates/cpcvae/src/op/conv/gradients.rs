//! Gradients of convolutions.

use super::{Way, shape};
use crate::op::Compute;
use crate::op::cpu::{sizes, values};
use burn::backend::Flex;
use burn::backend::autodiff::{
    NodeId,
    checkpoint::base::Checkpointer,
    grads::Gradients,
    ops::{Backward, Ops},
};
use burn_flex::FlexTensor;
use cpcvae_kernels::conv as kernel;

/// The state for the gradients of a convolution.
#[derive(Clone, Debug)]
pub(in crate::op) struct ConvState {
    pub compute: Compute,
    pub x: FlexTensor,
    pub weight: FlexTensor,
    pub stride: usize,
    pub way: Way,
}

impl ConvState {
    /// Gradients of x and the weights, those that are needed, from that of the output.
    pub(in crate::op) fn gradients(
        self,
        gy: FlexTensor,
        [wants_x, wants_weight]: [bool; 2],
    ) -> [Option<FlexTensor>; 2] {
        let ConvState {
            compute,
            x,
            weight,
            stride,
            way,
        } = self;
        let (shape, workspace) = (shape(&x, &weight, stride, way), compute.workspace());
        let gw = wants_weight.then(|| {
            compute.filled(&sizes::<4>(&weight), |gw| match way {
                Way::Down => {
                    kernel::weight_gradient(workspace, &shape, values(&x), values(&gy), gw)
                }
                Way::Up(_) => {
                    kernel::weight_gradient(workspace, &shape, values(&gy), values(&x), gw)
                }
            })
        });
        let gx = wants_x.then(|| {
            let (gy, weight) = (values(&gy), values(&weight));
            compute.filled(&sizes::<4>(&x), |gx| match way {
                Way::Down => kernel::input_gradient(workspace, &shape, gy, weight, None, gx),
                Way::Up(_) => kernel::forward(workspace, &shape, gy, weight, None, gx),
            })
        });
        compute.give_back(x);
        compute.give_back(gy);
        [gx, gw]
    }

    /// Registers the gradients of the nodes that need one.
    fn backward(self, gy: FlexTensor, nodes: [Option<NodeId>; 2], grads: &mut Gradients) {
        let gradients = self.gradients(gy, nodes.map(|node| node.is_some()));
        for (node, gradient) in nodes.into_iter().zip(gradients) {
            if let (Some(node), Some(gradient)) = (node, gradient) {
                grads.register::<Flex>(node, gradient);
            }
        }
    }
}

#[derive(Debug)]
pub(super) struct ConvBackward;

impl Backward<Flex, 2> for ConvBackward {
    type State = ConvState;

    fn backward(self, ops: Ops<Self::State, 2>, grads: &mut Gradients, _: &mut Checkpointer) {
        let gy = grads.consume::<Flex>(&ops.node).to_contiguous();
        let parents = ops.parents.map(|node| node.map(|node| node.id));
        ops.state.backward(gy, parents, grads);
    }
}

#[derive(Debug)]
pub(super) struct ConvOntoBackward;

impl Backward<Flex, 3> for ConvOntoBackward {
    type State = ConvState;

    fn backward(self, ops: Ops<Self::State, 3>, grads: &mut Gradients, _: &mut Checkpointer) {
        let gy = grads.consume::<Flex>(&ops.node).to_contiguous();
        let [x_node, weight_node, skip_node] = ops.parents.map(|node| node.map(|node| node.id));
        // A sum passes its gradient on unchanged.
        if let Some(node) = skip_node {
            grads.register::<Flex>(node, gy.clone());
        }
        ops.state.backward(gy, [x_node, weight_node], grads);
    }
}
