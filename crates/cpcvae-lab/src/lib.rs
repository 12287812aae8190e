//! Pictures and tables of the experiments.
//!
//! [`figure`] draws scatter panels, image grids, line charts and confusion matrices as PNG or
//! SVG; [`table`] writes aligned text, Markdown and CSV. Both take plain slices and strings, so
//! that anything can be drawn without a tensor at hand. [`experiment`] is the plan of an
//! experiment, its results file and its tables; [`harness`] trains its cells and draws its figures.
//! [`pictures`] is what a model shows, [`search_figures`] what a search for settings was like.
#![forbid(unsafe_code)]

pub mod experiment;
pub mod figure;
pub mod harness;
pub mod pictures;
pub mod search_figures;
pub mod table;
