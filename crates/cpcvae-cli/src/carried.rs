//! Columns of the input that go to the output beside the answers.

use crate::args::CarriedArgs;
use crate::data_name::DataName;
use crate::opened::Model;
use anyhow::{Result, bail};
use cpcvae_data::{Cells, RawTable, read_csv_texts};

/// Columns as text, row by row; none for built-in data.
#[derive(Default)]
pub struct Carried {
    names: Vec<String>,
    columns: Vec<Vec<String>>,
}

impl Carried {
    /// The columns that were asked for, else those of the file that the run ignored: names of
    /// rows, most often.
    pub fn read(args: &CarriedArgs, model: &Model, data: &str) -> Result<Self> {
        let wanted = match args.id.is_empty() {
            true => model.ignored(),
            false => &args.id,
        };
        let path = match DataName::parse(data)? {
            DataName::File(path) if !wanted.is_empty() => path,
            _ if args.id.is_empty() => return Ok(Self::default()),
            _ => bail!("`{data}` has no columns to carry along; leave out --id"),
        };
        let table = read_csv_texts(&path)?;
        let mut carried = Self::default();
        for name in wanted {
            match cells(&table, name) {
                Some(cells) => {
                    carried.names.push(name.clone());
                    carried.columns.push(cells);
                }
                None if args.id.is_empty() => {}
                None => {
                    let names: Vec<&str> = table.columns.iter().map(|c| c.name.as_str()).collect();
                    bail!(
                        "{}: there is no column `{name}` to carry along; the columns are: {}",
                        path.display(),
                        names.join(", ")
                    );
                }
            }
        }
        Ok(carried)
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

/// The cells of a column as text.
pub fn cells(table: &RawTable, name: &str) -> Option<Vec<String>> {
    let column = table.columns.iter().find(|column| column.name == name)?;
    Some(match &column.cells {
        Cells::Texts(texts) => texts.clone(),
        Cells::Numbers(numbers) => numbers.iter().map(f64::to_string).collect(),
        Cells::Flags(flags) => {
            let text = |flag: &Option<bool>| flag.map_or(String::new(), |flag| flag.to_string());
            flags.iter().map(text).collect()
        }
    })
}
