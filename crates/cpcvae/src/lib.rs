//! Semi-supervised variational autoencoders trained under prediction and consistency constraints.
//!
//! `cpcvae` learns one model from many rows of which few carry a label. The model predicts labels
//! and describes the data: it samples, reconstructs, and scores how usual a row is.
#![forbid(unsafe_code)]

pub mod calibration;
pub mod compare;
pub mod config;
pub mod crossfit;
pub mod describe;
pub mod device;
pub mod distribution;
pub mod ensemble;
pub mod error;
pub mod estimator;
pub mod infer;
pub mod method;
pub mod model;
pub mod net;
pub mod noise;
pub mod objective;
pub mod op;
pub mod parallel_runs;
pub mod plan;
pub mod prelude;
pub mod prepare;
mod probabilities;
pub mod pseudo_label;
mod range;
pub mod run;
pub mod train;

pub use error::{Error, Remedy, Result};
