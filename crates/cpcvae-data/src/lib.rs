//! Data for `cpcvae`: readers, generators, splits and batches.
//!
//! This crate knows files and arrays, and nothing of models. A data set goes
//! through it in one direction: a reader or generator gives a [`Source`], a
//! [`SplitPlan`] says which rows train, validate and test, a [`BatchPlan`]
//! lays the rows of every step out, and [`Prefetch`] hands over ready batches.
//!
//! ```
//! use cpcvae_data::{BatchPlan, HalfMoon, Prefetch};
//! use std::sync::Arc;
//!
//! let source = HalfMoon::default().generate()?;
//! let split = source.split.expect("half-moon says which rows are labelled");
//! let plan = BatchPlan::new(split.labelled, split.unlabelled, 50, 50, 7)?;
//! let batch = Prefetch::start(Arc::new(source.rows), plan, 0)?.next().expect("batches never end");
//! assert_eq!((batch.labelled, batch.unlabelled, batch.features.len()), (50, 50, 200));
//! # Ok::<(), cpcvae_data::DataError>(())
//! ```
#![forbid(unsafe_code)]

mod atomic_file;
mod batch;
pub mod catalog;
mod compressed;
mod csv_labels;
mod csv_table;
mod dataset;
mod error;
#[cfg(feature = "fetch")]
pub mod fetch;
mod folds;
mod glyph_strokes;
mod glyphs;
mod half_moon;
mod idx;
mod labels;
mod mnist;
mod prefetch;
mod random;
mod raw_table;
mod source;
mod split;
mod split_plan;
mod standardise;
mod text_table;

pub use batch::{Batch, BatchPlan, StepRows};
pub use csv_table::{CsvOptions, Task, read_csv, read_csv_features};
pub use dataset::{Dataset, Layout, Matrix};
pub use error::{DataError, Result};
#[cfg(feature = "fetch")]
pub use fetch::fetch_mnist;
pub use folds::{Folds, choose_labels};
pub use glyphs::glyphs;
pub use half_moon::{HalfMoon, HalfMoonLabels};
pub use idx::{Idx, read_idx, write_idx};
pub use labels::Labels;
pub use mnist::{open_idx, open_mnist};
pub use prefetch::Prefetch;
pub use raw_table::{Cells, RawColumn, RawTable};
pub use source::Source;
pub use split::Split;
pub use split_plan::{Holdout, SplitPlan};
pub use standardise::Standardizer;
pub use text_table::read_csv_texts;
