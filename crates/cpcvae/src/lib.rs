//! Semi-supervised variational autoencoders trained under prediction and consistency constraints.
//!
//! `cpcvae` learns one model from many rows of which few carry a label. The model predicts labels
//! and describes the data: it samples, reconstructs, and scores how usual a row is.
#![forbid(unsafe_code)]

pub mod answers;
pub mod config;
pub mod crossfit;
pub mod describe;
pub mod device;
pub mod distribution;
pub mod error;
pub mod infer;
pub mod method;
pub mod model;
pub mod net;
pub mod noise;
pub mod objective;
pub mod op;
pub mod plan;
pub mod prepare;
pub mod pseudo_label;
pub mod run;
pub mod side_by_side;
pub mod train;

pub use error::{Error, Result};
