//! Experiments: a plan in TOML, its cells, and their results.
//!
//! A [`Plan`] names data, label counts, code sizes, draws and methods. [`cells`] lists the
//! trainings: one cell for each setting, label count, code size, method and draw. A finished cell
//! is written to the [`ResultsFile`] as a [`Record`]; [`rows`] and [`entries`] turn the records
//! into the numbers of a table, and [`time_left`] estimates the time for the rest.

mod cells;
mod check;
mod entries;
mod metric;
mod paper;
mod plan;
mod quick;
pub mod report;
mod results;
mod time_left;

pub use cells::{Cell, CellKey, Layer, cells, slug};
pub use entries::{Entry, Row, entries, rows};
pub use metric::{Metric, Metrics};
pub use paper::{PaperValue, PaperValues};
pub use plan::{
    Axis, CodesOf, Drawing, FigurePlan, MethodPlan, Plan, PresetName, QuickPlan, ReportPlan,
    Selection, SettingPlan,
};

pub use results::{Record, ResultsFile, settings_hash};
pub use time_left::{in_words, time_left};

/// Why an experiment could not be read or recorded.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    /// An invalid plan.
    #[error("{file}: {problem}")]
    Plan {
        /// The plan's file.
        file: String,
        /// What is wrong, at which key, and what to do.
        problem: String,
    },
    /// An invalid results file.
    #[error("{file}, line {line}: {problem}; move the file away to start afresh")]
    Results {
        /// The file.
        file: String,
        /// Counted from 1.
        line: usize,
        /// What is wrong.
        problem: String,
    },
    /// A file that cannot be read or written.
    #[error("{file}: {source}")]
    File {
        /// The file.
        file: String,
        /// The system's error.
        source: std::io::Error,
    },
}

/// The result type of this module.
pub type Result<T> = std::result::Result<T, ExperimentError>;
