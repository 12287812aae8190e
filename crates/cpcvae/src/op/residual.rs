//! A residual block with an identity skip connection, as one operation.
//!
//! The gradient of the block's output is also a part of that of its input. As one operation, the
//! block adds it while the first normalisation writes the gradient of the input. With separate
//! operations, the tape would add the two in an extra single-threaded pass, and free memory that
//! the next step needs.

use super::Compute;
use super::batch_norm::{self, NormOp, NormState, as_statistics};
use super::conv::{self, ConvState, Way};
use super::cpu::{contiguous, is_cpu, record};
use burn::backend::autodiff::{
    checkpoint::{base::Checkpointer, strategy::CheckpointStrategy},
    grads::Gradients,
    ops::{Backward, Ops},
};
use burn::backend::{
    Autodiff, AutodiffBackend, Backend, Dispatch, Flex, backend_extension, tensor::FloatTensor,
};
use burn::tensor::Tensor;
use burn_flex::FlexTensor;

/// A normalisation with its rectifier, and the convolution after it.
#[derive(Clone, Debug)]
pub struct BlockHalf {
    /// Of the normalisation, `[channels]`.
    pub scale: Tensor<1>,
    /// Of the normalisation, `[channels]`.
    pub shift: Tensor<1>,
    /// Of the convolution, `[kernel, kernel, channels, channels]`.
    pub weight: Tensor<4>,
}

/// `x + conv(norm(conv(norm(x))))` for `x [rows, height, width, channels]`, each half normalised by
/// the statistics of its batch, with a rectifier of slope `leak` below zero after each
/// normalisation: the same shape as x. Also returns the statistics of both halves, `[2, channels]`
/// each, on a device without autodiff. For training: x is on a device with autodiff.
pub fn residual(
    compute: &Compute,
    x: Tensor<4>,
    halves: [BlockHalf; 2],
    leak: f32,
    way: Way,
) -> (Tensor<4>, [Tensor<2>; 2]) {
    if !is_cpu(&x.device()) {
        return composed(x, halves, leak, way);
    }
    let [first, second] = halves;
    let (y, first, second) = <Dispatch as ResidualOp>::residual(
        compute.clone(),
        x.into_dispatch(),
        first.scale.into_dispatch(),
        first.shift.into_dispatch(),
        first.weight.into_dispatch(),
        second.scale.into_dispatch(),
        second.shift.into_dispatch(),
        second.weight.into_dispatch(),
        leak,
        way,
    );
    let statistics = [first, second].map(|of_half| Tensor::from_dispatch(of_half).inner());
    (Tensor::from_dispatch(y), statistics)
}

/// The same in plain tensor operations.
pub fn composed(
    x: Tensor<4>,
    halves: [BlockHalf; 2],
    leak: f32,
    way: Way,
) -> (Tensor<4>, [Tensor<2>; 2]) {
    let mut y = x.clone();
    let statistics = halves.map(|half| {
        let (mean, variance) = batch_norm::composed_statistics(y.clone().detach());
        let statistics = Tensor::cat(vec![mean, variance], 0).inner();
        let (scale, shift) = (half.scale, half.shift);
        let normalised =
            batch_norm::composed(y.clone(), statistics.clone(), true, scale, shift, leak);
        y = conv::composed(normalised, half.weight, 1, way);
        statistics
    });
    (y + x, statistics)
}

#[backend_extension(Flex, Autodiff)]
pub(crate) trait ResidualOp: Backend {
    #[allow(clippy::too_many_arguments)]
    fn residual(
        compute: Compute,
        x: FloatTensor<Self>,
        first_scale: FloatTensor<Self>,
        first_shift: FloatTensor<Self>,
        first_weight: FloatTensor<Self>,
        second_scale: FloatTensor<Self>,
        second_shift: FloatTensor<Self>,
        second_weight: FloatTensor<Self>,
        leak: f32,
        way: Way,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>);
}

/// One half: its output, with `skip` added if given, its statistics, and the state for its
/// gradients.
fn half(
    compute: &Compute,
    x: FlexTensor,
    [scale, shift, weight]: [FlexTensor; 3],
    leak: f32,
    way: Way,
    skip: Option<&FlexTensor>,
) -> (FlexTensor, FlexTensor, HalfState) {
    let [scale, shift, weight] = [scale, shift, weight].map(contiguous);
    let both = Flex::channel_statistics(x.clone());
    let statistics = as_statistics(&both);
    let active = batch_norm::forward(compute, &x, &statistics, &scale, &shift, leak);
    let y = conv::forward(compute, &active, &weight, (1, way), skip);
    let norm = NormState {
        compute: compute.clone(),
        x,
        statistics,
        of_batch: true,
        scale,
        shift,
        leak,
    };
    let conv = ConvState {
        compute: compute.clone(),
        x: active,
        weight,
        stride: 1,
        way,
    };
    (y, both, HalfState { norm, conv })
}

impl ResidualOp for Flex {
    fn residual(
        compute: Compute,
        x: FlexTensor,
        first_scale: FlexTensor,
        first_shift: FlexTensor,
        first_weight: FlexTensor,
        second_scale: FlexTensor,
        second_shift: FlexTensor,
        second_weight: FlexTensor,
        leak: f32,
        way: Way,
    ) -> (FlexTensor, FlexTensor, FlexTensor) {
        let x = contiguous(x);
        let of_first = [first_scale, first_shift, first_weight];
        let (inner, first, _) = half(&compute, x.clone(), of_first, leak, way, None);
        let of_second = [second_scale, second_shift, second_weight];
        let (y, second, _) = half(&compute, inner, of_second, leak, way, Some(&x));
        (y, first, second)
    }
}

impl<C: CheckpointStrategy> ResidualOp for Autodiff<Flex, C> {
    fn residual(
        compute: Compute,
        x: FloatTensor<Self>,
        first_scale: FloatTensor<Self>,
        first_shift: FloatTensor<Self>,
        first_weight: FloatTensor<Self>,
        second_scale: FloatTensor<Self>,
        second_shift: FloatTensor<Self>,
        second_weight: FloatTensor<Self>,
        leak: f32,
        way: Way,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        let (x, x_node) = x.into_parts();
        let [(a, node_a), (b, node_b), (c, node_c)] =
            [first_scale, first_shift, first_weight].map(|tensor| tensor.into_parts());
        let [(d, node_d), (e, node_e), (f, node_f)] =
            [second_scale, second_shift, second_weight].map(|tensor| tensor.into_parts());
        let x = contiguous(x);
        let (inner, first, first_state) = half(&compute, x.clone(), [a, b, c], leak, way, None);
        let (y, second, second_state) = half(&compute, inner, [d, e, f], leak, way, Some(&x));
        drop(x);
        let y = record!(
            ResidualBackward,
            C,
            [x_node, node_a, node_b, node_c, node_d, node_e, node_f],
            [first_state, second_state],
            y
        );
        let [first, second] = [first, second].map(<Self as AutodiffBackend>::from_inner);
        (y, first, second)
    }
}

#[derive(Clone, Debug)]
struct HalfState {
    norm: NormState,
    conv: ConvState,
}

impl HalfState {
    /// Gradients of input, scale, shift and, if needed, the weights.
    fn gradients(
        self,
        gy: FlexTensor,
        skip: Option<FlexTensor>,
        wants_weight: bool,
    ) -> [Option<FlexTensor>; 4] {
        let [g_active, g_weight] = self.conv.gradients(gy, [true, wants_weight]);
        let g_active = g_active.expect("it was asked for");
        let [gx, g_scale, g_shift] = self.norm.gradients(g_active, skip).map(Some);
        [gx, g_scale, g_shift, g_weight]
    }
}

#[derive(Debug)]
struct ResidualBackward;

impl Backward<Flex, 7> for ResidualBackward {
    type State = [HalfState; 2];

    fn backward(self, ops: Ops<Self::State, 7>, grads: &mut Gradients, _: &mut Checkpointer) {
        let gy = grads.consume::<Flex>(&ops.node).to_contiguous();
        let [first, second] = ops.state;
        let wants = ops.parents.each_ref().map(Option::is_some);
        let [g_inner, d, e, f] = second.gradients(gy.clone(), None, wants[6]);
        let g_inner = g_inner.expect("it always has one");
        // The skip connection has the gradient of the output.
        let [gx, a, b, c] = first.gradients(g_inner, Some(gy), wants[3]);
        for (node, gradient) in ops.parents.into_iter().zip([gx, a, b, c, d, e, f]) {
            if let (Some(node), Some(gradient)) = (node, gradient) {
                grads.register::<Flex>(node.id, gradient);
            }
        }
    }
}
