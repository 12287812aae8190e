//! Constrains the decoder's parameter maps on a canvas and warps them to the image by an affine
//! map per row: the spatial transformer of the paper, in one pass.

use super::Compute;
use super::constrain::{self, MapConstraint};
use super::cpu::{is_cpu, record, sizes, tensor, values};
use burn::backend::autodiff::{
    checkpoint::{base::Checkpointer, strategy::CheckpointStrategy},
    grads::Gradients,
    ops::{Backward, Ops},
};
use burn::backend::{Autodiff, Backend, Dispatch, Flex, backend_extension, tensor::FloatTensor};
use burn::tensor::{Int, Tensor};
use burn_flex::FlexTensor;
use cpcvae_kernels::transform::{self, WarpShape};

/// Height and width.
pub type Size = (usize, usize);

/// Warps `raw [rows, maps, canvas pixels]` (unconstrained) with `theta [rows, 6]`, the two rows of
/// the affine matrix that maps a position in the image to its position on the canvas, both in units
/// where the image (the canvas) spans [-1, 1]. Bilinear, borders replicated. Returns the
/// constrained parameters `[rows, maps, image pixels]`.
///
/// The same as PyTorch's `affine_grid` and `grid_sample` with `align_corners=False` and
/// `padding_mode="border"`.
pub fn constrain_warp(
    compute: &Compute,
    raw: Tensor<3>,
    theta: Tensor<2>,
    kinds: &[MapConstraint],
    canvas: Size,
    image: Size,
) -> Tensor<3> {
    if is_cpu(&raw.device()) {
        Tensor::from_dispatch(<Dispatch as WarpOp>::constrain_warp(
            compute.clone(),
            raw.into_dispatch(),
            theta.into_dispatch(),
            kinds.to_vec(),
            canvas,
            image,
        ))
    } else {
        composed(raw, theta, kinds, canvas, image)
    }
}

/// The same in plain tensor operations.
pub fn composed(
    raw: Tensor<3>,
    theta: Tensor<2>,
    kinds: &[MapConstraint],
    canvas: Size,
    image: Size,
) -> Tensor<3> {
    let constrained = constrain::composed(raw, kinds);
    let device = constrained.device();
    let [rows, maps, _] = constrained.dims();
    let (image_pixels, theta_part) = (image.0 * image.1, |i: usize| {
        theta.clone().slice([0..rows, i..i + 1])
    });
    let centre = |i: usize, size: usize| (2 * i + 1) as f32 / size as f32 - 1.0;
    let place = |of: &dyn Fn(usize) -> f32| {
        let places: Vec<f32> = (0..image_pixels).map(of).collect();
        Tensor::<1>::from_floats(places.as_slice(), &device).reshape([1, image_pixels])
    };
    let (x, y) = (
        place(&|p| centre(p % image.1, image.1)),
        place(&|p| centre(p / image.1, image.0)),
    );
    // Position on the canvas in pixels, `[rows, image pixels]`.
    let on_canvas = |row: usize, size: usize| {
        let unit = theta_part(3 * row) * x.clone()
            + theta_part(3 * row + 1) * y.clone()
            + theta_part(3 * row + 2);
        unit.add_scalar(1.0)
            .mul_scalar(size as f32 / 2.0)
            .sub_scalar(0.5)
            .clamp(0.0, (size - 1) as f32)
    };
    let (u, v) = (on_canvas(0, canvas.1), on_canvas(1, canvas.0));
    let low = |w: &Tensor<2>, size: usize| {
        w.clone()
            .detach()
            .floor()
            .clamp(0.0, size.saturating_sub(2) as f32)
    };
    let (u0, v0) = (low(&u, canvas.1), low(&v, canvas.0));
    let (fu, fv) = (u - u0.clone(), v - v0.clone());
    let step = |size: usize| if size > 1 { 1.0 } else { 0.0 };
    let corner = |du: f32, dv: f32| -> Tensor<3> {
        let index = (v0.clone().add_scalar(dv * step(canvas.0))).mul_scalar(canvas.1 as f32)
            + u0.clone().add_scalar(du * step(canvas.1));
        let index: Tensor<3, Int> = index
            .int()
            .reshape([rows, 1, image_pixels])
            .repeat_dim(1, maps);
        constrained.clone().gather(2, index)
    };
    let wide = |w: Tensor<2>| w.reshape([rows, 1, image_pixels]);
    let rest = |w: &Tensor<2>| w.clone().neg().add_scalar(1.0);
    corner(0.0, 0.0) * wide(rest(&fu) * rest(&fv))
        + corner(1.0, 0.0) * wide(fu.clone() * rest(&fv))
        + corner(0.0, 1.0) * wide(rest(&fu) * fv.clone())
        + corner(1.0, 1.0) * wide(fu * fv)
}

#[backend_extension(Flex, Autodiff)]
pub(crate) trait WarpOp: Backend {
    fn constrain_warp(
        compute: Compute,
        raw: FloatTensor<Self>,
        theta: FloatTensor<Self>,
        kinds: Vec<MapConstraint>,
        canvas: Size,
        image: Size,
    ) -> FloatTensor<Self>;
}

/// The warped maps, and the constrained maps on the canvas for the gradient.
fn forward(
    compute: &Compute,
    raw: &FlexTensor,
    theta: &FlexTensor,
    kinds: &[MapConstraint],
    canvas: Size,
    image: Size,
) -> (FlexTensor, FlexTensor) {
    let [rows, maps, canvas_pixels] = sizes(raw);
    let image_pixels = image.0 * image.1;
    let mut constrained = compute.take(rows * maps * canvas_pixels);
    let mut out = compute.take(rows * maps * image_pixels);
    transform::warp(
        &WarpShape {
            rows,
            canvas,
            image,
        },
        kinds,
        values(raw),
        values(theta),
        &mut constrained,
        &mut out,
    );
    (
        tensor(out, &[rows, maps, image_pixels]),
        tensor(constrained, &[rows, maps, canvas_pixels]),
    )
}

impl WarpOp for Flex {
    fn constrain_warp(
        compute: Compute,
        raw: FlexTensor,
        theta: FlexTensor,
        kinds: Vec<MapConstraint>,
        canvas: Size,
        image: Size,
    ) -> FlexTensor {
        forward(
            &compute,
            &raw.to_contiguous(),
            &theta.to_contiguous(),
            &kinds,
            canvas,
            image,
        )
        .0
    }
}

impl<C: CheckpointStrategy> WarpOp for Autodiff<Flex, C> {
    fn constrain_warp(
        compute: Compute,
        raw: FloatTensor<Self>,
        theta: FloatTensor<Self>,
        kinds: Vec<MapConstraint>,
        canvas: Size,
        image: Size,
    ) -> FloatTensor<Self> {
        let ((raw, raw_node), (theta, theta_node)) = (raw.into_parts(), theta.into_parts());
        let (raw, theta) = (raw.to_contiguous(), theta.to_contiguous());
        let (out, constrained) = forward(&compute, &raw, &theta, &kinds, canvas, image);
        let state = WarpState {
            compute,
            raw,
            constrained,
            theta,
            kinds,
            canvas,
            image,
        };
        record!(WarpBackward, C, [raw_node, theta_node], state, out)
    }
}

#[derive(Debug)]
struct WarpBackward;

#[derive(Clone, Debug)]
struct WarpState {
    compute: Compute,
    raw: FlexTensor,
    constrained: FlexTensor,
    theta: FlexTensor,
    kinds: Vec<MapConstraint>,
    canvas: Size,
    image: Size,
}

impl Backward<Flex, 2> for WarpBackward {
    type State = WarpState;

    fn backward(self, ops: Ops<Self::State, 2>, grads: &mut Gradients, _: &mut Checkpointer) {
        let g_out = grads.consume::<Flex>(&ops.node).to_contiguous();
        let state = ops.state;
        let [rows, maps, canvas_pixels] = sizes(&state.raw);
        let mut g_raw = state.compute.take(rows * maps * canvas_pixels);
        let mut g_theta = vec![0.0; rows * 6];
        transform::warp_backward(
            &WarpShape {
                rows,
                canvas: state.canvas,
                image: state.image,
            },
            &state.kinds,
            values(&state.raw),
            values(&state.constrained),
            values(&state.theta),
            values(&g_out),
            &mut g_raw,
            &mut g_theta,
        );
        for used in [state.raw, state.constrained, g_out] {
            state.compute.give_back(used);
        }
        let [raw_node, theta_node] = ops.parents;
        if let Some(node) = raw_node {
            grads.register::<Flex>(node.id, tensor(g_raw, &[rows, maps, canvas_pixels]));
        }
        if let Some(node) = theta_node {
            grads.register::<Flex>(node.id, tensor(g_theta, &[rows, 6]));
        }
    }
}
