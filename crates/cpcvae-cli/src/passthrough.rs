//! Identifies the row of each output line: its number and ids.

use crate::args::PassthroughArgs;
use crate::output::{OutColumn, numbers};
use anyhow::{Result, bail};
use cpcvae::estimator::OpenedRows;
use cpcvae_data::{CellKind, Ids, RawColumn};

/// Columns as text, next to the row's number.
pub(crate) struct Passthrough<'a>(Vec<Names<'a>>);

enum Names<'a> {
    Ids(&'a Ids),
    Column(&'a RawColumn),
}

impl<'a> Passthrough<'a> {
    /// The columns that were asked for, otherwise the ids of the rows, if they have any.
    pub(crate) fn of(rows: &'a OpenedRows, args: &PassthroughArgs) -> Result<Self> {
        if args.id.is_empty() {
            return Ok(Self(rows.data.ids.iter().map(Names::Ids).collect()));
        }
        let Some(raw) = &rows.raw else {
            bail!(
                "`{}` has no columns to copy; leave out --id",
                rows.data.name
            );
        };
        let columns = raw.named(&args.id, "id")?;
        Ok(Self(columns.into_iter().map(Names::Column).collect()))
    }

    /// The first columns: `row`, then the copied ones.
    pub(crate) fn columns(&self) -> Vec<OutColumn> {
        let carried = self.0.iter().map(|names| match names {
            Names::Ids(ids) => (ids.name.clone(), CellKind::Text),
            Names::Column(column) => (column.name.clone(), CellKind::Text),
        });
        numbers(["row"]).chain(carried).collect()
    }

    /// The cells of a row.
    pub(crate) fn line(&self, row: usize) -> Vec<String> {
        let cells = self.0.iter().map(|names| match names {
            Names::Ids(ids) => ids.of_row[row].clone(),
            Names::Column(column) => column.text(row),
        });
        std::iter::once(row.to_string()).chain(cells).collect()
    }
}
