//! Masks gradients at the pixels of a canvas that its image does not show.

use super::cpu::{is_cpu, record, sizes, values};
use super::warp::Size;
use burn::backend::autodiff::{
    checkpoint::{base::Checkpointer, strategy::CheckpointStrategy},
    grads::Gradients,
    ops::{Backward, Ops},
};
use burn::backend::{Autodiff, Backend, Dispatch, Flex, backend_extension, tensor::FloatTensor};
use burn::tensor::Tensor;
use burn_flex::FlexTensor;
use cpcvae_kernels::transform;

/// `raw [rows, maps, canvas pixels]` unchanged. Its gradient is zero at the pixels of the canvas
/// outside the image that `theta [rows, 6]` places on it (see [`super::warp::constrain_warp`]).
pub fn shown_only(raw: Tensor<3>, theta: Tensor<2>, canvas: Size) -> Tensor<3> {
    let theta = theta.detach();
    if is_cpu(&raw.device()) {
        Tensor::from_dispatch(<Dispatch as ShownOp>::shown_only(
            raw.into_dispatch(),
            theta.into_dispatch(),
            canvas,
        ))
    } else {
        composed(raw, theta, canvas)
    }
}

/// The same in plain tensor operations.
pub fn composed(raw: Tensor<3>, theta: Tensor<2>, (height, width): Size) -> Tensor<3> {
    let device = raw.device();
    let [rows, _, pixels] = raw.dims();
    let centre = |i: usize, size: usize| (2 * i + 1) as f32 / size as f32 - 1.0;
    let place = |of: &dyn Fn(usize) -> f32| {
        let places: Vec<f32> = (0..pixels).map(of).collect();
        Tensor::<1>::from_floats(places.as_slice(), &device).reshape([1, pixels])
    };
    let part = |i: usize| theta.clone().slice([0..rows, i..i + 1]);
    let x = place(&|p| centre(p % width, width)) - part(2);
    let y = place(&|p| centre(p / width, height)) - part(5);
    let determinant = part(0) * part(4) - part(1) * part(3);
    // The inverse of theta's matrix: the position in the image of a position on the canvas.
    let across = (part(4) * x.clone() - part(1) * y.clone()) / determinant.clone();
    let along = (part(0) * y - part(3) * x) / determinant;
    let inside = |place: Tensor<2>| place.abs().lower_equal_elem(1.0).float();
    let shown = (inside(across) * inside(along)).reshape([rows, 1, pixels]);
    let hidden = shown.clone().neg().add_scalar(1.0);
    raw.clone() * shown + raw.detach() * hidden
}

#[backend_extension(Flex, Autodiff)]
pub(crate) trait ShownOp: Backend {
    fn shown_only(
        raw: FloatTensor<Self>,
        theta: FloatTensor<Self>,
        canvas: Size,
    ) -> FloatTensor<Self>;
}

impl ShownOp for Flex {
    fn shown_only(raw: FlexTensor, _: FlexTensor, _: Size) -> FlexTensor {
        raw
    }
}

impl<C: CheckpointStrategy> ShownOp for Autodiff<Flex, C> {
    fn shown_only(
        raw: FloatTensor<Self>,
        theta: FloatTensor<Self>,
        canvas: Size,
    ) -> FloatTensor<Self> {
        let ((raw, node), (theta, _)) = (raw.into_parts(), theta.into_parts());
        let state = (theta.to_contiguous(), canvas);
        record!(ShownBackward, C, [node], state, raw)
    }
}

#[derive(Debug)]
struct ShownBackward;

impl Backward<Flex, 1> for ShownBackward {
    /// Theta, and the size of the canvas.
    type State = (FlexTensor, Size);

    fn backward(self, ops: Ops<Self::State, 1>, grads: &mut Gradients, _: &mut Checkpointer) {
        let mut g = grads.consume::<Flex>(&ops.node).to_contiguous();
        let (theta, canvas) = ops.state;
        let [_, maps, _] = sizes(&g);
        transform::clear_unshown(maps, canvas, values(&theta), g.storage_mut::<f32>());
        let [node] = ops.parents;
        if let Some(node) = node {
            grads.register::<Flex>(node.id, g);
        }
    }
}
