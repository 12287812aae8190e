//! Data for `cpcvae`: readers, generators, splits and batches.
//!
//! This crate knows files and arrays, and nothing of models. Data passes through it in one
//! direction: a reader or generator gives a [`Source`], a [`SplitPlan`] says which rows train,
//! validate and test, a [`BatchPlan`] chooses the rows of every step, and [`Prefetch`] gathers the
//! batches ahead of time.
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
// One line of unsafe code, which maps a file into memory: see `mapped.rs`.
#![deny(unsafe_code)]

mod atomic_file;
mod batch;
mod built_in;
pub mod catalog;
mod celeba;
mod cell;
mod column;
mod column_guess;
mod column_kinds;
mod column_sizes;
mod column_values;
mod compressed;
mod contrast;
mod count_test;
mod data_name;
mod dataset;
mod error;
mod features;
#[cfg(feature = "fetch")]
pub mod fetch;
mod folds;
mod glyph_strokes;
mod glyphs;
mod half_moon;
mod idx;
mod image_planes;
mod image_set;
mod in_memory;
mod label_cells;
mod labels;
mod layout;
mod mapped;
mod matrix;
mod memory;
mod mnist;
mod norb;
mod offset;
mod packed;
mod packed_texts;
mod parallel;
#[cfg(feature = "parquet")]
mod parquet_writer;
mod png;
mod prefetch;
mod random;
mod raw_table;
pub mod reader;
mod remedy;
mod role_guess;
mod settings;
mod shift;
mod source;
mod split;
mod split_plan;
mod standardise;
mod stretch;
mod svhn;
mod table;
mod table_roles;
mod table_values;
mod time;
mod user_file;

pub use atomic_file::{create_folder, sync_name, write_atomically, write_through};
pub use batch::{Batch, BatchPlan, StepRows};
pub use built_in::{BuiltIn, GLYPH_ROWS, GLYPH_TEST_ROWS};
pub use celeba::open_celeba;
pub use cell::{CellKind, MissingValues};
pub use column::{Column, ColumnKind, KindName};
pub use contrast::Grey;
pub use data_name::{DataName, Label};
pub use dataset::{Dataset, Ids};
pub use error::{DataError, Result};
pub use features::{Features, MEMORY_BUDGET, Rows};
#[cfg(feature = "fetch")]
pub use fetch::{fetch_mnist, fetch_svhn};
pub use folds::{Folds, choose_labels};
pub use glyphs::glyphs;
pub use half_moon::{HalfMoon, HalfMoonLabels};
pub use idx::{Idx, read_idx, write_idx};
pub use image_set::ImageSet;
pub use labels::Labels;
pub use layout::Layout;
pub use mapped::{Bytes, ExternalBytes, SharedBytes};
pub use matrix::Matrix;
pub use memory::{machine_memory, most_memory};
pub use mnist::{open_idx, open_mnist};
pub use norb::open_norb;
pub use packed::{NumberKind, PackedNumbers};
pub use packed_texts::PackedTexts;
#[cfg(feature = "parquet")]
pub use parquet_writer::ParquetWriter;
pub use png::png;
pub use prefetch::Prefetch;
pub use raw_table::{Cells, RawColumn, RawTable};
pub use reader::{FileKind, Opened, ReadOptions, holds_images, name_of, open_path, read_csv};
pub use remedy::DataRemedy;
pub use settings::{DataConfig, TaskSetting};
pub use source::Source;
pub use split::Split;
pub use split_plan::{Holdout, SplitPlan};
pub use standardise::Standardizer;
pub use svhn::open_svhn;
pub use table::{ChosenTask, ColumnReport, Table, TableOptions, Task};
pub use time::TimeUnit;
pub use user_file::UserFile;
