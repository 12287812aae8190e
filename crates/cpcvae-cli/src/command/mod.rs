//! One file per command: each is one function that gets parsed values and a printer.

mod cluster;
mod compare;
pub mod completions;
pub mod data;
mod data_export;
pub mod demo;
pub mod devices;
pub mod encode;
pub mod evaluate;
pub mod experiment;
pub mod export;
pub mod fit;
pub mod impute;
pub mod learning_curve;
pub mod methods;
pub mod predict;
pub mod quality;
pub mod reconstruct;
pub mod sample;
pub mod score;
pub mod suggest;
pub mod tune;
