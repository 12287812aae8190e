//! `cpcvae export`: a model as an ONNX file.

use crate::ExitCode;
use crate::args::ExportModelArgs;
use crate::opened;
use crate::printer::{Printer, count};
use anyhow::{Result, bail};
use cpcvae::export::{OnnxOptions, OnnxValue};
use serde_json::json;

/// Writes the file and describes it.
pub(crate) fn run(args: &ExportModelArgs, printer: Printer) -> Result<ExitCode> {
    let path = &args.out;
    if path.extension().is_none_or(|ending| ending != "onnx") {
        bail!(
            "`{}` does not end in .onnx, the format that can be written; choose such a name",
            path.display()
        );
    }
    let model = opened::model(&args.model)?;
    let file = model.onnx(OnnxOptions {
        network_only: args.network_only,
    })?;
    file.save(path)?;
    let bytes = std::fs::metadata(path)?.len() as usize;
    let line = |what: &str, value: &OnnxValue| {
        let OnnxValue {
            name,
            kind,
            meaning,
        } = value;
        format!("{what:<8}{name:<14}{kind:<24}{meaning}\n")
    };
    let mut text = format!("{}: {} bytes\n", path.display(), count(bytes));
    text += &line("input", &file.input);
    for output in &file.outputs {
        text += &line("output", output);
    }
    text += &format!("answers {}\n", file.answers);
    let value = json!({
        "file": path,
        "bytes": bytes,
        "input": file.input,
        "outputs": file.outputs,
        "answers": file.answers,
    });
    printer.answer(&text, &value)?;
    Ok(ExitCode::SUCCESS)
}
