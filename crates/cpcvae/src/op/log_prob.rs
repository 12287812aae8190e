//! Log-densities of rows of features under the decoder's distribution.

use super::Compute;
use super::buffer::into_values;
use super::cpu::{is_cpu, record, sizes, tensor, values};
use super::noise_normal;
use burn::backend::autodiff::{
    checkpoint::{base::Checkpointer, strategy::CheckpointStrategy},
    grads::Gradients,
    ops::{Backward, Ops},
};
use burn::backend::{Autodiff, Backend, Dispatch, Flex, backend_extension, tensor::FloatTensor};
use burn::tensor::{Tensor, activation};
use burn_flex::FlexTensor;
use cpcvae_kernels::density::{self as kernel, DensityShape};

pub use cpcvae_kernels::density::Density;

/// Log-density of `x` under `maps [rows, maps, features]`, summed over features: `[rows]`.
///
/// `x` is `[rows, features]`; with fewer rows, each is used for several consecutive rows of
/// parameters. Differentiable in the maps. Where a gradient with respect to `x` is needed too, the
/// composed twin is used.
pub fn log_prob(compute: &Compute, density: Density, maps: Tensor<3>, x: Tensor<2>) -> Tensor<1> {
    if is_cpu(&maps.device()) && !x.is_tracked() {
        Tensor::from_dispatch(<Dispatch as LogProbOp>::log_prob(
            compute.clone(),
            density,
            maps.into_dispatch(),
            x.into_dispatch(),
        ))
    } else {
        composed(density, maps, x)
    }
}

/// The same in plain tensor operations.
pub fn composed(density: Density, maps: Tensor<3>, x: Tensor<2>) -> Tensor<1> {
    let ([rows, _, features], [given, _]) = (maps.dims(), x.dims());
    let x = x
        .reshape([given, 1, features])
        .repeat_dim(1, rows / given.max(1))
        .reshape([rows, features]);
    let map = |i: usize| {
        maps.clone()
            .slice([0..rows, i..i + 1, 0..features])
            .reshape([rows, features])
    };
    let terms = match density {
        Density::NoiseNormal => return noise_normal::composed::log_prob(maps, x),
        Density::Normal => {
            let (mean, variance) = (map(0), map(1));
            let distance = (x - mean).square() / variance.clone();
            (distance + variance.log().add_scalar(LN_2PI)).mul_scalar(-0.5)
        }
        // x l - log(1 + e^l), safe for large |l|.
        Density::Bernoulli => x * map(0) - activation::softplus(map(0), 1.0),
    };
    terms.sum_dim(1).reshape([rows])
}

const LN_2PI: f64 = 1.837_877_066_409_345_5;

#[backend_extension(Flex, Autodiff)]
pub(crate) trait LogProbOp: Backend {
    fn log_prob(
        compute: Compute,
        density: Density,
        maps: FloatTensor<Self>,
        x: FloatTensor<Self>,
    ) -> FloatTensor<Self>;
}

fn shape(maps: &FlexTensor, x: &FlexTensor) -> DensityShape {
    let ([rows, _, features], [given, _]) = (sizes(maps), sizes(x));
    DensityShape {
        rows,
        features,
        repeat: (rows / given.max(1)).max(1),
    }
}

impl LogProbOp for Flex {
    fn log_prob(_: Compute, density: Density, maps: FlexTensor, x: FlexTensor) -> FlexTensor {
        let (maps, x) = (maps.to_contiguous(), x.to_contiguous());
        let shape = shape(&maps, &x);
        let mut out = vec![0.0; shape.rows];
        kernel::log_prob(shape, density, values(&maps), values(&x), &mut out);
        tensor(out, &[shape.rows])
    }
}

impl<C: CheckpointStrategy> LogProbOp for Autodiff<Flex, C> {
    fn log_prob(
        compute: Compute,
        density: Density,
        maps: FloatTensor<Self>,
        x: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        let ((maps, node), (x, _)) = (maps.into_parts(), x.into_parts());
        let (maps, x) = (maps.to_contiguous(), x.to_contiguous());
        let shape = shape(&maps, &x);
        let mut out = vec![0.0; shape.rows];
        let slopes = compute.filled(&sizes::<3>(&maps), |slopes| {
            let (maps, x) = (values(&maps), values(&x));
            kernel::log_prob_with_gradient(shape, density, maps, x, &mut out, slopes);
        });
        record!(
            LogProbBackward,
            C,
            [node],
            slopes,
            tensor(out, &[shape.rows])
        )
    }
}

#[derive(Debug)]
struct LogProbBackward;

impl Backward<Flex, 1> for LogProbBackward {
    /// The slopes of each row's log-density with respect to its maps.
    type State = FlexTensor;

    fn backward(self, ops: Ops<Self::State, 1>, grads: &mut Gradients, _: &mut Checkpointer) {
        let row_gradient = grads.consume::<Flex>(&ops.node).to_contiguous();
        let shape: [usize; 3] = sizes(&ops.state);
        let mut gradient = into_values(ops.state);
        kernel::scale_rows(values(&row_gradient), &mut gradient);
        let [node] = ops.parents;
        if let Some(node) = node {
            grads.register::<Flex>(node.id, tensor(gradient, &shape));
        }
    }
}
