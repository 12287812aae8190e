//! CPU tensors as slices and back, for the fused operations.

pub(crate) use crate::device::is_cpu;
use burn::backend::{DType, TensorMetadata};
use burn::tensor::{Bytes, Shape};
use burn_flex::{FlexTensor, Layout};

/// The values of a contiguous tensor of `f32`.
pub(super) fn values(tensor: &FlexTensor) -> &[f32] {
    tensor
        .as_slice::<f32>()
        .expect("fused operations make their arguments contiguous f32 first")
}

/// A tensor that owns these values.
pub(super) fn tensor(values: Vec<f32>, shape: &[usize]) -> FlexTensor {
    FlexTensor::new(
        Bytes::from_elems(values),
        Layout::contiguous(Shape::from(shape.to_vec())),
        DType::F32,
    )
}

/// The same tensor, contiguous, without a second handle on its memory.
pub(super) fn contiguous(tensor: FlexTensor) -> FlexTensor {
    tensor.to_contiguous()
}

/// The sizes of a tensor.
pub(super) fn sizes<const D: usize>(tensor: &FlexTensor) -> [usize; D] {
    std::array::from_fn(|axis| tensor.shape()[axis])
}

/// Writes the fused version of an operation with one output for the tape: forward on plain tensors,
/// and a backward step that gets the state kept by the forward and the output gradient.
macro_rules! record {
    ($backward:ident, $strategy:ty, [$($node:expr),+], $state:expr, $output:expr) => {
        match $backward.prepare::<$strategy>([$($node),+]).compute_bound().stateful() {
            burn::backend::autodiff::ops::OpsKind::Tracked(tracked) => tracked.finish($state, $output),
            burn::backend::autodiff::ops::OpsKind::UnTracked(untracked) => untracked.finish($output),
        }
    };
}
pub(super) use record;
