//! Differentiable operations.
//!
//! Each operation is one file with two versions of the same mathematics: a *fused* one, a kernel
//! of `cpcvae-kernels` with a hand-written gradient that runs on the CPU device, and a *composed*
//! twin in plain tensor operations for every other device. The public function picks one; the
//! tests compare them, values and gradients. Fused operations take their memory, and products their
//! precision, from the [`Compute`] that they are given.

pub mod batch_norm;
mod buffer;
pub mod class_rows;
mod compute;
pub mod constrain;
pub mod conv;
mod cpu;
pub mod gaussian;
pub mod linear;
pub mod log_prob;
pub mod noise_normal;
pub mod residual;
pub mod shown;
pub mod softmax;
pub mod warp;
mod weights;

pub use compute::{Compute, Precision};
pub(crate) use cpu::is_cpu;
