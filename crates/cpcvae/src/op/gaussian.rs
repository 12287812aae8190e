//! A reparameterised sample of a diagonal normal and its KL divergence from the standard normal.

use super::cpu::{is_cpu, record, sizes, tensor, values};
use burn::backend::autodiff::{
    checkpoint::{base::Checkpointer, strategy::CheckpointStrategy},
    grads::Gradients,
    ops::{Backward, Ops},
};
use burn::backend::{Autodiff, Backend, Dispatch, Flex, backend_extension, tensor::FloatTensor};
use burn::tensor::{Tensor, activation};
use burn_flex::FlexTensor;
use cpcvae_kernels::gaussian;

/// From `raw [rows, 2 code]`, the means and the unconstrained scales side by side, and standard
/// normal `noise [rows, code]`: the sample `z = mean + sigma * noise [rows, code]` with
/// `sigma = softplus(raw) + floor`, and `KL(N(mean, sigma^2) || N(0, I)) [rows]`.
pub fn sample_kl(raw: Tensor<2>, noise: Tensor<2>, floor: f32) -> (Tensor<2>, Tensor<1>) {
    if !is_cpu(&raw.device()) {
        return composed(raw, noise, floor);
    }
    let [rows, code] = noise.dims();
    // A tape operation has one output, so the divergence is appended as a last column.
    let both: Tensor<2> = Tensor::from_dispatch(<Dispatch as GaussianOp>::gaussian_sample_kl(
        raw.into_dispatch(),
        noise.into_dispatch(),
        floor,
    ));
    (
        both.clone().slice([0..rows, 0..code]),
        both.slice([0..rows, code..code + 1]).reshape([rows]),
    )
}

/// The same in plain tensor operations.
pub fn composed(raw: Tensor<2>, noise: Tensor<2>, floor: f32) -> (Tensor<2>, Tensor<1>) {
    let [rows, code] = noise.dims();
    let mean = raw.clone().slice([0..rows, 0..code]);
    let sigma = activation::softplus(raw.slice([0..rows, code..2 * code]), 1.0).add_scalar(floor);
    let z = mean.clone() + sigma.clone() * noise;
    let kl = (mean.square() + sigma.clone().square() - sigma.log().mul_scalar(2.0))
        .sub_scalar(1.0)
        .sum_dim(1)
        .mul_scalar(0.5);
    (z, kl.reshape([rows]))
}

#[backend_extension(Flex, Autodiff)]
pub(crate) trait GaussianOp: Backend {
    fn gaussian_sample_kl(
        raw: FloatTensor<Self>,
        noise: FloatTensor<Self>,
        floor: f32,
    ) -> FloatTensor<Self>;
}

impl GaussianOp for Flex {
    fn gaussian_sample_kl(raw: FlexTensor, noise: FlexTensor, floor: f32) -> FlexTensor {
        let [rows, code] = sizes(&noise);
        let (mut z, mut kl) = (vec![0.0; rows * code], vec![0.0; rows]);
        gaussian::sample_kl(
            rows,
            code,
            values(&raw.to_contiguous()),
            values(&noise.to_contiguous()),
            floor,
            &mut z,
            &mut kl,
        );
        let mut both = Vec::with_capacity(rows * (code + 1));
        for (z, kl) in z.chunks_exact(code).zip(kl) {
            both.extend_from_slice(z);
            both.push(kl);
        }
        tensor(both, &[rows, code + 1])
    }
}

impl<C: CheckpointStrategy> GaussianOp for Autodiff<Flex, C> {
    fn gaussian_sample_kl(
        raw: FloatTensor<Self>,
        noise: FloatTensor<Self>,
        floor: f32,
    ) -> FloatTensor<Self> {
        let ((raw, node), (noise, _)) = (raw.into_parts(), noise.into_parts());
        let (raw, noise) = (raw.to_contiguous(), noise.to_contiguous());
        let both = Flex::gaussian_sample_kl(raw.clone(), noise.clone(), floor);
        record!(GaussianBackward, C, [node], (raw, noise, floor), both)
    }
}

#[derive(Debug)]
struct GaussianBackward;

impl Backward<Flex, 1> for GaussianBackward {
    type State = (FlexTensor, FlexTensor, f32);

    fn backward(self, ops: Ops<Self::State, 1>, grads: &mut Gradients, _: &mut Checkpointer) {
        let g_both = grads.consume::<Flex>(&ops.node).to_contiguous();
        let (raw, noise, floor) = ops.state;
        let [rows, code] = sizes(&noise);
        let mut gz = Vec::with_capacity(rows * code);
        let mut gkl = Vec::with_capacity(rows);
        for row in values(&g_both).chunks_exact(code + 1) {
            gz.extend_from_slice(&row[..code]);
            gkl.push(row[code]);
        }
        let mut g_raw = vec![0.0; rows * 2 * code];
        gaussian::sample_kl_backward(
            rows,
            code,
            values(&raw),
            values(&noise),
            floor,
            &gz,
            &gkl,
            &mut g_raw,
        );
        let [node] = ops.parents;
        if let Some(node) = node {
            grads.register::<Flex>(node.id, tensor(g_raw, &[rows, 2 * code]));
        }
    }
}
