//! `cpcvae predict`: a full answer for every row.

use crate::args::PredictArgs;
use crate::opened::{Model, WantedLabels};
use crate::output::{cells, check_out, write_table};
use crate::parts;
use crate::passthrough::Passthrough;
use crate::printer::{Printer, percent};
use anyhow::Result;
use cpcvae::calibration::Calibration;
use cpcvae::infer::calibrate::at_temperature;
use cpcvae::infer::conformal::{Conformity, class_set};
use cpcvae::model::Target;
use cpcvae::prepare::Preprocess;
use cpcvae_data::{CellKind, Matrix};
use std::process::ExitCode;

/// Predicts and writes one line a row.
pub fn run(args: &PredictArgs, printer: Printer) -> Result<ExitCode> {
    check_out(args.out.as_deref(), &args.rows.data)?;
    let model = Model::open(&args.model)?;
    let asked = model.rows(&args.rows, WantedLabels::None)?;
    let passthrough = Passthrough::of(&asked, &args.passthrough)?;
    let rows = model.prepare(&asked.data)?;
    let card = &model.trained.card;
    if args.samples > 0 && !card.shape.kind.predicts_from_draws() {
        printer.note(format!(
            "note: `{}` predicts from the features, not from a code, so --samples has no effect",
            card.method
        ));
    }
    let answers = model.answers()?.unwrap_or_else(Calibration::unknown);
    if answers.held_out.is_none() {
        printer.note(
            "note: this run held no labels out, so probabilities are not calibrated and there \
             are no sets or intervals (`cpcvae fit` with `--folds N` holds labels out)",
        );
    }
    let told = Told::new(&card.shape.target, &answers, args, printer);
    let typical = answers.typical.as_ref().filter(|_| !args.no_density);
    // The row's number, then names that came with it.
    let mut columns: Vec<(String, CellKind)> = Vec::new();
    for name in passthrough.header() {
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
        let log_p = match typical {
            Some(_) => model
                .trained
                .log_densities(&part.inference, &part.features)?,
            None => Vec::new(),
        };
        let line = |row| {
            let mut line = passthrough.line(part.first + row);
            line.extend(told.cells(outputs.row(row)));
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

/// What is told of a prediction.
enum Told<'a> {
    /// The most probable class, calibrated probabilities, and the conformal set, where there is a
    /// threshold for it (none where every class is in it).
    Classes {
        names: &'a [String],
        temperature: f64,
        threshold: Option<Option<f32>>,
    },
    /// Each continuous label, with the ends of its conformal interval where its reach is known.
    Values(Vec<(&'a String, Option<f32>)>),
}

impl<'a> Told<'a> {
    fn new(
        target: &'a Target,
        answers: &Calibration,
        args: &PredictArgs,
        printer: Printer,
    ) -> Self {
        let of_classes = |scores| threshold(scores, args, "sets hold every class", printer);
        let of_values = |scores| {
            let reach = threshold(scores, args, "intervals are endless", printer);
            reach.unwrap_or(f32::INFINITY)
        };
        match target {
            Target::Classes(names) => Self::Classes {
                names,
                temperature: answers.temperature,
                threshold: (!answers.class_scores.is_empty())
                    .then(|| of_classes(&answers.class_scores)),
            },
            Target::Values(names) => {
                let reach = |label| answers.label_scores.get(label).map(of_values);
                let reaches = names.iter().enumerate();
                Self::Values(reaches.map(|(label, name)| (name, reach(label))).collect())
            }
            Target::Nothing => Self::Values(Vec::new()),
        }
    }

    fn columns(&self) -> Vec<(String, CellKind)> {
        match self {
            Self::Classes {
                names, threshold, ..
            } => {
                let first = std::iter::once(("label".to_string(), CellKind::Text));
                let names = names.iter();
                let names = names.map(|name| (format!("p_{name}"), CellKind::Number));
                let set = threshold.map(|_| ("set".to_string(), CellKind::Text));
                first.chain(names).chain(set).collect()
            }
            Self::Values(labels) => labels
                .iter()
                .flat_map(|(name, reach)| {
                    let ends = reach.map(|_| [format!("{name}_low"), format!("{name}_high")]);
                    std::iter::once(name.to_string()).chain(ends.into_iter().flatten())
                })
                .map(|name| (name, CellKind::Number))
                .collect(),
        }
    }

    /// What the model predicts, calibrated and in the user's units.
    fn outputs(&self, preprocess: &Preprocess, mut outputs: Matrix) -> Matrix {
        match self {
            Self::Values(_) => preprocess.invert_labels(outputs),
            Self::Classes {
                names, temperature, ..
            } => {
                at_temperature(&mut outputs.values, names.len(), *temperature);
                outputs
            }
        }
    }

    /// The cells of a row with these outputs.
    fn cells(&self, outputs: &[f32]) -> Vec<String> {
        match self {
            Self::Classes {
                names, threshold, ..
            } => {
                let label = names[cpcvae::infer::largest(outputs)].clone();
                let set = threshold.map(|threshold| {
                    let classes = class_set(outputs, threshold).into_iter();
                    let names: Vec<&str> = classes.map(|class| &names[class][..]).collect();
                    names.join("|")
                });
                let first = std::iter::once(label);
                first.chain(cells(outputs)).chain(set).collect()
            }
            Self::Values(labels) => outputs
                .iter()
                .zip(labels)
                .flat_map(|(&value, (_, reach))| {
                    let ends = reach.map(|reach| [value - reach, value + reach]);
                    std::iter::once(value).chain(ends.into_iter().flatten())
                })
                .map(|value| value.to_string())
                .collect(),
        }
    }
}

/// The score that the coverage asks for, and a note where there are too few rows for it.
fn threshold(
    scores: &Conformity,
    args: &PredictArgs,
    consequence: &str,
    printer: Printer,
) -> Option<f32> {
    let threshold = scores.threshold(args.coverage);
    if threshold.is_none() {
        printer.note(format!(
            "note: {} held-out labels can vouch for a coverage of {} at most, not of {}, so \
             {consequence}; ask for less with --coverage",
            scores.len(),
            percent(scores.largest_coverage()),
            percent(args.coverage)
        ));
    }
    threshold
}
