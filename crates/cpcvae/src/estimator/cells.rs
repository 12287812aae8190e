//! The trainings of a fit or a learning curve as cells, which other processes may do.
//!
//! A cell is a run in the folder where the fit or the curve itself would train it, which then finds
//! it finished. So it ends with the same bytes, whoever trained the cells and in whatever order.

use super::Estimator;
use crate::compare::{self, Workplace};
use crate::config::RunConfig;
use crate::crossfit::{CrossFit, Folding};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::method::DataKind;
use crate::prepare::Prepared;
use crate::run::{RunFolder, run};
use crate::train::{StopReason, TrainingInfo, Watch};
use cpcvae_data::{Source, Split};
use std::path::PathBuf;

/// One training of a fit or a learning curve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// What is trained: the method or the number of labels, and the fold; or the model itself.
    pub name: String,
    /// Whether it is finished.
    pub is_done: bool,
}

/// How the training of a cell ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellEnd {
    /// It is finished.
    Trained,
    /// It was finished before, so nothing was trained.
    DoneBefore,
    /// A stop was asked for; the same call resumes.
    Stopped,
}

/// The trainings of a fit or a learning curve in its folder, with numbers from 0.
pub struct Cells {
    source: Source,
    config: RunConfig,
    split: Split,
    device: Device,
    /// The folder of the model, which is the first cell of a fit. A learning curve has none.
    model: Option<RunFolder>,
    /// Settings that are trained in every fold.
    folded: Vec<Folded>,
    /// Whether everything was trained and measured before; folds are removed then.
    is_measured: bool,
}

/// Settings that are trained in every fold, and where.
struct Folded {
    name: String,
    config: RunConfig,
    folding: Folding,
    folder: PathBuf,
}

impl Estimator {
    /// The trainings of a fit: the model, then each fold of the method and of its baselines.
    pub fn fit_cells(&self, data: impl Into<Source>) -> Result<Cells> {
        let this = &self.clone().resumed();
        let source: Source = data.into();
        let folder = RunFolder::at(this.cells_folder()?);
        folder.check_ours()?;
        let config = this.settings(&source.rows)?;
        let rows = &source.rows;
        let folding = this.folding(rows, config.seed);
        let split = match folder.is_started() {
            true => folder.split()?,
            false => Prepared::new(source.clone(), &config, None)?.training.split,
        };
        let mut folded = Vec::new();
        // Too few labels for folds: `fit` says so.
        if this.holds_out(&config, rows) && CrossFit::new(rows, &split, &folding).is_ok() {
            let mut all = vec![config.clone()];
            if this.held_out.compare {
                all.extend(compare::baselines(&config, DataKind::of(&rows.layout))?);
            }
            folded.extend(all.into_iter().map(|config| Folded {
                name: config.method.name().into(),
                folder: compare::folds_folder(folder.path(), &folding).join(config.method.name()),
                folding,
                config,
            }));
        }
        Ok(Cells {
            is_measured: this.measured(Some(&folder), &config, rows)?.is_some(),
            device: this.place()?,
            model: Some(folder),
            source,
            config,
            split,
            folded,
        })
    }

    /// The trainings of a [learning curve](Self::learning_curve): each fold of each number of
    /// labels.
    pub fn curve_cells(&self, data: impl Into<Source>, counts: &[usize]) -> Result<Cells> {
        let source: Source = data.into();
        let folder = self.cells_folder()?;
        let config = self.request.settings_for(&source.rows)?;
        let split = Prepared::new(source.clone(), &config, None)?.training.split;
        let folding = self.curve_folding(&source.rows, config.seed);
        let counts = compare::label_counts(counts, &source.rows, &split, &config, &folding)?;
        let point = |labels| Folded {
            name: compare::point_name(labels),
            config: config.clone(),
            folding: compare::with_labels(&folding, labels),
            folder: compare::point_folder(&folder, &folding, labels),
        };
        Ok(Cells {
            folded: counts.into_iter().map(point).collect(),
            device: self.place()?,
            model: None,
            is_measured: false,
            source,
            config,
            split,
        })
    }

    fn resumed(mut self) -> Self {
        self.resume = true;
        self
    }

    fn cells_folder(&self) -> Result<PathBuf> {
        if self.held_out.budget.is_some() {
            return Err(Error::Mismatch(
                "a budget is divided by the process that trains everything, so cells cannot have \
                 one; set the number of steps (`train.steps`)"
                    .into(),
            ));
        }
        self.folder.clone().ok_or_else(|| {
            Error::Mismatch("cells are trained in a folder, and none is named".into())
        })
    }
}

impl Cells {
    /// All of them.
    pub fn list(&self) -> Result<Vec<Cell>> {
        let model = self.model.iter().map(|folder| Cell {
            name: "model".into(),
            is_done: folder.is_finished(),
        });
        let mut cells: Vec<Cell> = model.collect();
        for folded in &self.folded {
            let fit = self.cross_fit(folded)?;
            for part in 0..fit.parts() {
                let name = fit.name(part);
                let folder = RunFolder::at(folded.folder.join(name));
                // One of other settings is refused when it is trained.
                let is_done = folder.is_finished() && folder.config()? == folded.config;
                cells.push(Cell {
                    name: format!("{} {name}", folded.name),
                    is_done: self.is_measured || is_done,
                });
            }
        }
        Ok(cells)
    }

    fn cross_fit(&self, folded: &Folded) -> Result<CrossFit<'_>> {
        CrossFit::new(&self.source.rows, &self.split, &folded.folding)
    }

    /// Trains one, unless it is finished, and says how it ended.
    pub fn train(&self, number: usize, watch: &dyn Watch) -> Result<CellEnd> {
        let cells = self.list()?;
        let Some(cell) = cells.get(number) else {
            return Err(Error::Mismatch(format!(
                "there is no cell {number}; there are the cells 0 to {}",
                cells.len().saturating_sub(1)
            )));
        };
        if cell.is_done {
            return Ok(CellEnd::DoneBefore);
        }
        let is_whole = match (&self.model, number) {
            (Some(folder), 0) => self.train_model(folder, watch)?,
            (model, number) => self.train_fold(number - model.iter().len(), watch)?,
        };
        Ok(match is_whole {
            true => CellEnd::Trained,
            false => CellEnd::Stopped,
        })
    }

    fn train_model(&self, folder: &RunFolder, watch: &dyn Watch) -> Result<bool> {
        let _lock = folder.claim()?;
        let mut observer = watch.training(&TrainingInfo {
            name: self.config.method.name().into(),
            part: 0,
            parts: 1,
        });
        let source = self.source.clone();
        let run = run(
            &self.config,
            source,
            Some(folder),
            &self.device,
            observer.as_mut(),
        )?;
        Ok(run.report.fit.stop != StopReason::Interrupted)
    }

    fn train_fold(&self, number: usize, watch: &dyn Watch) -> Result<bool> {
        // As many for all settings.
        let parts = self.cross_fit(&self.folded[0])?.parts();
        let folded = &self.folded[number / parts];
        let fit = self.cross_fit(folded)?;
        let place = Workplace {
            device: &self.device,
            folder: None,
            watch,
        };
        let (part, folder) = (number % parts, folded.folder.as_path());
        let answered =
            place.hold_out_part(&fit, part, &folded.config, &folded.name, Some(folder))?;
        Ok(answered.is_some())
    }
}
