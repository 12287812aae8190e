//! `cpcvae predict`: labels and their probabilities.

use crate::args::PredictArgs;
use crate::opened::Model;
use crate::output::{cells, row_cells, row_header, write_csv};
use crate::printer::Printer;
use anyhow::Result;
use cpcvae::model::{Kind, Target};
use cpcvae_data::{Dataset, Matrix};
use std::process::ExitCode;

/// Predicts and writes one line a row.
pub fn run(args: &PredictArgs, printer: Printer) -> Result<ExitCode> {
    let model = Model::open(&args.model)?;
    let rows = model.prepare(&model.features(&args.data)?)?;
    let shape = &model.trained.card.shape;
    if args.samples > 0 && shape.kind != Kind::Vae {
        printer.note(format!(
            "note: `{}` predicts from the features, not from a code, so --samples has no effect",
            model.trained.card.method
        ));
    }
    let outputs = model
        .trained
        .inference
        .predict(&rows.features, args.samples as usize)?;
    match &shape.target {
        Target::Classes(names) => write_classes(args, names, (&rows, &outputs), printer)?,
        Target::Values(names) => {
            let values = model.trained.card.preprocess.invert_labels(outputs);
            write_values(args, names, (&rows, &values), printer)?;
        }
        Target::Nothing => unreachable!("predict refuses models that predict nothing"),
    }
    Ok(ExitCode::SUCCESS)
}

fn write_classes(
    args: &PredictArgs,
    names: &[String],
    (rows, probabilities): (&Dataset, &Matrix),
    printer: Printer,
) -> Result<()> {
    let mut header = row_header(rows);
    header.push("label".into());
    header.extend(names.iter().map(|name| format!("p_{name}")));
    let lines = (0..probabilities.rows).map(|row| {
        let of_row = probabilities.row(row);
        let best = cpcvae::infer::largest(of_row);
        let mut line = row_cells(rows, row);
        line.push(names[best].clone());
        line.extend(cells(of_row));
        line
    });
    write_csv(args.out.as_deref(), &header, lines, printer)
}

fn write_values(
    args: &PredictArgs,
    names: &[String],
    (rows, values): (&Dataset, &Matrix),
    printer: Printer,
) -> Result<()> {
    let mut header = row_header(rows);
    header.extend(names.iter().cloned());
    let lines = (0..values.rows).map(|row| {
        let mut line = row_cells(rows, row);
        line.extend(cells(values.row(row)));
        line
    });
    write_csv(args.out.as_deref(), &header, lines, printer)
}
