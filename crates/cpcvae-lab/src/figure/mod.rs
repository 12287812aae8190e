//! Figures: every function here draws one and writes it to a `.png` or `.svg` path.
//!
//! A figure is laid out once on a canvas as a list of shapes (including text, as outlines of the
//! embedded font), which is then either rasterised or written as SVG: both look the same on every
//! machine. Files are written atomically.

mod axis;
mod bars;
mod canvas;
mod confusion;
mod grid;
mod heat;
mod legend;
mod line_chart;
mod margin;
mod palette;
mod parallel;
mod raster;
mod save;
mod scatter;
mod scatter_view;
mod search_history;
mod text;
mod vector;

use std::path::PathBuf;

pub use bars::bars;
pub use confusion::confusion_matrix;
pub use grid::{Grid, image_grid};
pub use heat::{HeatMap, heat_map};
pub use line_chart::{Series, line_chart};
pub use parallel::{ParallelAxis, ParallelLine, parallel_coordinates};
pub use scatter::{Regions, ScatterPanel, scatter_panels, scatter_panels_with_legend};
pub use search_history::{TrialMark, search_history};

/// Why a figure could not be made.
#[derive(Debug, thiserror::Error)]
pub enum FigureError {
    /// The path ends in neither `.png` nor `.svg`.
    #[error("cannot tell the format of the figure {}: its name must end in .png or .svg", path.display())]
    UnknownFormat {
        /// The path asked for.
        path: PathBuf,
    },
    /// The contents are inconsistent.
    #[error("cannot draw the figure {}: {reason}", path.display())]
    Invalid {
        /// The path asked for.
        path: PathBuf,
        /// What is wrong, and where.
        reason: String,
    },
    /// The file could not be written.
    #[error("cannot write the figure {}", path.display())]
    Write {
        /// The path asked for.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
}

/// The result of drawing a figure.
pub type Result<T> = std::result::Result<T, FigureError>;

/// A layout error contains only the reason; [`save::save`] adds the path.
type Layout = std::result::Result<canvas::Canvas, String>;
