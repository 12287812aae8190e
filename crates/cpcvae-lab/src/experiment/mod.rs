//! Experiments: a plan in TOML, its cells, and what was measured in them.
//!
//! A [`Plan`] names data, label counts, code sizes, draws and methods. [`cells`] lists what has
//! to be trained: one cell for each setting, label count, code size, method and draw. Whoever
//! runs a cell writes a [`Record`] to the [`ResultsFile`]; [`rows`] and [`entries`] turn the
//! records into the numbers of a table, and [`time_left`] says how long the rest will take.

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
    /// The plan says something that cannot be done.
    #[error("{file}: {problem}")]
    Plan {
        /// Where the plan is from.
        file: String,
        /// What is wrong, at which key, and what to do.
        problem: String,
    },
    /// A results file that is not one.
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
        /// What the system said.
        source: std::io::Error,
    },
}

/// The result of anything here.
pub type Result<T> = std::result::Result<T, ExperimentError>;
