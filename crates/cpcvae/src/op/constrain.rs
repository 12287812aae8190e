//! Maps the unconstrained outputs of a decoder to the parameters of a likelihood.

use super::Compute;
use super::cpu::{is_cpu, record, sizes, values};
use burn::backend::autodiff::{
    checkpoint::{base::Checkpointer, strategy::CheckpointStrategy},
    grads::Gradients,
    ops::{Backward, Ops},
};
use burn::backend::{Autodiff, Backend, Dispatch, Flex, backend_extension, tensor::FloatTensor};
use burn::tensor::{Tensor, activation};
use burn_flex::FlexTensor;
use cpcvae_kernels::transform;
pub use cpcvae_kernels::transform::MapConstraint;

/// Maps `raw [rows, maps, pixels]` to constrained parameters of the same shape; `kinds[i]` applies
/// to map `i`.
pub fn constrain(compute: &Compute, raw: Tensor<3>, kinds: &[MapConstraint]) -> Tensor<3> {
    if is_cpu(&raw.device()) {
        Tensor::from_dispatch(<Dispatch as ConstrainOp>::constrain(
            compute.clone(),
            raw.into_dispatch(),
            kinds.to_vec(),
        ))
    } else {
        composed(raw, kinds)
    }
}

/// The same in plain tensor operations.
pub fn composed(raw: Tensor<3>, kinds: &[MapConstraint]) -> Tensor<3> {
    let [rows, _, pixels] = raw.dims();
    let maps = kinds
        .iter()
        .enumerate()
        .map(|(i, kind)| apply(raw.clone().slice([0..rows, i..i + 1, 0..pixels]), *kind))
        .collect();
    Tensor::cat(maps, 1)
}

fn apply(raw: Tensor<3>, kind: MapConstraint) -> Tensor<3> {
    match kind {
        MapConstraint::Identity => raw,
        MapConstraint::Sigmoid => activation::sigmoid(raw).clamp(1e-4, 1.0 - 1e-4),
        MapConstraint::Tanh => raw.tanh(),
        MapConstraint::Variance { floor } => {
            activation::softplus(raw, 1.0).add_scalar(floor).square()
        }
    }
}

#[backend_extension(Flex, Autodiff)]
pub(crate) trait ConstrainOp: Backend {
    fn constrain(
        compute: Compute,
        raw: FloatTensor<Self>,
        kinds: Vec<MapConstraint>,
    ) -> FloatTensor<Self>;
}

impl ConstrainOp for Flex {
    fn constrain(compute: Compute, raw: FlexTensor, kinds: Vec<MapConstraint>) -> FlexTensor {
        let [rows, maps, pixels] = sizes(&raw);
        let raw = raw.to_contiguous();
        compute.filled(&[rows, maps, pixels], |out| {
            transform::constrain(rows, pixels, &kinds, values(&raw), out);
        })
    }
}

impl<C: CheckpointStrategy> ConstrainOp for Autodiff<Flex, C> {
    fn constrain(
        compute: Compute,
        raw: FloatTensor<Self>,
        kinds: Vec<MapConstraint>,
    ) -> FloatTensor<Self> {
        let (raw, node) = raw.into_parts();
        let raw = raw.to_contiguous();
        let out = Flex::constrain(compute.clone(), raw.clone(), kinds.clone());
        record!(ConstrainBackward, C, [node], (compute, raw, kinds), out)
    }
}

#[derive(Debug)]
struct ConstrainBackward;

impl Backward<Flex, 1> for ConstrainBackward {
    type State = (Compute, FlexTensor, Vec<MapConstraint>);

    fn backward(self, ops: Ops<Self::State, 1>, grads: &mut Gradients, _: &mut Checkpointer) {
        let g_out = grads.consume::<Flex>(&ops.node).to_contiguous();
        let (compute, raw, kinds) = ops.state;
        let [rows, maps, pixels] = sizes(&raw);
        let g_raw = compute.filled(&[rows, maps, pixels], |g_raw| {
            let (raw, g_out) = (values(&raw), values(&g_out));
            transform::constrain_backward(rows, pixels, &kinds, raw, g_out, g_raw);
        });
        compute.give_back(raw);
        compute.give_back(g_out);
        let [node] = ops.parents;
        if let Some(node) = node {
            grads.register::<Flex>(node.id, g_raw);
        }
    }
}
