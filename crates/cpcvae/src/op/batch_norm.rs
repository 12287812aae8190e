//! Batch normalisation followed by a leaky rectifier, channels last.

use super::Compute;
use super::cpu::{contiguous, is_cpu, record, sizes, tensor, values};
use burn::backend::autodiff::{
    checkpoint::{base::Checkpointer, strategy::CheckpointStrategy},
    grads::Gradients,
    ops::{Backward, Ops},
};
use burn::backend::{Autodiff, Backend, Dispatch, Flex, backend_extension, tensor::FloatTensor};
use burn::tensor::{Tensor, activation};
use burn_flex::FlexTensor;
pub use cpcvae_kernels::batch_norm::EPSILON;
use cpcvae_kernels::batch_norm::{self as kernel, NormShape, Rescale, Statistics};

/// Mean and variance of each channel of `x [rows, height, width, channels]`: `[2, channels]`,
/// without gradient. [`normalise`] includes the gradient that flows through them.
pub fn statistics(x: Tensor<4>) -> Tensor<2> {
    if is_cpu(&x.device()) {
        let x = x.inner();
        return Tensor::from_dispatch(<Dispatch as NormOp>::channel_statistics(x.into_dispatch()));
    }
    let (mean, variance) = composed_statistics(x.detach());
    Tensor::cat(vec![mean, variance], 0).inner()
}

/// `leaky(scale (x - mean) / sqrt(variance + epsilon) + shift)` for `x [rows, height, width,
/// channels]`, `statistics [2, channels]` and `scale`, `shift [channels]`: the same shape as x.
///
/// `of_batch` says that the statistics are those of x: its gradient then flows through them too.
/// `leak` is the rectifier's slope below zero; at 1 there is none.
pub fn normalise(
    compute: &Compute,
    x: Tensor<4>,
    statistics: Tensor<2>,
    of_batch: bool,
    scale: Tensor<1>,
    shift: Tensor<1>,
    leak: f32,
) -> Tensor<4> {
    if is_cpu(&x.device()) {
        Tensor::from_dispatch(<Dispatch as NormOp>::normalise(
            compute.clone(),
            x.into_dispatch(),
            statistics.into_dispatch(),
            scale.into_dispatch(),
            shift.into_dispatch(),
            of_batch,
            leak,
        ))
    } else {
        composed(x, statistics, of_batch, scale, shift, leak)
    }
}

/// The same in plain tensor operations.
pub fn composed(
    x: Tensor<4>,
    statistics: Tensor<2>,
    of_batch: bool,
    scale: Tensor<1>,
    shift: Tensor<1>,
    leak: f32,
) -> Tensor<4> {
    let [_, channels] = statistics.dims();
    let (mean, variance) = if of_batch {
        composed_statistics(x.clone())
    } else {
        let of = |i: usize| statistics.clone().slice([i..i + 1, 0..channels]);
        (of(0), of(1))
    };
    let wide = |of_channel: Tensor<2>| of_channel.reshape([1, 1, 1, channels]);
    let slope = scale.reshape([1, channels]) / variance.add_scalar(EPSILON).sqrt();
    let z = (x - wide(mean)) * wide(slope) + shift.reshape([1, 1, 1, channels]);
    activation::leaky_relu(z, f64::from(leak))
}

/// Mean and variance, `[1, channels]` each.
pub(super) fn composed_statistics(x: Tensor<4>) -> (Tensor<2>, Tensor<2>) {
    let [rows, height, width, channels] = x.dims();
    let pixels = x.reshape([rows * height * width, channels]);
    let mean = pixels.clone().mean_dim(0);
    let variance = (pixels - mean.clone()).square().mean_dim(0);
    (mean, variance)
}

#[backend_extension(Flex, Autodiff)]
pub(crate) trait NormOp: Backend {
    fn channel_statistics(x: FloatTensor<Self>) -> FloatTensor<Self>;
    fn normalise(
        compute: Compute,
        x: FloatTensor<Self>,
        statistics: FloatTensor<Self>,
        scale: FloatTensor<Self>,
        shift: FloatTensor<Self>,
        of_batch: bool,
        leak: f32,
    ) -> FloatTensor<Self>;
}

pub(super) fn shape(x: &FlexTensor) -> NormShape {
    let [rows, height, width, channels] = sizes(x);
    NormShape {
        rows: rows * height * width,
        channels,
    }
}

pub(super) fn as_statistics(both: &FlexTensor) -> Statistics {
    let both = both.to_contiguous();
    let [_, channels] = sizes(&both);
    let (mean, variance) = values(&both).split_at(channels);
    Statistics {
        mean: mean.to_vec(),
        variance: variance.to_vec(),
    }
}

impl NormOp for Flex {
    fn channel_statistics(x: FlexTensor) -> FlexTensor {
        let x = x.to_contiguous();
        let shape = shape(&x);
        let Statistics { mean, variance } = kernel::statistics(&shape, values(&x));
        tensor([mean, variance].concat(), &[2, shape.channels])
    }

    fn normalise(
        compute: Compute,
        x: FlexTensor,
        statistics: FlexTensor,
        scale: FlexTensor,
        shift: FlexTensor,
        _of_batch: bool,
        leak: f32,
    ) -> FlexTensor {
        let (scale, shift) = (scale.to_contiguous(), shift.to_contiguous());
        let x = contiguous(x);
        let y = forward(
            &compute,
            &x,
            &as_statistics(&statistics),
            &scale,
            &shift,
            leak,
        );
        compute.give_back(x);
        y
    }
}

pub(super) fn forward(
    compute: &Compute,
    x: &FlexTensor,
    statistics: &Statistics,
    scale: &FlexTensor,
    shift: &FlexTensor,
    leak: f32,
) -> FlexTensor {
    compute.filled(&sizes::<4>(x), |y| {
        let rescale = rescale(scale, shift, leak);
        kernel::forward(&shape(x), statistics, rescale, values(x), y);
    })
}

fn rescale<'a>(scale: &'a FlexTensor, shift: &'a FlexTensor, leak: f32) -> Rescale<'a> {
    Rescale {
        scale: values(scale),
        shift: values(shift),
        leak,
    }
}

impl<C: CheckpointStrategy> NormOp for Autodiff<Flex, C> {
    fn channel_statistics(x: FloatTensor<Self>) -> FloatTensor<Self> {
        <Self as burn::backend::AutodiffBackend>::from_inner(Flex::channel_statistics(
            x.into_parts().0,
        ))
    }

    fn normalise(
        compute: Compute,
        x: FloatTensor<Self>,
        statistics: FloatTensor<Self>,
        scale: FloatTensor<Self>,
        shift: FloatTensor<Self>,
        of_batch: bool,
        leak: f32,
    ) -> FloatTensor<Self> {
        let ((x, x_node), (scale, scale_node), (shift, shift_node)) =
            (x.into_parts(), scale.into_parts(), shift.into_parts());
        let x = x.to_contiguous();
        let (scale, shift) = (scale.to_contiguous(), shift.to_contiguous());
        let statistics = as_statistics(&statistics.into_parts().0);
        let y = forward(&compute, &x, &statistics, &scale, &shift, leak);
        let state = NormState {
            compute,
            x,
            statistics,
            of_batch,
            scale,
            shift,
            leak,
        };
        record!(NormBackward, C, [x_node, scale_node, shift_node], state, y)
    }
}

#[derive(Debug)]
struct NormBackward;

/// The state for the gradients of a normalisation.
#[derive(Clone, Debug)]
pub(super) struct NormState {
    pub compute: Compute,
    pub x: FlexTensor,
    pub statistics: Statistics,
    pub of_batch: bool,
    pub scale: FlexTensor,
    pub shift: FlexTensor,
    pub leak: f32,
}

impl NormState {
    /// Gradients of x, scale and shift from that of the output. `skip`, if given, is added to that
    /// of x as it is written.
    pub(super) fn gradients(self, gy: FlexTensor, skip: Option<FlexTensor>) -> [FlexTensor; 3] {
        let (compute, shape) = (self.compute, shape(&self.x));
        let (mut g_scale, mut g_shift) = (vec![0.0; shape.channels], vec![0.0; shape.channels]);
        let gx = compute.filled(&sizes::<4>(&self.x), |gx| {
            let rescale = rescale(&self.scale, &self.shift, self.leak);
            let gradients = [gx, &mut g_scale[..], &mut g_shift[..]];
            let statistics = (&self.statistics, self.of_batch);
            let (x, gy, skip) = (values(&self.x), values(&gy), skip.as_ref().map(values));
            kernel::backward(&shape, statistics, rescale, x, gy, skip, gradients);
        });
        for used in skip.into_iter().chain([self.x, gy]) {
            compute.give_back(used);
        }
        let of_channels = |values| tensor(values, &[shape.channels]);
        [gx, of_channels(g_scale), of_channels(g_shift)]
    }
}

impl Backward<Flex, 3> for NormBackward {
    type State = NormState;

    fn backward(self, ops: Ops<Self::State, 3>, grads: &mut Gradients, _: &mut Checkpointer) {
        let gy = grads.consume::<Flex>(&ops.node).to_contiguous();
        let gradients = ops.state.gradients(gy, None);
        for (node, gradient) in ops.parents.into_iter().zip(gradients) {
            if let Some(node) = node {
                grads.register::<Flex>(node.id, gradient);
            }
        }
    }
}
