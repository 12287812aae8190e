//! The fitted model and the rows that arguments name.

use crate::args::{ModelArgs, RowsArgs};
use crate::column_notes::warn;
use crate::printer::Printer;
use anyhow::{Context, Result, bail};
use cpcvae::estimator::{Fitted, OpenedRows, RowOptions, WantedLabels};

/// At most this many names are listed in a remark.
const LISTED: usize = 5;

/// Loads the model of a run.
pub(crate) fn model(args: &ModelArgs) -> Result<Fitted> {
    let path = &args.run;
    if !path.is_dir() {
        bail!(
            "there is no run folder {}; `cpcvae fit` makes one",
            path.display()
        );
    }
    args.place.set_up()?;
    let fitted = Fitted::load_with(path, &args.place.device, args.place.precision())
        .with_context(|| format!("the model of {} cannot be opened", path.display()))?;
    Ok(fitted.with_seed(u64::from(args.seed)))
}

/// The rows named by DATA, with remarks on them.
pub(crate) fn rows(
    model: &Fitted,
    args: &RowsArgs,
    place: &crate::args::PlaceArgs,
    labels: WantedLabels,
) -> Result<OpenedRows> {
    let read = &args.read;
    let rows = model.open_rows(
        &args.data,
        &RowOptions {
            labels,
            labels_file: read.labels_file.clone(),
            features_name: read.features_name.clone(),
            strict: read.strict,
            most_bytes: read.most_bytes,
            data_dir: place.data_dir(),
        },
    )?;
    warn(&rows.warnings, Printer::default());
    warn_of_skipped(&rows.skipped, Printer::default());
    Ok(rows)
}

/// Prints which images were left out.
pub(crate) fn warn_of_skipped(skipped: &[(String, String)], printer: Printer) {
    for (file, why) in skipped.iter().take(LISTED) {
        printer.warn(format!("`{file}` is left out: {why}"));
    }
    if skipped.len() > LISTED {
        let more = crate::printer::count(skipped.len() - LISTED);
        printer.warn(format!("{more} more files are left out"));
    }
}
