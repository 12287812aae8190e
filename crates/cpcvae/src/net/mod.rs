//! Networks: layers with parameters, and the maps that have none.

mod linear;
mod mlp;
pub mod spatial_transformer;

pub use linear::Linear;
pub use mlp::{Mlp, MlpShape};
