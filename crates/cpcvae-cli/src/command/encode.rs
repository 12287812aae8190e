//! `cpcvae encode`: where rows lie on the latent map.

use crate::args::EncodeArgs;
use crate::opened::Model;
use crate::output::{cells, row_cells, row_header, write_csv};
use crate::printer::Printer;
use anyhow::Result;
use std::process::ExitCode;

/// Encodes and writes one line a row.
pub fn run(args: &EncodeArgs, printer: Printer) -> Result<ExitCode> {
    let model = Model::open(&args.model)?;
    let rows = model.prepare(&model.features(&args.data)?)?;
    let codes = model.trained.inference.encode(&rows.features)?;
    let mut header = row_header(&rows);
    for name in ["mean", "sigma"] {
        header.extend((0..codes.mean.columns).map(|dimension| format!("{name}_{dimension}")));
    }
    let lines = (0..rows.len()).map(|row| {
        let mut line = row_cells(&rows, row);
        line.extend(cells(codes.mean.row(row)));
        line.extend(cells(codes.sigma.row(row)));
        line
    });
    write_csv(args.out.as_deref(), &header, lines, printer)?;
    Ok(ExitCode::SUCCESS)
}
