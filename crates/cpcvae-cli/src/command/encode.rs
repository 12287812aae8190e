//! `cpcvae encode`: codes of rows.

use crate::args::EncodeArgs;
use crate::exit::ExitCode;
use crate::opened;
use crate::output::{cells, check_out, lines_of_parts, numbers, write_table};
use crate::passthrough::Passthrough;
use crate::printer::Printer;
use anyhow::Result;
use cpcvae::estimator::WantedLabels;

/// Encodes and writes one line a row.
pub(crate) fn run(args: &EncodeArgs, printer: Printer) -> Result<ExitCode> {
    check_out(args.out.as_deref(), &args.rows.data)?;
    let model = opened::model(&args.model)?;
    let rows = opened::rows(&model, &args.rows, &args.model.place, WantedLabels::None)?;
    let passthrough = Passthrough::of(&rows, &args.passthrough)?;
    let mut columns = passthrough.columns();
    let dimensions = model.card().shape.code;
    for name in ["mean", "sigma"] {
        columns.extend(numbers(
            (0..dimensions).map(|dimension| format!("{name}_{dimension}")),
        ));
    }
    let parts = model.encode_parts(&rows.data)?;
    let lines = lines_of_parts(parts, |first, codes| {
        let line = |row| {
            let mut line = passthrough.line(first + row);
            line.extend(cells(codes.mean.row(row)));
            line.extend(cells(codes.sigma.row(row)));
            line
        };
        (0..codes.mean.rows).map(line).collect()
    });
    write_table(args.out.as_deref(), &columns, lines, printer)?;
    Ok(ExitCode::SUCCESS)
}
