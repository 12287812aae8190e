//! `cpcvae data export`: a built-in data set as a table.

use crate::args::ExportArgs;
use crate::output::{cells, layout_columns, write_table};
use crate::printer::Printer;
use anyhow::{Context, Result, bail};
use cpcvae::config::RunConfig;
use cpcvae_data::{CellKind, DataName, Split, SplitPlan};
use std::collections::HashSet;
use std::path::Path;

/// Writes the features and, in a last column `class`, the labels.
pub(super) fn run(args: &ExportArgs, data_dir: &Path, printer: Printer) -> Result<()> {
    let data = match DataName::parse(&args.name)? {
        DataName::BuiltIn(data) => data,
        DataName::File(path) => bail!("{} is a table already", path.display()),
    };
    let mut config = RunConfig::for_built_in_data("cpc", data)?;
    config.seed = u64::from(args.seed);
    if let Some(labels) = args.labels {
        config.data.labels = labels as usize;
    }
    let source = data.open(&config.data, config.seed, data_dir)?;
    let shown: Option<HashSet<u32>> = match (args.labels, source.split) {
        (None, _) => None,
        (Some(_), Some(split)) => Some(split.labelled.into_iter().collect()),
        (Some(labels), None) => {
            let plan = SplitPlan {
                labels: Some(labels as usize),
                seed: config.seed,
                ..SplitPlan::default()
            };
            let split = Split::draw(&source.rows, &plan)?;
            Some(split.labelled.into_iter().collect())
        }
    };
    let rows = match args.test {
        true => source.test.context("this data set has no test rows")?,
        false => source.rows,
    };
    let class = ("class".to_string(), CellKind::Text);
    let columns: Vec<_> = layout_columns(&rows.layout).chain([class]).collect();
    let names = rows.class_names();
    let lines = (0..rows.len()).map(|row| {
        let number = row as u32;
        let is_shown = shown.as_ref().is_none_or(|shown| shown.contains(&number));
        let class = rows.labels.class_of(number).filter(|_| is_shown);
        let label = class.map_or(String::new(), |class| names[class as usize].clone());
        Ok(cells(&rows.features.row(row)).chain([label]).collect())
    });
    write_table(args.out.as_deref(), &columns, lines, printer)
}
