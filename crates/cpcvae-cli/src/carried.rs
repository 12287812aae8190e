//! Which row a line of an answer is about: its number, and names that come with the rows.

use crate::args::CarriedArgs;
use crate::opened::Rows;
use anyhow::{Result, bail};

/// Columns as text, next to the row's number.
pub struct Carried {
    names: Vec<String>,
    columns: Vec<Vec<String>>,
}

impl Carried {
    /// The columns that were asked for, else the ids of the rows, where they have any.
    pub fn of(rows: &Rows, args: &CarriedArgs) -> Result<Self> {
        if args.id.is_empty() {
            let ids = rows.data.ids.iter();
            let (names, columns) = ids
                .map(|ids| (ids.name.clone(), ids.of_row.clone()))
                .unzip();
            return Ok(Self { names, columns });
        }
        let Some(raw) = &rows.raw else {
            bail!(
                "`{}` has no columns to carry along; leave out --id",
                rows.data.name
            );
        };
        let columns = raw.named(&args.id, "id")?;
        Ok(Self {
            names: args.id.clone(),
            columns: columns
                .iter()
                .map(|column| (0..raw.rows).map(|row| column.text(row)).collect())
                .collect(),
        })
    }

    /// A header: `row`, then the carried columns.
    pub fn header(&self) -> Vec<String> {
        let first = std::iter::once("row".to_string());
        first.chain(self.names.iter().cloned()).collect()
    }

    /// The same of a row.
    pub fn line(&self, row: usize) -> Vec<String> {
        let cells = self.columns.iter().map(|column| column[row].clone());
        std::iter::once(row.to_string()).chain(cells).collect()
    }
}
