//! Log-softmax and cross-entropy.

use super::cpu::{is_cpu, record, sizes, tensor, values};
use burn::backend::autodiff::{
    checkpoint::{base::Checkpointer, strategy::CheckpointStrategy},
    grads::Gradients,
    ops::{Backward, Ops},
};
use burn::backend::{Autodiff, Backend, Dispatch, Flex, backend_extension, tensor::FloatTensor};
use burn::tensor::{Tensor, activation};
use burn_flex::FlexTensor;
use cpcvae_kernels::softmax as kernel;

/// `log softmax(logits)` over the classes; both `[rows, classes]`.
pub fn log_softmax(logits: Tensor<2>) -> Tensor<2> {
    if is_cpu(&logits.device()) {
        let logits = logits.into_dispatch();
        Tensor::from_dispatch(<Dispatch as SoftmaxOp>::class_log_softmax(logits))
    } else {
        composed::log_softmax(logits)
    }
}

/// `-sum_k target_k log_probs_k`: `[rows]` from two `[rows, classes]`, differentiable in both.
pub fn cross_entropy(target: Tensor<2>, log_probs: Tensor<2>) -> Tensor<1> {
    if is_cpu(&target.device()) {
        Tensor::from_dispatch(<Dispatch as SoftmaxOp>::class_cross_entropy(
            target.into_dispatch(),
            log_probs.into_dispatch(),
        ))
    } else {
        composed::cross_entropy(target, log_probs)
    }
}

/// The same in plain tensor operations.
pub mod composed {
    use super::{Tensor, activation};

    /// See [`super::log_softmax`].
    pub fn log_softmax(logits: Tensor<2>) -> Tensor<2> {
        activation::log_softmax(logits, 1)
    }

    /// See [`super::cross_entropy`].
    pub fn cross_entropy(target: Tensor<2>, log_probs: Tensor<2>) -> Tensor<1> {
        let [rows, _] = target.dims();
        (target * log_probs).sum_dim(1).neg().reshape([rows])
    }
}

#[backend_extension(Flex, Autodiff)]
pub(crate) trait SoftmaxOp: Backend {
    fn class_log_softmax(logits: FloatTensor<Self>) -> FloatTensor<Self>;
    fn class_cross_entropy(
        target: FloatTensor<Self>,
        log_probs: FloatTensor<Self>,
    ) -> FloatTensor<Self>;
}

impl SoftmaxOp for Flex {
    fn class_log_softmax(logits: FlexTensor) -> FlexTensor {
        let logits = logits.to_contiguous();
        let [rows, classes] = sizes(&logits);
        let mut out = vec![0.0; rows * classes];
        kernel::log_softmax(classes, values(&logits), &mut out);
        tensor(out, &[rows, classes])
    }

    fn class_cross_entropy(target: FlexTensor, log_probs: FlexTensor) -> FlexTensor {
        let (target, log_probs) = (target.to_contiguous(), log_probs.to_contiguous());
        let [rows, classes] = sizes(&target);
        let mut out = vec![0.0; rows];
        kernel::cross_entropy(classes, values(&target), values(&log_probs), &mut out);
        tensor(out, &[rows])
    }
}

impl<C: CheckpointStrategy> SoftmaxOp for Autodiff<Flex, C> {
    fn class_log_softmax(logits: FloatTensor<Self>) -> FloatTensor<Self> {
        let (logits, node) = logits.into_parts();
        let out = Flex::class_log_softmax(logits);
        record!(LogSoftmaxBackward, C, [node], out.clone(), out)
    }

    fn class_cross_entropy(
        target: FloatTensor<Self>,
        log_probs: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        let ((target, target_node), (log_probs, node)) =
            (target.into_parts(), log_probs.into_parts());
        let (target, log_probs) = (target.to_contiguous(), log_probs.to_contiguous());
        let out = Flex::class_cross_entropy(target.clone(), log_probs.clone());
        record!(
            CrossEntropyBackward,
            C,
            [target_node, node],
            (target, log_probs),
            out
        )
    }
}

#[derive(Debug)]
struct LogSoftmaxBackward;

impl Backward<Flex, 1> for LogSoftmaxBackward {
    /// The log-probabilities.
    type State = FlexTensor;

    fn backward(self, ops: Ops<Self::State, 1>, grads: &mut Gradients, _: &mut Checkpointer) {
        let g = grads.consume::<Flex>(&ops.node).to_contiguous();
        let [rows, classes] = sizes(&g);
        let mut g_logits = vec![0.0; rows * classes];
        kernel::log_softmax_backward(classes, values(&ops.state), values(&g), &mut g_logits);
        let [node] = ops.parents;
        if let Some(node) = node {
            grads.register::<Flex>(node.id, tensor(g_logits, &[rows, classes]));
        }
    }
}

#[derive(Debug)]
struct CrossEntropyBackward;

impl Backward<Flex, 2> for CrossEntropyBackward {
    /// Targets and log-probabilities.
    type State = (FlexTensor, FlexTensor);

    fn backward(self, ops: Ops<Self::State, 2>, grads: &mut Gradients, _: &mut Checkpointer) {
        let g = grads.consume::<Flex>(&ops.node).to_contiguous();
        let (target, log_probs) = ops.state;
        let [rows, classes] = sizes(&target);
        // Each factor's gradient is the other factor.
        for (node, other) in ops.parents.into_iter().zip([log_probs, target]) {
            if let Some(node) = node {
                let mut gradient = vec![0.0; rows * classes];
                kernel::cross_entropy_backward(classes, values(&g), values(&other), &mut gradient);
                grads.register::<Flex>(node.id, tensor(gradient, &[rows, classes]));
            }
        }
    }
}
