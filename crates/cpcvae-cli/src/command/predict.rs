//! `cpcvae predict`: a full answer for every row.

use crate::args::PredictArgs;
use crate::carried::Carried;
use crate::opened::{Model, WantedLabels};
use crate::output::{cells, write_csv};
use crate::printer::{Printer, percent};
use anyhow::Result;
use cpcvae::answers::{Answers, log_densities};
use cpcvae::infer::calibrate::at_temperature;
use cpcvae::infer::conformal::{Conformity, class_set};
use cpcvae::model::Target;
use cpcvae_data::Matrix;
use std::process::ExitCode;

/// Columns of the output, each with one cell a row.
type Columns = Vec<(String, Vec<String>)>;

/// Predicts and writes one line a row.
pub fn run(args: &PredictArgs, printer: Printer) -> Result<ExitCode> {
    let model = Model::open(&args.model)?;
    let asked = model.rows(&args.rows, WantedLabels::None)?;
    let carried = Carried::of(&asked, &args.carried)?;
    let rows = model.prepare(&asked.data)?;
    let shape = &model.trained.card.shape;
    if args.samples > 0 && !shape.kind.predicts_from_draws() {
        printer.note(format!(
            "note: `{}` predicts from the features, not from a code, so --samples has no effect",
            model.trained.card.method
        ));
    }
    let outputs = model
        .trained
        .inference
        .predict(&rows.features, args.samples as usize)?;
    let answers = model.answers()?.unwrap_or_else(Answers::unknown);
    if answers.held_out.is_none() {
        printer.note(
            "note: this run held no labels out, so probabilities are not calibrated and there \
             are no sets or intervals (`cpcvae fit` with `--folds N` holds labels out)",
        );
    }
    let mut columns = match &shape.target {
        Target::Classes(names) => of_classes(args, names, outputs, &answers, printer),
        Target::Values(names) => {
            let values = model.trained.card.preprocess.invert_labels(outputs);
            of_values(args, names, &values, &answers, printer)
        }
        Target::Nothing => unreachable!("predict refuses models that predict nothing"),
    };
    if let (Some(typical), false) = (&answers.typical, args.no_density) {
        let log_p = log_densities(&model.trained, asked.data)?;
        let percentiles: Vec<f32> = log_p
            .iter()
            .map(|log_p| typical.percentile(*log_p))
            .collect();
        columns.push(("log_p".into(), cells(&log_p).collect()));
        columns.push(("percentile".into(), cells(&percentiles).collect()));
    }
    let mut header = carried.header();
    header.extend(columns.iter().map(|(name, _)| name.clone()));
    let lines = (0..rows.len()).map(|row| {
        let mut line = carried.line(row);
        line.extend(columns.iter().map(|(_, cells)| cells[row].clone()));
        line
    });
    write_csv(args.out.as_deref(), &header, lines, printer)?;
    Ok(ExitCode::SUCCESS)
}

/// The most probable class, calibrated probabilities, and the conformal set.
fn of_classes(
    args: &PredictArgs,
    names: &[String],
    mut probabilities: Matrix,
    answers: &Answers,
    printer: Printer,
) -> Columns {
    let width = names.len();
    at_temperature(&mut probabilities.values, width, answers.temperature);
    let rows = || (0..probabilities.rows).map(|row| probabilities.row(row));
    let label = |row: &[f32]| names[cpcvae::infer::largest(row)].clone();
    let mut columns = vec![("label".into(), rows().map(label).collect())];
    for (class, name) in names.iter().enumerate() {
        let cells = rows().map(|row| row[class].to_string()).collect();
        columns.push((format!("p_{name}"), cells));
    }
    if !answers.class_scores.is_empty() {
        let threshold = threshold(
            &answers.class_scores,
            args,
            "sets hold every class",
            printer,
        );
        let set = |row: &[f32]| {
            let classes = class_set(row, threshold).into_iter();
            classes
                .map(|class| names[class].as_str())
                .collect::<Vec<_>>()
                .join("|")
        };
        columns.push(("set".into(), rows().map(set).collect()));
    }
    columns
}

/// Each continuous label with the ends of its conformal interval.
fn of_values(
    args: &PredictArgs,
    names: &[String],
    values: &Matrix,
    answers: &Answers,
    printer: Printer,
) -> Columns {
    let mut columns = Columns::new();
    for (label, name) in names.iter().enumerate() {
        let of_rows = || (0..values.rows).map(|row| values.row(row)[label]);
        columns.push((
            name.clone(),
            of_rows().map(|value| value.to_string()).collect(),
        ));
        if let Some(scores) = answers.label_scores.get(label) {
            let reach = threshold(scores, args, "intervals are endless", printer);
            let reach = reach.unwrap_or(f32::INFINITY);
            for (end, reach) in [("low", -reach), ("high", reach)] {
                let cells = of_rows().map(|value| (value + reach).to_string());
                columns.push((format!("{name}_{end}"), cells.collect()));
            }
        }
    }
    columns
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
