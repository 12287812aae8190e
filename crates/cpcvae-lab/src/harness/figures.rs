//! The figures of an experiment, from its rows and the models that were kept.

use super::job::{Bench, Job};
use super::{code_map, curve, heat, regions};
use crate::experiment::{CellKey, CodesOf, Drawing, FigurePlan, Plan, Record, Row, slug};
use crate::figure::{Grid, image_grid};
use crate::pictures::{reconstructions, samples};
use anyhow::{Context, Result};
use cpcvae::infer::{CodeSource, Reconstruction};
use cpcvae::run::Trained;
use cpcvae::train::Watch;
use cpcvae_data::{Dataset, Source, Split};
use std::path::{Path, PathBuf};

/// The context of figures.
pub(super) struct FigureContext<'a> {
    /// All cells.
    pub jobs: &'a [Job],
    /// Where they were trained.
    pub bench: &'a Bench,
    /// The prefix of file names.
    pub stem: &'a Path,
    /// Receives remarks.
    pub watch: &'a dyn Watch,
}

/// A row's model of the first draw, with its data.
pub(super) struct ShownModel<'a> {
    /// Identifies the cell.
    pub key: CellKey,
    /// Its numbers.
    pub record: &'a Record,
    /// The model.
    pub trained: Trained,
    /// Its data.
    pub source: Source,
    /// Numbers of its labelled rows.
    pub labelled: Vec<u32>,
}

/// Draws every figure of the plan that has data.
pub(crate) fn draw_all(
    plan: &Plan,
    rows: &[Row<'_>],
    context: &FigureContext<'_>,
) -> Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for figure in &plan.figures {
        let shown: Vec<&Row<'_>> = rows
            .iter()
            .filter(|row| figure.only.has(&row.key) && !row.records.is_empty())
            .collect();
        let lost = match figure.draw.needs_models() {
            true => context.lost(&shown),
            false => 0,
        };
        // A complete figure is not overwritten by one with fewer panels.
        let files = context.paths(&figure.name);
        if lost > 0 && files.iter().all(|path| path.exists()) {
            context.watch.note(&format!(
                "figure `{}` is left as it was: {lost} of its {} models are not there; \
                 `retrain` trains them again",
                figure.name,
                shown.len()
            ));
            paths.extend(files);
            continue;
        }
        let drawn = draw(figure, &shown, context)
            .with_context(|| format!("the figure `{}` cannot be drawn", figure.name))?;
        if drawn.is_empty() {
            let name = &figure.name;
            context
                .watch
                .note(&format!("figure `{name}`: nothing to show yet"));
        }
        paths.extend(drawn);
    }
    Ok(paths)
}

fn draw(
    figure: &FigurePlan,
    rows: &[&Row<'_>],
    context: &FigureContext<'_>,
) -> Result<Vec<PathBuf>> {
    match &figure.draw {
        Drawing::Regions { rows: axes } => regions::draw(figure, axes, rows, context),
        Drawing::CodeMap { rows: axes } => code_map::draw(figure, axes, rows, context),
        // A column for each class.
        Drawing::SampleGrid { codes } => {
            let codes = match codes {
                CodesOf::Prior => CodeSource::Prior,
                CodesOf::Fitted => CodeSource::Fitted,
            };
            grids(figure, rows, context, |shown_model| {
                samples(&shown_model.trained, codes)
            })
        }
        Drawing::Reconstructions {} => grids(figure, rows, context, reconstruction_grid),
        Drawing::Aligned {} => grids(figure, rows, context, aligned_grid),
        Drawing::Training {} => curve::draw_training(figure, rows, context),
        Drawing::Curve { .. } => curve::draw(figure, rows, context),
        Drawing::Heat { .. } => heat::draw(figure, rows, context),
    }
}

/// A grid of images for each model, each in a file of its own.
fn grids(
    figure: &FigurePlan,
    rows: &[&Row<'_>],
    context: &FigureContext<'_>,
    grid: impl Fn(&ShownModel<'_>) -> Result<Grid>,
) -> Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for shown_model in context.shown_models(figure, rows)? {
        let grid = grid(&shown_model)?;
        let name = shown_model.file_name(figure, rows);
        paths.extend(context.save(&name, |path| Ok(image_grid(&grid, path)?))?);
    }
    Ok(paths)
}

/// Originals, draws of the likelihood, and such draws with transforms from the prior, as in the
/// paper's figure of the consistency cost.
fn reconstruction_grid(shown_model: &ShownModel<'_>) -> Result<Grid> {
    let mut kinds = vec![("sampled", Reconstruction::Sampled)];
    if shown_model.trained.card.shape.transform.is_some() {
        kinds.push(("sampled, moved", Reconstruction::Transformed));
    }
    reconstructions(&shown_model.trained, shown_model.test()?, &kinds)
}

/// Originals, their reconstructions, and these with aligned transforms, as in the paper's figure of
/// house numbers.
fn aligned_grid(shown_model: &ShownModel<'_>) -> Result<Grid> {
    let mut kinds = vec![("reconstruction", Reconstruction::Mean)];
    if shown_model.trained.card.shape.transform.is_some() {
        kinds.push(("aligned", Reconstruction::Aligned));
    }
    reconstructions(&shown_model.trained, shown_model.test()?, &kinds)
}

impl FigureContext<'_> {
    /// The models of rows; a missing one is left out with a remark.
    pub(crate) fn shown_models<'r>(
        &self,
        figure: &FigurePlan,
        rows: &[&Row<'r>],
    ) -> Result<Vec<ShownModel<'r>>> {
        let mut shown_models = Vec::new();
        for row in rows {
            let Some(record) = shown_record(row) else {
                continue;
            };
            match self.job(record) {
                Some(job) => shown_models.push(self.open(job, record)?),
                None => self.watch.note(&format!(
                    "figure `{}`: the model of {} is not there; `retrain` trains it again",
                    figure.name, record.key
                )),
            }
        }
        Ok(shown_models)
    }

    /// How many of the models of rows are missing.
    fn lost(&self, rows: &[&Row<'_>]) -> usize {
        let records = rows.iter().filter_map(|row| shown_record(row));
        records.filter(|record| self.job(record).is_none()).count()
    }

    /// The cell of a record, if its model exists.
    fn job(&self, record: &Record) -> Option<&Job> {
        let mut jobs = self.jobs.iter();
        let job = jobs.find(|job| job.key == record.key && job.hash == record.hash);
        job.filter(|job| job.has_model(&self.bench.runs))
    }

    fn open<'r>(&self, job: &Job, record: &'r Record) -> Result<ShownModel<'r>> {
        let folder = job.folder(&self.bench.runs);
        let split = Split::load(folder.path().join("split.json"))?;
        Ok(ShownModel {
            key: job.key.clone(),
            record,
            trained: Trained::open(&folder, &self.bench.device, job.config.seed)?,
            source: job.open(self.bench)?,
            labelled: split.labelled,
        })
    }

    /// Draws a figure as PNG and SVG.
    pub(super) fn save(
        &self,
        name: &str,
        draw: impl Fn(&Path) -> Result<()>,
    ) -> Result<Vec<PathBuf>> {
        let paths = self.paths(name);
        for path in &paths {
            draw(path)?;
        }
        Ok(paths.to_vec())
    }

    /// The files of a figure.
    fn paths(&self, name: &str) -> [PathBuf; 2] {
        let stem = self.stem.display();
        ["png", "svg"].map(|extension| PathBuf::from(format!("{stem}-{name}.{extension}")))
    }
}

/// The first draw of a row.
fn shown_record<'r>(row: &Row<'r>) -> Option<&'r Record> {
    let mut records = row.records.iter();
    records.find(|record| record.key.draw == 0).copied()
}

impl ShownModel<'_> {
    /// The test rows.
    pub(super) fn test(&self) -> Result<&Dataset> {
        let test = self.source.test.as_ref();
        test.context("the data set has no test rows to show")
    }

    /// The figure's name, followed by the cell's if the figure has several files.
    fn file_name(&self, figure: &FigurePlan, rows: &[&Row<'_>]) -> String {
        file_name(figure, &self.key, rows)
    }
}

/// The figure's name, followed by the row's if it has several files.
pub(super) fn file_name(figure: &FigurePlan, key: &CellKey, rows: &[&Row<'_>]) -> String {
    let name = &figure.name;
    let of_method = rows.iter().filter(|row| row.key.method == key.method);
    match (rows.len(), of_method.count()) {
        (1, _) => name.clone(),
        (_, 1) => format!("{name}-{}", slug(&key.method)),
        _ => format!("{name}-{}", key.slug()),
    }
}
