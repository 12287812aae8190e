//! A layer for every class: `act(x + v_k)` for each row of x and each class k. The layers before x
//! do not depend on the class and are computed once.

use super::Compute;
use super::cpu::{is_cpu, record, sizes, tensor, values};
use super::linear::{Activation, activate};
use burn::backend::autodiff::{
    checkpoint::{base::Checkpointer, strategy::CheckpointStrategy},
    grads::Gradients,
    ops::{Backward, Ops},
};
use burn::backend::{Autodiff, Backend, Dispatch, Flex, backend_extension, tensor::FloatTensor};
use burn::tensor::Tensor;
use burn_flex::FlexTensor;
use cpcvae_kernels::class_rows::{self as kernel, ClassShape};

/// `x [rows, 1 or classes, units]`, `v [classes, units]` to `[rows, classes, units]`.
pub fn class_rows(compute: &Compute, x: Tensor<3>, v: Tensor<2>, act: Activation) -> Tensor<3> {
    if is_cpu(&x.device()) {
        Tensor::from_dispatch(<Dispatch as ClassRowsOp>::class_rows(
            compute.clone(),
            x.into_dispatch(),
            v.into_dispatch(),
            act,
        ))
    } else {
        composed(x, v, act)
    }
}

/// The same in plain tensor operations.
pub fn composed(x: Tensor<3>, v: Tensor<2>, act: Activation) -> Tensor<3> {
    activate(x + v.unsqueeze::<3>(), act)
}

#[backend_extension(Flex, Autodiff)]
pub(crate) trait ClassRowsOp: Backend {
    fn class_rows(
        compute: Compute,
        x: FloatTensor<Self>,
        v: FloatTensor<Self>,
        act: Activation,
    ) -> FloatTensor<Self>;
}

fn shape(x: &FlexTensor, v: &FlexTensor) -> ClassShape {
    let ([rows, given, units], [classes, _]) = (sizes(x), sizes(v));
    ClassShape {
        rows,
        classes,
        units,
        shared: given == 1,
    }
}

impl ClassRowsOp for Flex {
    fn class_rows(compute: Compute, x: FlexTensor, v: FlexTensor, act: Activation) -> FlexTensor {
        let (x, v) = (x.to_contiguous(), v.to_contiguous());
        let shape = shape(&x, &v);
        compute.filled(&[shape.rows, shape.classes, shape.units], |y| {
            kernel::forward(shape, values(&x), values(&v), act, y);
        })
    }
}

impl<C: CheckpointStrategy> ClassRowsOp for Autodiff<Flex, C> {
    fn class_rows(
        compute: Compute,
        x: FloatTensor<Self>,
        v: FloatTensor<Self>,
        act: Activation,
    ) -> FloatTensor<Self> {
        let ((x, x_node), (v, v_node)) = (x.into_parts(), v.into_parts());
        let shape = shape(&x, &v);
        let y = Flex::class_rows(compute.clone(), x, v, act);
        record!(
            ClassRowsBackward,
            C,
            [x_node, v_node],
            (compute, shape, act, y.clone()),
            y
        )
    }
}

#[derive(Debug)]
struct ClassRowsBackward;

impl Backward<Flex, 2> for ClassRowsBackward {
    /// Sizes, activation, output: the slope of each activation is a function of its output.
    type State = (Compute, ClassShape, Activation, FlexTensor);

    fn backward(self, ops: Ops<Self::State, 2>, grads: &mut Gradients, _: &mut Checkpointer) {
        let gy = grads.consume::<Flex>(&ops.node).to_contiguous();
        let (compute, shape, act, y) = ops.state;
        let given = if shape.shared { 1 } else { shape.classes };
        let mut gv = vec![0.0; shape.classes * shape.units];
        let gx = compute.filled(&[shape.rows, given, shape.units], |gx| {
            kernel::backward(shape, act, values(&y), values(&gy), gx, &mut gv);
        });
        compute.give_back(y);
        compute.give_back(gy);
        let [x_node, v_node] = ops.parents;
        if let Some(node) = x_node {
            grads.register::<Flex>(node.id, gx);
        }
        if let Some(node) = v_node {
            grads.register::<Flex>(node.id, tensor(gv, &[shape.classes, shape.units]));
        }
    }
}
