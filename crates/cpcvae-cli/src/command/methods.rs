//! `cpcvae methods`: lists the methods.

use crate::exit::ExitCode;
use crate::printer::Printer;
use anyhow::Result;
use cpcvae_lab::table::TextTable;

/// Lists the methods.
pub(crate) fn run(printer: Printer) -> Result<ExitCode> {
    let table = TextTable {
        header: vec!["method".into(), "what it does".into()],
        rows: cpcvae::method::all()
            .map(|method| vec![method.name.into(), method.summary.into()])
            .collect(),
    };
    printer.write(table.to_text().as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
