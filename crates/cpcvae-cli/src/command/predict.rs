//! `cpcvae predict`: labels, probabilities, conformal sets and densities of rows.

use crate::args::PredictArgs;
use crate::exit::ExitCode;
use crate::opened;
use crate::output::{cells, check_out, lines_of_parts, numbers, write_table};
use crate::passthrough::Passthrough;
use crate::printer::{Printer, percent};
use anyhow::Result;
use cpcvae::ensemble::Voter;
use cpcvae::estimator::{Fitted, PredictOptions, Predictions, WantedLabels};
use cpcvae::model::Target;
use cpcvae_data::CellKind;

/// Predicts and writes one line a row.
pub(crate) fn run(args: &PredictArgs, printer: Printer) -> Result<ExitCode> {
    check_out(args.out.as_deref(), &args.rows.data)?;
    let model = opened::model(&args.model)?;
    let rows = opened::rows(&model, &args.rows, &args.model.place, WantedLabels::None)?;
    let passthrough = Passthrough::of(&rows, &args.passthrough)?;
    note_limits(&model, args, printer);
    let options = PredictOptions {
        coverage: args.coverage,
        samples: args.samples as usize,
        density: !args.no_density,
        votes: args.explain,
    };
    // The row's number, then ids.
    let mut columns = passthrough.columns();
    columns.extend(answer_columns(&model));
    if model.calibration().typical.is_some() && options.density {
        columns.extend(numbers(["log_p", "percentile"]));
    }
    if options.votes {
        columns.extend(vote_columns(&model));
    }
    let parts = model.predict_parts(&rows.data, options)?;
    let lines = lines_of_parts(parts, |first, part| {
        let line = |row: usize| {
            let mut line = passthrough.line(first + row);
            line.extend(answer_cells(&part, row));
            line.extend(vote_cells(&part, row));
            line
        };
        (0..part.len()).map(line).collect()
    });
    write_table(args.out.as_deref(), &columns, lines, printer)?;
    Ok(ExitCode::SUCCESS)
}

/// Notes on options that have no effect.
fn note_limits(model: &Fitted, args: &PredictArgs, printer: Printer) {
    if args.samples > 0 && !model.card().shape.kind.predicts_from_draws() {
        printer.note(format!(
            "note: `{}` predicts from the features, not from a code, so --samples has no effect",
            model.card().method
        ));
    }
    if args.explain {
        printer.note(match model.voters().as_slice() {
            [] => "note: the network answers alone, so --explain has nothing to add".to_string(),
            voters => {
                let share = |voter: &Voter| format!("{} {}", voter.name, percent(voter.weight));
                let shares: Vec<String> = voters.iter().map(share).collect();
                format!("note: shares of the answer: {}", shares.join(", "))
            }
        });
    }
    if model.calibration().held_out.is_none() {
        printer.note(
            "note: this run held no labels out, so probabilities are not calibrated and there \
             are no sets or intervals (`cpcvae fit` with `--folds N` holds labels out)",
        );
    }
    if let Some((labels, most)) = model.coverage_limit(args.coverage) {
        let consequence = match model.classes().is_empty() {
            true => "intervals are endless",
            false => "sets hold every class",
        };
        printer.note(format!(
            "note: {labels} held-out labels can vouch for a coverage of {} at most, not of {}, so \
             {consequence}; ask for less with --coverage",
            percent(most),
            percent(args.coverage)
        ));
    }
}

/// The columns of predictions, except densities.
fn answer_columns(model: &Fitted) -> Vec<(String, CellKind)> {
    let calibration = model.calibration();
    match &model.card().shape.target {
        Target::Classes(names) => {
            let first = std::iter::once(("label".to_string(), CellKind::Text));
            let names = names.iter();
            let names = names.map(|name| (format!("p_{name}"), CellKind::Number));
            let set =
                (!calibration.class_scores.is_empty()).then(|| ("set".to_string(), CellKind::Text));
            first.chain(names).chain(set).collect()
        }
        Target::Values(names) => names
            .iter()
            .enumerate()
            .flat_map(|(label, name)| {
                let ends = calibration.label_scores.get(label);
                let ends = ends.map(|_| [format!("{name}_low"), format!("{name}_high")]);
                std::iter::once(name.to_string()).chain(ends.into_iter().flatten())
            })
            .map(|name| (name, CellKind::Number))
            .collect(),
        Target::Nothing => Vec::new(),
    }
}

/// A column for each voter, or for each voter and label if there are several continuous ones.
fn vote_columns(model: &Fitted) -> Vec<(String, CellKind)> {
    let voters = model.voters();
    match &model.card().shape.target {
        Target::Values(names) if names.len() > 1 => {
            let of_voter = |voter: &Voter| {
                let column = |name: &String| format!("vote_{}_{name}", voter.name);
                names.iter().map(column).collect::<Vec<_>>()
            };
            numbers(voters.iter().flat_map(of_voter)).collect()
        }
        target => {
            let kind = match target.is_classes() {
                true => CellKind::Text,
                false => CellKind::Number,
            };
            let column = |voter: &Voter| (format!("vote_{}", voter.name), kind);
            voters.iter().map(column).collect()
        }
    }
}

/// Each voter's prediction for a row.
fn vote_cells(answers: &Predictions, row: usize) -> Vec<String> {
    let classes = answers.votes.iter();
    let classes = classes.map(|votes| answers.classes[votes[row]].clone());
    let values = answers.value_votes.iter().flat_map(|said| {
        let labels = said.row(row).iter().enumerate();
        labels.map(|(label, value)| answers.value_text(label, *value))
    });
    classes.chain(values).collect()
}

/// The cells of a row.
fn answer_cells(answers: &Predictions, row: usize) -> Vec<String> {
    let outputs = answers.outputs.row(row);
    let mut line: Vec<String> = match answers.classes.is_empty() {
        false => {
            let set = answers.sets.as_ref().map(|sets| {
                let names = sets[row].iter().map(|class| &answers.classes[*class][..]);
                names.collect::<Vec<&str>>().join("|")
            });
            let label = std::iter::once(answers.label(row).to_string());
            label.chain(cells(outputs)).chain(set).collect()
        }
        true => outputs
            .iter()
            .zip(&answers.half_widths)
            .enumerate()
            .flat_map(|(label, (&value, half_width))| {
                let ends = half_width.map(|half| [value - half, value + half]);
                let values = std::iter::once(value).chain(ends.into_iter().flatten());
                values.map(move |value| answers.value_text(label, value))
            })
            .collect(),
    };
    if let (Some(log_p), Some(percentile)) = (&answers.log_density, &answers.percentile) {
        line.extend(cells(&[log_p[row], percentile[row]]));
    }
    line
}
