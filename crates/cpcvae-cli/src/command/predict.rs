//! `cpcvae predict`: a full answer for every row.

use crate::args::PredictArgs;
use crate::carried::Carried;
use crate::opened::{Model, WantedLabels};
use crate::output::{cells, check_out, write_table};
use crate::parts::{self, Part};
use crate::printer::{Printer, percent};
use anyhow::Result;
use cpcvae::answers::Answers;
use cpcvae::infer::calibrate::at_temperature;
use cpcvae::infer::conformal::FoldScores;
use cpcvae::model::Target;
use cpcvae::prepare::Preprocess;
use cpcvae::run::Trained;
use cpcvae_data::{CellKind, Dataset, Features, Matrix, Rows};
use std::process::ExitCode;

/// Predicts and writes one line a row.
pub fn run(args: &PredictArgs, printer: Printer) -> Result<ExitCode> {
    check_out(args.out.as_deref(), &args.rows.data)?;
    let model = Model::open(&args.model)?;
    let asked = model.rows(&args.rows, WantedLabels::None)?;
    let carried = Carried::of(&asked, &args.carried)?;
    let rows = model.prepare(&asked.data)?;
    let card = &model.trained.card;
    if args.samples > 0 && !card.shape.kind.predicts_from_draws() {
        printer.note(format!(
            "note: `{}` predicts from the features, not from a code, so --samples has no effect",
            card.method
        ));
    }
    let answers = model.answers()?.unwrap_or_else(Answers::unknown);
    if answers.held_out.is_none() {
        printer.note(
            "note: this run held no labels out, so probabilities are not calibrated and there \
             are no sets or intervals (`cpcvae fit` with `--folds N` holds labels out)",
        );
    }
    let told = Told::new(&card.shape.target, &answers, args.coverage);
    told.note_too_few(printer);
    let folds = Folds::of(&model, &asked.data, &answers, printer)?;
    let typical = answers.typical.as_ref().filter(|_| !args.no_density);
    // The row's number, then names that came with it.
    let mut columns: Vec<(String, CellKind)> = Vec::new();
    for name in carried.header() {
        let kind = match columns.is_empty() {
            true => CellKind::Number,
            false => CellKind::Text,
        };
        columns.push((name, kind));
    }
    columns.extend(told.columns());
    if typical.is_some() {
        columns.extend(["log_p", "percentile"].map(|name| (name.into(), CellKind::Number)));
    }
    let lines = parts::lines(&model.trained.inference, &rows.features, |part| {
        let outputs = part
            .inference
            .predict(&part.features, args.samples as usize)?;
        let outputs = told.outputs(&card.preprocess, outputs);
        let by_folds = folds.outputs(&told, &part, args.samples as usize)?;
        let log_p = match typical {
            Some(_) => model
                .trained
                .log_densities(&part.inference, &part.features)?,
            None => Vec::new(),
        };
        let line = |row| {
            let mut line = carried.line(part.first + row);
            // Without the folds' models, the kept one answers for each of them.
            let by_folds: Vec<&[f32]> = match by_folds.is_empty() {
                true => vec![outputs.row(row); told.folds()],
                false => by_folds.iter().map(|fold| fold.row(row)).collect(),
            };
            line.extend(told.cells(outputs.row(row), &by_folds));
            if let Some(typical) = typical {
                line.extend(cells(&[log_p[row], typical.percentile(log_p[row])]));
            }
            line
        };
        Ok((0..outputs.rows).map(line).collect())
    });
    write_table(args.out.as_deref(), &columns, lines, printer)?;
    Ok(ExitCode::SUCCESS)
}

/// The models that held labels out, with the rows as each of them sees them.
struct Folds(Vec<(Trained, Features)>);

impl Folds {
    fn of(model: &Model, rows: &Dataset, answers: &Answers, printer: Printer) -> Result<Self> {
        let models = model.fold_models(answers)?;
        if models.is_empty() && answers.held_out.is_some() {
            printer.note(
                "note: the models that held labels out (the folder `crossfit` of the run) are not \
                 there any more; sets and intervals are made without them and tend to be a little \
                 too large",
            );
        }
        let prepared = models.into_iter().map(|fold| {
            let rows = fold.card.preprocess.apply(rows.clone())?;
            Ok((fold, rows.features))
        });
        Ok(Self(prepared.collect::<cpcvae::Result<_>>()?))
    }

    /// What each of them predicts for a part of the rows.
    fn outputs(&self, told: &Told<'_>, part: &Part, samples: usize) -> Result<Vec<Matrix>> {
        let rows = part.first..part.first + part.features.rows;
        let predicted = self.0.iter().map(|(fold, features)| {
            let inference = fold.inference.at_chunk(part.chunk);
            let outputs = inference.predict(&features.part(rows.clone()), samples)?;
            Ok(told.outputs(&fold.card.preprocess, outputs))
        });
        predicted.collect()
    }
}

/// What is told of a prediction.
struct Told<'a> {
    target: &'a Target,
    answers: &'a Answers,
    coverage: f64,
}

impl<'a> Told<'a> {
    fn new(target: &'a Target, answers: &'a Answers, coverage: f64) -> Self {
        Self {
            target,
            answers,
            coverage,
        }
    }

    /// The scores that sets or intervals are made from.
    fn scores(&self) -> impl Iterator<Item = &'a FoldScores> {
        let (of_classes, of_values) = match self.target {
            Target::Classes(_) => (Some(&self.answers.class_scores), &[][..]),
            _ => (None, &self.answers.label_scores[..]),
        };
        let all = of_classes.into_iter().chain(of_values);
        all.filter(|scores| !scores.is_empty())
    }

    /// How many models held labels out.
    fn folds(&self) -> usize {
        self.scores().next().map_or(0, FoldScores::folds)
    }

    /// Says where too few rows were held out for the coverage.
    fn note_too_few(&self, printer: Printer) {
        let consequence = match self.target {
            Target::Classes(_) => "sets hold every class",
            _ => "intervals are endless",
        };
        for scores in self.scores() {
            if self.coverage > scores.largest_coverage() {
                printer.note(format!(
                    "note: {} held-out labels can vouch for a coverage of {} at most, not of {}, so \
                     {consequence}; ask for less with --coverage",
                    scores.len(),
                    percent(scores.largest_coverage()),
                    percent(self.coverage)
                ));
            }
        }
    }

    fn columns(&self) -> Vec<(String, CellKind)> {
        let has_scores = self.scores().next().is_some();
        match self.target {
            Target::Classes(names) => {
                let first = std::iter::once(("label".to_string(), CellKind::Text));
                let names = names.iter();
                let names = names.map(|name| (format!("p_{name}"), CellKind::Number));
                let set = has_scores.then(|| ("set".to_string(), CellKind::Text));
                first.chain(names).chain(set).collect()
            }
            Target::Values(labels) => labels
                .iter()
                .flat_map(|name| {
                    let ends = has_scores.then(|| [format!("{name}_low"), format!("{name}_high")]);
                    std::iter::once(name.clone()).chain(ends.into_iter().flatten())
                })
                .map(|name| (name, CellKind::Number))
                .collect(),
            Target::Nothing => Vec::new(),
        }
    }

    /// What a model predicts, calibrated and in the user's units.
    fn outputs(&self, preprocess: &Preprocess, mut outputs: Matrix) -> Matrix {
        match self.target {
            Target::Classes(names) => {
                let temperature = self.answers.temperature;
                at_temperature(&mut outputs.values, names.len(), temperature);
                outputs
            }
            _ => preprocess.invert_labels(outputs),
        }
    }

    /// The cells of a row with these outputs, and these by the models of the folds.
    fn cells(&self, outputs: &[f32], by_folds: &[&[f32]]) -> Vec<String> {
        let coverage = self.coverage;
        match self.target {
            Target::Classes(names) => {
                let label = names[cpcvae::infer::largest(outputs)].clone();
                let set = self.scores().map(|scores| {
                    let classes = scores.class_set(by_folds, coverage).into_iter();
                    let names: Vec<&str> = classes.map(|class| &names[class][..]).collect();
                    names.join("|")
                });
                let first = std::iter::once(label);
                first.chain(cells(outputs)).chain(set).collect()
            }
            _ => {
                let intervals = self.scores().enumerate().map(|(label, scores)| {
                    let values: Vec<f32> = by_folds.iter().map(|fold| fold[label]).collect();
                    let (low, high) = scores.interval(&values, coverage);
                    [low, high]
                });
                let mut intervals = intervals.fuse();
                let with_ends = outputs.iter().flat_map(|value| {
                    let ends = intervals.next();
                    std::iter::once(*value).chain(ends.into_iter().flatten())
                });
                with_ends.map(|value| value.to_string()).collect()
            }
        }
    }
}
