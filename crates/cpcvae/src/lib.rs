//! Semi-supervised variational autoencoders trained under prediction and consistency constraints.
//!
//! `cpcvae` learns one model from many rows of which few carry a label. The model predicts labels
//! and describes the data: it samples, reconstructs, and estimates log p(x) of a row.
//!
//! Start with [`prelude`] and [`estimator`]: a builder for each method ([`prelude::Cpc`] is the
//! default), [`prelude::Fit::fit`], and the fitted model [`prelude::Fitted`].
//!
//! | module | for |
//! |---|---|
//! | [`estimator`] | fitting, predicting, saving and loading |
//! | [`compare`], [`calibration`], [`describe`] | evaluation of a model: held-out accuracy and verdict, calibration, quality |
//! | [`config`], [`method`] | settings, their defaults, the table of methods |
//! | [`train`] | observers of a training |
//! | [`tune`] | searching settings |
//! | [`infer`], [`run`], [`device`] | results of inference, run folders, devices |
//! | [`export`], [`tensorboard`] | a model as an ONNX file, a training for TensorBoard |
//!
//! Modules that are not listed are parts of the implementation. They are public for the tests and
//! benchmarks of this repository, hidden from these pages, and may change at any time.
#![forbid(unsafe_code)]

pub mod calibration;
pub mod compare;
pub mod config;
#[doc(hidden)]
pub mod crossfit;
pub mod describe;
pub mod device;
#[doc(hidden)]
pub mod distribution;
pub mod ensemble;
pub mod error;
pub mod estimator;
pub mod export;
pub mod infer;
pub mod method;
#[doc(hidden)]
pub mod model;
#[doc(hidden)]
pub mod nearest;
pub mod net;
#[doc(hidden)]
pub mod noise;
#[doc(hidden)]
pub mod objective;
#[doc(hidden)]
pub mod op;
#[doc(hidden)]
pub mod parallel_runs;
#[doc(hidden)]
pub mod plan;
pub mod prelude;
#[doc(hidden)]
pub mod prepare;
mod probabilities;
#[doc(hidden)]
pub mod pseudo_label;
mod range;
#[doc(hidden)]
pub mod regressors;
#[doc(hidden)]
pub mod report;
pub mod run;
pub mod tensorboard;
pub mod train;
pub mod tune;

pub use error::{Error, Remedy, Result};
