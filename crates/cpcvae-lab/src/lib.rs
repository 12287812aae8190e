//! Pictures and tables of the experiments.
//!
//! [`figure`] draws scatter panels, image grids, line charts and confusion matrices as PNG or
//! SVG; [`table`] writes aligned text, Markdown and CSV. Both take plain slices and strings, so
//! that anything can be drawn without a tensor at hand.
#![forbid(unsafe_code)]

pub mod figure;
pub mod table;
