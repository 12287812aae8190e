//! Samples of the paper's Noise-Normal likelihood, over whole images. (Its log-density is in
//! `log_prob.rs`, the composed twin of both here.)
//!
//! Parameter maps are `[rows, 3, pixels]`: the weight rho of the normal part, its mean mu, and
//! its variance sigma^2 (the quantity that the paper interpolates).

use super::Compute;
use super::cpu::{is_cpu, record, sizes, tensor, values};
use burn::backend::autodiff::{
    checkpoint::{base::Checkpointer, strategy::CheckpointStrategy},
    grads::Gradients,
    ops::{Backward, Ops},
};
use burn::backend::{Autodiff, Backend, Dispatch, Flex, backend_extension, tensor::FloatTensor};
use burn::tensor::Tensor;
use burn_flex::FlexTensor;
use cpcvae_kernels::noise_normal as kernel;

/// A sample `[rows, pixels]` from uniform noise `u [rows, pixels]` in [0, 1).
///
/// The gradient with respect to the maps is the implicit reparameterisation gradient,
/// `-(dF/dparameter) / f` with F the distribution function and f the density.
pub fn sample(compute: &Compute, maps: Tensor<3>, u: Tensor<2>) -> Tensor<2> {
    if is_cpu(&maps.device()) {
        Tensor::from_dispatch(<Dispatch as NoiseNormalOp>::noise_normal_sample(
            compute.clone(),
            maps.into_dispatch(),
            u.into_dispatch(),
        ))
    } else {
        composed::sample(maps, u)
    }
}

#[backend_extension(Flex, Autodiff)]
pub(crate) trait NoiseNormalOp: Backend {
    fn noise_normal_sample(
        compute: Compute,
        maps: FloatTensor<Self>,
        u: FloatTensor<Self>,
    ) -> FloatTensor<Self>;
}

impl NoiseNormalOp for Flex {
    fn noise_normal_sample(compute: Compute, maps: FlexTensor, u: FlexTensor) -> FlexTensor {
        let [rows, _, pixels] = sizes(&maps);
        let mut x = compute.take(rows * pixels);
        kernel::sample(
            rows,
            pixels,
            values(&maps.to_contiguous()),
            values(&u.to_contiguous()),
            &mut x,
        );
        tensor(x, &[rows, pixels])
    }
}

impl<C: CheckpointStrategy> NoiseNormalOp for Autodiff<Flex, C> {
    fn noise_normal_sample(
        compute: Compute,
        maps: FloatTensor<Self>,
        u: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        let ((maps, node), (u, _)) = (maps.into_parts(), u.into_parts());
        let maps = maps.to_contiguous();
        let x = Flex::noise_normal_sample(compute.clone(), maps.clone(), u);
        record!(SampleBackward, C, [node], (compute, maps, x.clone()), x)
    }
}

#[derive(Debug)]
struct SampleBackward;

impl Backward<Flex, 1> for SampleBackward {
    /// The maps and the sample drawn from them.
    type State = (Compute, FlexTensor, FlexTensor);

    fn backward(self, ops: Ops<Self::State, 1>, grads: &mut Gradients, _: &mut Checkpointer) {
        let gx = grads.consume::<Flex>(&ops.node).to_contiguous();
        let (compute, maps, x) = ops.state;
        let [rows, channels, pixels] = sizes(&maps);
        let mut gradient = compute.take(rows * channels * pixels);
        kernel::sample_backward(
            rows,
            pixels,
            values(&maps),
            values(&x),
            values(&gx),
            &mut gradient,
        );
        for used in [maps, x, gx] {
            compute.give_back(used);
        }
        let [node] = ops.parents;
        if let Some(node) = node {
            grads.register::<Flex>(node.id, tensor(gradient, &[rows, channels, pixels]));
        }
    }
}

/// The same mathematics in plain tensor operations.
pub mod composed {
    use burn::tensor::Tensor;

    const SQRT_2: f64 = std::f64::consts::SQRT_2;
    const LOG_SQRT_2PI: f64 = 0.918_938_533_204_672_8;

    /// rho, mu, sigma as `[rows, pixels]` each.
    fn parts(maps: Tensor<3>) -> [Tensor<2>; 3] {
        let [rows, _, pixels] = maps.dims();
        std::array::from_fn(|i| {
            let part = maps
                .clone()
                .slice([0..rows, i..i + 1, 0..pixels])
                .reshape([rows, pixels]);
            if i == 2 { part.sqrt() } else { part }
        })
    }

    fn ndtr(x: Tensor<2>) -> Tensor<2> {
        (x / SQRT_2).erf().mul_scalar(0.5).add_scalar(0.5)
    }

    /// Phi(b) - Phi(a) for a <= 0 <= b: with the mean inside [-1, 1] the two halves add up, so
    /// nothing cancels.
    fn interval_mass(mu: &Tensor<2>, sigma: &Tensor<2>) -> Tensor<2> {
        let upper = (mu.clone().neg().add_scalar(1.0) / sigma.clone() / SQRT_2).erf();
        let lower = (mu.clone().add_scalar(1.0) / sigma.clone() / SQRT_2).erf();
        (upper + lower).mul_scalar(0.5)
    }

    fn density_parts(
        [rho, mu, sigma]: &[Tensor<2>; 3],
        x: Tensor<2>,
    ) -> (Tensor<2>, Tensor<2>, Tensor<2>) {
        let standard = (x - mu.clone()) / sigma.clone();
        let mass = interval_mass(mu, sigma);
        let truncated = (standard.clone().square().mul_scalar(-0.5) - LOG_SQRT_2PI).exp()
            / sigma.clone()
            / mass.clone();
        let density = rho.clone() * truncated + rho.clone().neg().add_scalar(1.0).mul_scalar(0.5);
        (density, standard, mass)
    }

    /// The log-density of `x [rows, pixels]`, summed over pixels: `[rows]`.
    pub fn log_prob(maps: Tensor<3>, x: Tensor<2>) -> Tensor<1> {
        let (density, ..) = density_parts(&parts(maps), x);
        let [rows, _] = density.dims();
        density.log().sum_dim(1).reshape([rows])
    }

    /// See [`super::sample`]: drawn without gradient, then the implicit gradient is attached as
    /// `x - (F(x) - stop(F(x))) / stop(f(x))`, whose value is x and whose slope is `-dF/f`.
    pub fn sample(maps: Tensor<3>, u: Tensor<2>) -> Tensor<2> {
        let parameters = parts(maps);
        let fixed: [Tensor<2>; 3] = std::array::from_fn(|i| parameters[i].clone().detach());
        let x = draw(&fixed, u);
        let (density, ..) = density_parts(&fixed, x.clone());
        let cdf = distribution_function(&parameters, x.clone());
        x - (cdf.clone() - cdf.detach()) / density
    }

    /// F(x | rho, mu, sigma).
    pub fn distribution_function(parameters: &[Tensor<2>; 3], x: Tensor<2>) -> Tensor<2> {
        let [rho, mu, sigma] = parameters;
        let below = |x: Tensor<2>| ndtr((x - mu.clone()) / sigma.clone());
        let from_left = below(x.clone()) - below(x.ones_like().neg());
        rho.clone() * from_left / interval_mass(mu, sigma)
            + rho.clone().neg().add_scalar(1.0) * x.add_scalar(1.0).mul_scalar(0.5)
    }

    /// One uniform number decides the part (u < rho) and, rescaled, the position in it.
    fn draw([rho, mu, sigma]: &[Tensor<2>; 3], u: Tensor<2>) -> Tensor<2> {
        let is_normal = u.clone().lower(rho.clone());
        let within_normal = (u.clone() / rho.clone()).clamp(0.0, 1.0);
        let lowest = ndtr(mu.clone().add_scalar(1.0).neg() / sigma.clone());
        let level = lowest + within_normal * interval_mass(mu, sigma);
        let normal = mu.clone() + sigma.clone() * normal_quantile(level);
        let within_uniform = (u - rho.clone()) / rho.clone().neg().add_scalar(1.0);
        let uniform = within_uniform.mul_scalar(2.0).sub_scalar(1.0);
        uniform.mask_where(is_normal, normal).clamp(-1.0, 1.0)
    }

    /// Inverse of Phi: a rational start (Abramowitz and Stegun 26.2.23) and two Newton steps.
    fn normal_quantile(level: Tensor<2>) -> Tensor<2> {
        let level = level.clamp(1e-7, 1.0 - 1e-7);
        let in_lower_half = level.clone().lower_elem(0.5);
        let tail = level
            .clone()
            .neg()
            .add_scalar(1.0)
            .mask_where(in_lower_half.clone(), level.clone());
        let t = tail.log().mul_scalar(-2.0).sqrt();
        let top = (t.clone().mul_scalar(0.010_328).add_scalar(0.802_853) * t.clone())
            .add_scalar(2.515_517);
        let bottom = ((t.clone().mul_scalar(0.001_308).add_scalar(0.189_269) * t.clone())
            .add_scalar(1.432_788)
            * t.clone())
        .add_scalar(1.0);
        let magnitude = t - top / bottom;
        let mut x = magnitude.clone().mask_where(in_lower_half, magnitude.neg());
        for _ in 0..2 {
            let slope = (x.clone().square().mul_scalar(-0.5) - LOG_SQRT_2PI).exp();
            x = x.clone() - (ndtr(x) - level.clone()) / slope;
        }
        x
    }
}
