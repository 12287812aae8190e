//! Figures and tables of experiments.
//!
//! [`figure`] draws scatter panels, image grids, line charts and confusion matrices as PNG or SVG;
//! [`table`] writes aligned text, Markdown and CSV. Both take plain slices and strings, without
//! tensors. [`experiment`] has the plan of an experiment, its results file and its tables;
//! [`harness`] trains its cells and draws its figures. [`pictures`] visualises a model,
//! [`search_figures`] a hyperparameter search.
#![forbid(unsafe_code)]

pub mod experiment;
pub mod figure;
pub mod harness;
pub mod pictures;
pub mod search_figures;
pub mod table;
