//! The numerical kernels of `cpcvae`: slices in, slices out, no tensor library.
//!
//! Every array is a row-major `f32` slice whose shape is passed along and checked. Results do not
//! depend on the number of threads: work is split by rows or fixed-size chunks, and sums across
//! them run in a fixed order. They may differ in the last bits between instruction sets
//! ([`isa::Isa`]), because only some of them have a fused multiply-add. Matrix products choose
//! their own instructions (the `gemm` crate).
//!
//! Small arrays are processed on the calling thread, larger ones on rayon's current pool.

#[macro_use]
pub mod isa; // first, because the other modules use its macro

pub mod activation;
pub mod adam;
pub mod batch_norm;
pub mod bf16;
pub mod class_rows;
pub mod conv;
pub mod density;
pub mod features;
pub mod gaussian;
pub mod linear;
pub mod math;
pub mod neighbours;
pub mod noise_normal;
pub mod parallel;
pub mod peak;
pub mod product;
pub mod random;
pub mod softmax;
pub mod timing;
pub mod transform;
pub mod workspace;

pub use activation::Activation;
pub use product::Precision;
pub use transform::{MapConstraint, WarpShape};
pub use workspace::Workspace;
