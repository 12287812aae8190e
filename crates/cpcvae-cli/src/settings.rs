//! Converts the arguments of `fit` to a request to the library.
//!
//! The file of `-c`, then `--set`, then flags override the library's defaults for the method and
//! the data. A resumed run uses its stored settings instead.

use crate::args::{FitArgs, ImageArgs, PlaceArgs, ReadArgs};
use crate::idle_flags::GivenFlags;
use crate::printer::Printer;
use crate::user_file;
use anyhow::{Context, Result, bail};
use cpcvae::config::{Layer, Preset, Request, RunConfig, parse_settings};
use cpcvae::estimator::{Estimator, Fit};
use cpcvae::prelude::Source;
use cpcvae_data::{DataName, UserFile};
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// The resolved arguments of `fit`.
pub(crate) struct FitSettings {
    /// The method and its settings.
    pub estimator: Estimator,
    /// Its data.
    pub data: DataName,
    /// The data as it was typed.
    pub source: String,
    /// Its folder.
    pub folder: PathBuf,
    /// Device and threads.
    pub place: PlaceArgs,
    given: GivenFlags,
}

/// Resolves the arguments; nothing is written. `ranks` is how many processes a launcher started.
pub(crate) fn resolve(args: &FitArgs, ranks: Option<usize>) -> Result<FitSettings> {
    let data = DataName::parse(&args.data)?;
    let mut request = Request::new(args.method.as_deref()).with_preset(preset(args));
    if let Some(ranks) = ranks {
        request = request.for_ranks(ranks);
    }
    for layer in layers(args)? {
        request.push(layer.context, layer.settings);
    }
    let folder = match &args.out {
        Some(path) => path.clone(),
        None => PathBuf::from("runs").join(format!("{}-{}", data.short(), request.method())),
    };
    let requested_method = request.requested_method().map(String::from);
    let mut estimator = Estimator::from_request(request)
        .folder(&folder)
        .resume(args.resume)
        .overwrite(args.overwrite)
        .device(&args.place.device)
        .repeats(usize::from(args.repeats))
        .compare(!args.no_compare)
        .keep_folds(args.keep_folds);
    if let Some(folds) = args.folds {
        estimator = estimator.folds(usize::from(folds));
    }
    if let Some(budget) = args.budget {
        estimator = estimator.budget(budget);
    }
    if args.no_crossfit {
        estimator = estimator.hold_out(false);
    }
    if let Some(stored) = estimator.stored_settings()? {
        check_same_run(&stored, requested_method.as_deref(), &args.data)?;
    }
    // Invalid settings are reported before the data is read.
    estimator.settings_before_opening(&data, &args.data)?;
    Ok(FitSettings {
        estimator,
        data,
        source: args.data.clone(),
        folder,
        place: args.place.clone(),
        given: GivenFlags::of(args),
    })
}

impl FitSettings {
    /// Opens the data, and prints remarks on a user's file.
    pub(crate) fn open(&self, printer: Printer) -> Result<Source> {
        let config = self
            .estimator
            .settings_before_opening(&self.data, &self.source)?;
        let needs_labels = config.method.uses_labels();
        self.given.check_settings(&config)?;
        self.given.check_built_in(&self.data)?;
        Ok(match &self.data {
            DataName::File(path) => {
                let file = UserFile::open(path, &config.data, needs_labels)?;
                self.given.check_file(&file, &self.source)?;
                user_file::print(&file, printer);
                file.into_source(&config.data)?
            }
            DataName::BuiltIn(_) => {
                let data_dir = self.place.data_dir();
                self.data
                    .open(&config.data, config.seed, &data_dir, needs_labels)?
            }
        })
    }
}

/// A run resumes only with its own method and data.
fn check_same_run(stored: &RunConfig, method: Option<&str>, data: &str) -> Result<()> {
    let name = stored.method.name();
    if let Some(method) = method.filter(|method| *method != name) {
        bail!(
            "the run was started with `--method {name}` and cannot be resumed with `{method}`; start \
             another run with another `--out`"
        );
    }
    // The file may have moved, or its path be relative to another folder.
    let file_name = |path: &str| Path::new(path).file_name().map(ToOwned::to_owned);
    if file_name(&stored.data.source) != file_name(data) {
        bail!(
            "the run was started on `{}`, not on `{data}`; start another run with another `--out`",
            stored.data.source
        );
    }
    Ok(())
}

/// `--paper` is the old name of `--preset paper`.
fn preset(args: &FitArgs) -> Preset {
    match args.preset.as_deref() {
        Some("paper") => Preset::Paper,
        _ if args.paper => Preset::Paper,
        _ => Preset::Default,
    }
}

fn layers(args: &FitArgs) -> Result<Vec<Layer>> {
    let mut layers = Vec::new();
    if let Some(path) = &args.config {
        let context = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("the settings in {context} cannot be read"))?;
        layers.push(Layer::from_toml(&context, &text)?);
    }
    layers.push(Layer {
        context: "--set".into(),
        settings: parse_settings(&args.set)?,
    });
    layers.push(Layer {
        context: "the arguments".into(),
        settings: flags(args),
    });
    Ok(layers)
}

/// Flags as settings.
fn flags(args: &FitArgs) -> Table {
    let mut of_data = Table::new();
    let mut of_train = Table::new();
    let mut of_constraint = Table::new();
    let mut all = Table::new();

    put_list(&mut of_data, "label", &args.label);
    put_list(&mut of_data, "ignore", &args.ignore);
    put_list(&mut of_data, "columns", &args.column);
    put_list(&mut of_data, "missing", &args.missing);
    put_some(&mut of_data, "id", args.id.clone());
    put_some(&mut of_data, "labels", args.labels);
    put_some(&mut of_data, "task", args.task.clone());
    put_some(
        &mut of_data,
        "unlabeled_value",
        args.unlabeled_value.clone(),
    );
    put_some(&mut of_data, "validation", args.validation);
    put_some(&mut of_data, "test", args.test);
    put_reading(&mut of_data, &args.read, &args.images);

    put_some(&mut of_train, "steps", args.max_steps);
    put_some(&mut of_train, "precision", args.place.precision.clone());
    if let Some(epochs) = args.epochs {
        put(&mut of_train, "epochs", epochs);
        // Steps from a file would take precedence otherwise.
        put(&mut of_train, "steps", 0);
    }

    let targets = [
        ("loss", args.target_loss),
        ("accuracy", args.target_accuracy),
    ];
    for (measure, target) in targets {
        if let Some(target) = target {
            put(&mut of_constraint, "measure", measure);
            put(&mut of_constraint, "target", target);
        }
    }
    put_some(&mut of_constraint, "solver", args.solver.clone());

    put_some(&mut all, "seed", args.seed);
    let mut of_model = Table::new();
    put_some(&mut of_model, "code", args.code);
    put_some(&mut of_model, "net", args.net.clone());
    if !of_model.is_empty() {
        put(&mut all, "model", of_model);
    }
    put(&mut all, "data", of_data);
    put(&mut all, "train", of_train);
    put(&mut all, "constraint", of_constraint);
    all
}

/// How files are read, as settings.
fn put_reading(of_data: &mut Table, read: &ReadArgs, images: &ImageArgs) {
    let labels_file = read.labels_file.as_ref();
    put_some(
        of_data,
        "labels_file",
        labels_file.map(|path| path.display().to_string()),
    );
    put_some(of_data, "features_name", read.features_name.clone());
    put_some(
        of_data,
        "most_bytes",
        read.most_bytes.map(|bytes| bytes as i64),
    );
    put_some(of_data, "size", images.size);
    let flags = [
        ("strict", read.strict),
        ("gray", images.gray),
        ("contrast", images.contrast),
    ];
    for (key, _) in flags.into_iter().filter(|(_, given)| *given) {
        put(of_data, key, true);
    }
}

fn put(table: &mut Table, key: &str, value: impl Into<Value>) {
    table.insert(key.into(), value.into());
}

fn put_some(table: &mut Table, key: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        put(table, key, value);
    }
}

fn put_list(table: &mut Table, key: &str, values: &[String]) {
    if !values.is_empty() {
        put(table, key, values.to_vec());
    }
}
