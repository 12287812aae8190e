//! One file per command: each is one function that gets parsed values and a printer.

mod cells;
mod cluster;
mod compare;
pub(crate) mod completions;
pub(crate) mod data;
mod data_export;
pub(crate) mod demo;
pub(crate) mod devices;
pub(crate) mod encode;
pub(crate) mod evaluate;
pub(crate) mod experiment;
pub(crate) mod export;
pub(crate) mod fit;
pub(crate) mod impute;
pub(crate) mod learning_curve;
pub(crate) mod methods;
pub(crate) mod predict;
pub(crate) mod quality;
pub(crate) mod reconstruct;
pub(crate) mod sample;
pub(crate) mod score;
pub(crate) mod suggest;
pub(crate) mod tune;
