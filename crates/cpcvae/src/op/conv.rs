//! Convolutions and transposed convolutions of images, channels last.

mod gradients;

pub(super) use gradients::ConvState;

use super::Compute;
use super::cpu::{contiguous, is_cpu, record, sizes, values};
use burn::backend::autodiff::{checkpoint::strategy::CheckpointStrategy, ops::Backward};
use burn::backend::{Autodiff, Backend, Dispatch, Flex, backend_extension, tensor::FloatTensor};
use burn::tensor::Tensor;
use burn::tensor::module::{conv_transpose2d, conv2d};
use burn::tensor::ops::{ConvOptions, ConvTransposeOptions};
use burn_flex::FlexTensor;
use cpcvae_kernels::conv::{self as kernel, ConvShape};
use gradients::{ConvBackward, ConvOntoBackward};

/// The direction of a convolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From the larger image to the smaller one.
    Down,
    /// Transposed: from the smaller image to the larger one, of this height and width.
    Up([usize; 2]),
}

/// The convolution of `x [rows, height, width, inputs]` with `weight [kernel, kernel, inputs,
/// outputs]`, borders filled with zeros: `[rows, height / stride, width / stride, outputs]`, sides
/// rounded up. The kernel's side is odd.
pub fn convolve(compute: &Compute, x: Tensor<4>, weight: Tensor<4>, stride: usize) -> Tensor<4> {
    either(compute, x, weight, stride, Way::Down)
}

/// The transpose of [`convolve`]: from `x [rows, height / stride, width / stride, outputs]` and
/// `weight [kernel, kernel, inputs, outputs]` to `[rows, height, width, inputs]`.
pub fn convolve_up(
    compute: &Compute,
    x: Tensor<4>,
    weight: Tensor<4>,
    stride: usize,
    size: [usize; 2],
) -> Tensor<4> {
    either(compute, x, weight, stride, Way::Up(size))
}

/// [`convolve`] or [`convolve_up`], plus `skip`, which has the output's shape.
pub fn convolve_onto(
    compute: &Compute,
    x: Tensor<4>,
    weight: Tensor<4>,
    stride: usize,
    way: Way,
    skip: Tensor<4>,
) -> Tensor<4> {
    if !is_cpu(&x.device()) {
        return composed(x, weight, stride, way) + skip;
    }
    Tensor::from_dispatch(<Dispatch as ConvOp>::convolve_onto(
        compute.clone(),
        x.into_dispatch(),
        weight.into_dispatch(),
        skip.into_dispatch(),
        stride,
        way,
    ))
}

fn either(
    compute: &Compute,
    x: Tensor<4>,
    weight: Tensor<4>,
    stride: usize,
    way: Way,
) -> Tensor<4> {
    if is_cpu(&x.device()) {
        Tensor::from_dispatch(<Dispatch as ConvOp>::convolve(
            compute.clone(),
            x.into_dispatch(),
            weight.into_dispatch(),
            stride,
            way,
        ))
    } else {
        composed(x, weight, stride, way)
    }
}

/// Either of them in plain tensor operations.
pub fn composed(x: Tensor<4>, weight: Tensor<4>, stride: usize, way: Way) -> Tensor<4> {
    let [_, height, width, _] = x.dims();
    let [kernel, ..] = weight.dims();
    let border = kernel / 2;
    let channels_first = x.permute([0, 3, 1, 2]);
    // Burn's convolutions take [outputs, inputs, ...], its transposed ones [inputs, outputs, ...].
    let weight = weight.permute([3, 2, 0, 1]);
    let strides = [stride, stride];
    let y = match way {
        Way::Down => {
            let options = ConvOptions::new(strides, [border, border], [1, 1], 1);
            conv2d(channels_first, weight, None, options)
        }
        Way::Up(size) => {
            let rest = [
                size[0] - (height - 1) * stride,
                size[1] - (width - 1) * stride,
            ];
            let options = ConvTransposeOptions::new(
                strides,
                [border, border],
                rest.map(|pixels| pixels - 1),
                [1, 1],
                1,
            );
            conv_transpose2d(channels_first, weight, None, options)
        }
    };
    y.permute([0, 2, 3, 1])
}

#[backend_extension(Flex, Autodiff)]
pub(crate) trait ConvOp: Backend {
    fn convolve(
        compute: Compute,
        x: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        stride: usize,
        way: Way,
    ) -> FloatTensor<Self>;
    fn convolve_onto(
        compute: Compute,
        x: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        skip: FloatTensor<Self>,
        stride: usize,
        way: Way,
    ) -> FloatTensor<Self>;
}

fn shape(x: &FlexTensor, weight: &FlexTensor, stride: usize, way: Way) -> ConvShape {
    let ([rows, height, width, _], [kernel, _, inputs, outputs]) = (sizes(x), sizes(weight));
    let [height, width] = match way {
        Way::Down => [height, width],
        Way::Up(size) => size,
    };
    ConvShape {
        rows,
        height,
        width,
        inputs,
        outputs,
        kernel,
        stride,
    }
}

pub(super) fn forward(
    compute: &Compute,
    x: &FlexTensor,
    weight: &FlexTensor,
    (stride, way): (usize, Way),
    skip: Option<&FlexTensor>,
) -> FlexTensor {
    let shape = shape(x, weight, stride, way);
    let ConvShape {
        rows,
        inputs,
        outputs,
        ..
    } = shape;
    let skip = skip.map(values);
    match way {
        Way::Down => {
            let [height, width] = shape.output_size();
            compute.filled(&[rows, height, width, outputs], |y| {
                kernel::forward(
                    compute.workspace(),
                    &shape,
                    values(x),
                    values(weight),
                    skip,
                    y,
                );
            })
        }
        Way::Up([height, width]) => compute.filled(&[rows, height, width, inputs], |y| {
            kernel::input_gradient(
                compute.workspace(),
                &shape,
                values(x),
                values(weight),
                skip,
                y,
            );
        }),
    }
}

impl ConvOp for Flex {
    fn convolve(
        compute: Compute,
        x: FlexTensor,
        weight: FlexTensor,
        stride: usize,
        way: Way,
    ) -> FlexTensor {
        let x = contiguous(x);
        let y = forward(&compute, &x, &weight.to_contiguous(), (stride, way), None);
        compute.give_back(x);
        y
    }

    fn convolve_onto(
        compute: Compute,
        x: FlexTensor,
        weight: FlexTensor,
        skip: FlexTensor,
        stride: usize,
        way: Way,
    ) -> FlexTensor {
        let (x, skip) = (contiguous(x), contiguous(skip));
        let y = forward(
            &compute,
            &x,
            &weight.to_contiguous(),
            (stride, way),
            Some(&skip),
        );
        compute.give_back(x);
        compute.give_back(skip);
        y
    }
}

impl<C: CheckpointStrategy> ConvOp for Autodiff<Flex, C> {
    fn convolve(
        compute: Compute,
        x: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        stride: usize,
        way: Way,
    ) -> FloatTensor<Self> {
        let ((x, x_node), (weight, weight_node)) = (x.into_parts(), weight.into_parts());
        let (x, weight) = (x.to_contiguous(), weight.to_contiguous());
        let y = forward(&compute, &x, &weight, (stride, way), None);
        let state = ConvState {
            compute,
            x,
            weight,
            stride,
            way,
        };
        record!(ConvBackward, C, [x_node, weight_node], state, y)
    }

    fn convolve_onto(
        compute: Compute,
        x: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        skip: FloatTensor<Self>,
        stride: usize,
        way: Way,
    ) -> FloatTensor<Self> {
        let ((x, x_node), (weight, weight_node)) = (x.into_parts(), weight.into_parts());
        let (skip, skip_node) = skip.into_parts();
        let (x, weight) = (x.to_contiguous(), weight.to_contiguous());
        let skip = contiguous(skip);
        let y = forward(&compute, &x, &weight, (stride, way), Some(&skip));
        compute.give_back(skip);
        let state = ConvState {
            compute,
            x,
            weight,
            stride,
            way,
        };
        record!(
            ConvOntoBackward,
            C,
            [x_node, weight_node, skip_node],
            state,
            y
        )
    }
}
