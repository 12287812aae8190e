//! Training: the loop, the optimiser, schedules, constraint solvers, checkpoints.

mod adam;
mod checkpoint;
mod checkpoints;
mod codes_file;
mod fit;
mod initial_model;
mod metrics;
mod multiplier;
mod observer;
mod parameters;
mod plan;
mod pseudo_labels;
mod report;
mod schedule;
mod solve;
mod step;
mod tensor_file;
mod tracking;
mod validate;
mod watch;

pub use adam::Adam;
pub use fit::{FitOutcome, fit};
pub use initial_model::DecoderStart;
pub(crate) use initial_model::evenly;
pub use multiplier::{Constraint, ConstraintMeasure, ConstraintReport, Solver};
pub use observer::{EvaluationReport, Observer, Silent, StepReport};
pub use parameters::{ModulePath, Parameters};
pub use plan::TrainPlan;
pub use report::{FitReport, StopReason, TrainingData};
pub use schedule::{Schedule, ScheduleState};
pub use tensor_file::TensorFile;
pub use watch::{TrainingInfo, Watch};
