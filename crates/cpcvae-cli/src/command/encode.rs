//! `cpcvae encode`: where rows lie on the latent map.

use crate::args::EncodeArgs;
use crate::carried::Carried;
use crate::opened::{Model, WantedLabels};
use crate::output::{cells, write_csv};
use crate::printer::Printer;
use anyhow::Result;
use std::process::ExitCode;

/// Encodes and writes one line a row.
pub fn run(args: &EncodeArgs, printer: Printer) -> Result<ExitCode> {
    let model = Model::open(&args.model)?;
    let asked = model.rows(&args.rows, WantedLabels::None)?;
    let carried = Carried::of(&asked, &args.carried)?;
    let rows = model.prepare(&asked.data)?;
    let codes = model.trained.inference.encode(&rows.features)?;
    let mut header = carried.header();
    for name in ["mean", "sigma"] {
        header.extend((0..codes.mean.columns).map(|dimension| format!("{name}_{dimension}")));
    }
    let lines = (0..rows.len()).map(|row| {
        let mut line = carried.line(row);
        line.extend(cells(codes.mean.row(row)));
        line.extend(cells(codes.sigma.row(row)));
        line
    });
    write_csv(args.out.as_deref(), &header, lines, printer)?;
    Ok(ExitCode::SUCCESS)
}
