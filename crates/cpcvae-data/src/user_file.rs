//! Opens users' files and folders for a run.

use crate::role_guess::{likely_id, likely_labels};
use crate::{
    DataConfig, DataError, Grey, ImageSet, Opened, RawTable, Result, Source, Table, open_path,
};
use std::path::Path;

/// The content of a user's file or folder.
#[derive(Debug)]
pub enum UserFile {
    /// A table with the roles and kinds of its columns.
    Table(Table),
    /// Images, with those for testing where the files mark them.
    Images {
        /// To learn from.
        rows: ImageSet,
        /// To test on.
        test: Option<ImageSet>,
    },
}

impl UserFile {
    /// Opens a file or folder as the settings say. Where labels are needed, a table must name its
    /// label column and an image must have a label.
    pub fn open(path: &Path, data: &DataConfig, needs_labels: bool) -> Result<Self> {
        let options = data.read_options();
        let grey = (data.contrast && data.gray).then_some(Grey::Luminance);
        let finished = |set: ImageSet| match data.contrast {
            true => set.contrast_normalised(grey, options.memory_budget),
            false => Ok(set),
        };
        let (rows, test) = match open_path(path, &options)? {
            Opened::Table(raw) => return table(&raw, data, needs_labels).map(Self::Table),
            Opened::Images(rows) => (rows, None),
            Opened::ImagesWithTest { rows, test } => (rows, Some(test)),
        };
        if test.is_some() && data.test > 0.0 {
            let problem = format!("{} has test images of its own; set it to 0", path.display());
            return Err(DataError::setting("data.test", problem));
        }
        if needs_labels && rows.labels.iter().all(Option::is_none) {
            return Err(DataError::UnlabelledImages(path.into()));
        }
        Ok(Self::Images {
            rows: finished(rows)?,
            test: test.map(finished).transpose()?,
        })
    }

    /// The rows for a run that was opened with these settings.
    pub fn into_source(self, data: &DataConfig) -> Result<Source> {
        let (rows, test) = match self {
            Self::Table(table) => {
                let mut origin = data.clone();
                if let (true, Some(ids)) = (origin.id.is_empty(), &table.data.ids) {
                    // Detected when the file was opened; rows to predict use the same column.
                    origin.id = ids.name.clone();
                }
                return Ok(Source::from(table.data).with_origin(&origin));
            }
            Self::Images { rows, test } => (rows.to_dataset()?, test),
        };
        let mut test = test.map(|test| test.to_dataset()).transpose()?;
        if let Some(test) = &mut test {
            // Test images may lack a class.
            test.labels = test.labels.with_class_names(rows.class_names())?;
        }
        let source = Source {
            rows,
            test,
            split: None,
        };
        Ok(source.with_origin(data))
    }
}

fn table(raw: &RawTable, data: &DataConfig, needs_labels: bool) -> Result<Table> {
    if needs_labels && data.label.is_empty() {
        let beside: Vec<&str> = raw.beside.iter().map(|column| &column.name[..]).collect();
        let mut more = match beside.is_empty() {
            true => String::new(),
            false => format!("; beside the features there are: {}", beside.join(", ")),
        };
        let likely = likely_labels(raw);
        if !likely.is_empty() {
            more += &format!("; columns that look like labels: {}", likely.join(", "));
        }
        return Err(DataError::NoLabelColumn {
            path: raw.path.clone(),
            beside: more,
        });
    }
    let mut options = data.table_options()?;
    let mut note = None;
    if options.id.is_none() {
        let kinds = options.kinds.iter().map(|(name, _)| name);
        let taken = options.labels.iter().chain(&options.ignore).chain(kinds);
        let taken: Vec<String> = taken.cloned().collect();
        if let Some(id) = likely_id(raw, &taken) {
            options.id = Some(id.into());
            note = Some(format!(
                "column `{id}` is all different and named like an id: it names the rows and is no \
                 feature"
            ));
        }
    }
    let mut table = Table::new(raw, &options)?;
    table.warnings.extend(note);
    Ok(table)
}
