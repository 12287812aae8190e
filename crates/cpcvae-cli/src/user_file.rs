//! Users' files and folders: how settings say that they are read, and what they give to a run.

use crate::column_notes;
use crate::data_name::some_text;
use crate::printer::{Printer, count};
use anyhow::{Result, bail};
use cpcvae::Error;
use cpcvae::config::{DataConfig, RunConfig};
use cpcvae_data::{
    Grey, ImageSet, KindName, Opened, RawTable, ReadOptions, Source, Table, TableOptions, Task,
    open_path,
};
use std::path::{Path, PathBuf};

/// So many names are listed in a remark.
const TOLD: usize = 5;

/// How images get labels.
pub const LABELS_OF_IMAGES: &str = "put the images of a class into a folder of its name, or name \
                                    a table of labels with `--labels-file`";

/// What is in a user's file or folder.
pub enum UserFile {
    /// A table whose columns are understood.
    Table(Table),
    /// Images, and those for testing where the files say so.
    Images {
        /// To learn from.
        rows: ImageSet,
        /// To test on.
        test: Option<ImageSet>,
    },
}

impl UserFile {
    /// Opens a file or folder as the settings say.
    pub fn open(path: &Path, config: &RunConfig) -> Result<Self> {
        let data = &config.data;
        let options = read_options(data);
        let grey = (data.contrast && data.gray).then_some(Grey::Luminance);
        let finished = |set: ImageSet| match data.contrast {
            true => set.contrast_normalised(grey, options.memory_budget),
            false => Ok(set),
        };
        let (rows, test) = match open_path(path, &options)? {
            Opened::Table(raw) => return Ok(Self::Table(table(&raw, config)?)),
            Opened::Images(rows) => (rows, None),
            Opened::ImagesWithTest { rows, test } => (rows, Some(test)),
        };
        if test.is_some() && data.test > 0.0 {
            let problem = format!("{} has test images of its own; set it to 0", path.display());
            return Err(Error::setting("data.test", problem).into());
        }
        if config.method.uses_labels() && rows.labels.iter().all(Option::is_none) {
            bail!(
                "{}: no image has a label; {LABELS_OF_IMAGES}, or train without labels with \
                 `--method vae`",
                path.display()
            );
        }
        Ok(Self::Images {
            rows: finished(rows)?,
            test: test.map(finished).transpose()?,
        })
    }

    /// Tells what was found.
    pub fn tell(&self, printer: Printer) {
        match self {
            Self::Table(table) => column_notes::tell(table, printer),
            Self::Images { rows, test } => {
                tell_images(rows, "images", printer);
                if let Some(test) = test {
                    tell_images(test, "test images", printer);
                }
            }
        }
    }

    /// The rows for a run.
    pub fn into_source(self) -> Result<Source> {
        let (rows, test) = match self {
            Self::Table(table) => return Ok(table.data.into()),
            Self::Images { rows, test } => (rows.to_dataset()?, test),
        };
        let mut test = test.map(|test| test.to_dataset()).transpose()?;
        if let Some(test) = &mut test {
            // Test images may lack a class.
            test.labels = test.labels.with_class_names(rows.class_names())?;
        }
        Ok(Source {
            rows,
            test,
            split: None,
        })
    }
}

/// How a run reads its file.
pub fn read_options(data: &DataConfig) -> ReadOptions {
    ReadOptions {
        ignore: data.ignore.clone(),
        features_name: some_text(&data.features_name),
        label_names: data.label.clone(),
        labels_file: some_text(&data.labels_file).map(PathBuf::from),
        size: (data.size > 0).then_some(data.size),
        // Contrasts are made alike in colour, which is mixed to grey afterwards.
        gray: data.gray && !data.contrast,
        strict: data.strict,
        most_bytes: data.most_bytes,
        ..ReadOptions::default()
    }
}

/// Tells how many images there are, and which were left out.
fn tell_images(set: &ImageSet, what: &str, printer: Printer) {
    let labelled = set.labels.iter().flatten().count();
    printer.note(format!(
        "{} {what} of {} x {} pixels in {}, {} of them with a label ({} classes)",
        count(set.len()),
        set.width,
        set.height,
        if set.channels == 1 { "grey" } else { "colour" },
        count(labelled),
        set.class_names().len()
    ));
    tell_left_out(set, printer);
}

/// Tells which images were left out.
pub fn tell_left_out(set: &ImageSet, printer: Printer) {
    for (file, why) in set.skipped.iter().take(TOLD) {
        printer.note(format!("warning: `{file}` is left out: {why}"));
    }
    if set.skipped.len() > TOLD {
        let more = count(set.skipped.len() - TOLD);
        printer.note(format!("warning: {more} more files are left out"));
    }
}

fn table(raw: &RawTable, config: &RunConfig) -> Result<Table> {
    let data = &config.data;
    if config.method.uses_labels() && data.label.is_empty() {
        let beside: Vec<&str> = raw.beside.iter().map(|column| &column.name[..]).collect();
        let beside = match beside.is_empty() {
            true => String::new(),
            false => format!("; beside the features there are: {}", beside.join(", ")),
        };
        bail!(
            "{}: which column holds the labels? Name it with `--label COLUMN` (rows without a \
             label are left blank in it), or train without labels with `--method vae`{beside}",
            raw.path.display()
        );
    }
    let options = TableOptions {
        labels: data.label.clone(),
        task: task(&data.task)?,
        unlabelled_value: some_text(&data.unlabeled_value),
        // Left out at reading.
        ignore: Vec::new(),
        id: some_text(&data.id),
        features: None,
        kinds: kinds(&data.columns)?,
        missing: data.missing.clone(),
        ..TableOptions::default()
    };
    Ok(Table::new(raw, &options)?)
}

/// `NAME=KIND` pairs; a name may have an equals sign itself.
fn kinds(pairs: &[String]) -> cpcvae::Result<Vec<(String, KindName)>> {
    let parse = |pair: &String| {
        let named = pair
            .rsplit_once('=')
            .and_then(|(name, kind)| Some((name.to_string(), KindName::named(kind.trim())?)));
        named.ok_or_else(|| {
            let known: Vec<&str> = KindName::NAMES.iter().map(|(name, _)| *name).collect();
            let problem = format!("`{pair}` is not NAME=KIND; kinds are {}", known.join(", "));
            Error::setting("data.columns", problem)
        })
    };
    pairs.iter().map(parse).collect()
}

/// What the labels of a table are.
fn task(text: &str) -> cpcvae::Result<Option<Task>> {
    match text {
        "auto" => Ok(None),
        "classify" => Ok(Some(Task::Classify)),
        "regress" => Ok(Some(Task::Regress)),
        other => {
            let problem = format!("is `{other}`; it must be auto, classify or regress");
            Err(Error::setting("data.task", problem))
        }
    }
}
