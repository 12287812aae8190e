//! `cpcvae encode`: where rows lie on the latent map.

use crate::args::EncodeArgs;
use crate::opened::{Model, WantedLabels};
use crate::output::{cells, check_out, write_csv};
use crate::parts;
use crate::passthrough::Passthrough;
use crate::printer::Printer;
use anyhow::Result;
use std::process::ExitCode;

/// Encodes and writes one line a row.
pub fn run(args: &EncodeArgs, printer: Printer) -> Result<ExitCode> {
    check_out(args.out.as_deref(), &args.rows.data)?;
    let model = Model::open(&args.model)?;
    let asked = model.rows(&args.rows, WantedLabels::None)?;
    let passthrough = Passthrough::of(&asked, &args.passthrough)?;
    let rows = model.prepare(&asked.data)?;
    let mut header = passthrough.header();
    let dimensions = model.trained.card.shape.code;
    for name in ["mean", "sigma"] {
        header.extend((0..dimensions).map(|dimension| format!("{name}_{dimension}")));
    }
    let lines = parts::lines(&model.trained.inference, &rows.features, |part| {
        let codes = part.inference.encode(&part.features)?;
        let line = |row| {
            let mut line = passthrough.line(part.first + row);
            line.extend(cells(codes.mean.row(row)));
            line.extend(cells(codes.sigma.row(row)));
            line
        };
        Ok((0..codes.mean.rows).map(line).collect())
    });
    write_csv(args.out.as_deref(), &header, lines, printer)?;
    Ok(ExitCode::SUCCESS)
}
