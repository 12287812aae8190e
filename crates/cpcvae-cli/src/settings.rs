//! From the arguments of `fit` to the settings of a run.
//!
//! Defaults for the method and the data (those of `--preset`), then the file of `-c`, then `--set`, then flags. A run
//! that goes on starts from its stored settings instead of the defaults.

use crate::args::{FitArgs, ImageArgs, PlaceArgs, ReadArgs};
use crate::data_name::DataName;
use crate::user_file::read_options;
use anyhow::{Context, Result, bail};
use cpcvae::config::{Preset, RunConfig, parse_settings};
use cpcvae::method::DataKind;
use cpcvae::run::RunFolder;
use cpcvae_data::{Dataset, Layout};
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// What `fit` needs to know.
#[derive(Debug)]
pub struct FitSettings {
    /// The settings of the run.
    pub config: RunConfig,
    /// Its data.
    pub data: DataName,
    /// Its folder.
    pub folder: RunFolder,
    /// What was said, to be laid over the settings that suit the data; a run that goes on has
    /// its own.
    said: Option<Vec<Layer>>,
    /// Whose defaults that is laid over.
    preset: Preset,
    /// How labels are held out.
    pub held_out: HeldOutSettings,
    /// Where to work.
    pub place: PlaceArgs,
}

/// Which labels are held out after training, and what is compared on them. Not a part of the
/// run's settings: the model does not depend on it.
#[derive(Clone, Copy, Debug)]
pub struct HeldOutSettings {
    /// Folds, where they were asked for.
    pub folds: Option<usize>,
    /// How often they are dealt.
    pub repeats: usize,
    /// Whether labels are held out at all.
    pub wanted: bool,
    /// Whether baselines are trained too.
    pub compare: bool,
}

/// Settings laid over others, and where they come from.
#[derive(Debug)]
struct Layer {
    context: String,
    settings: Table,
}

/// Resolves the arguments; nothing is written.
pub fn resolve(args: &FitArgs) -> Result<FitSettings> {
    let data = DataName::parse(&args.data)?;
    let preset = preset(args);
    let mut layers = layers(args)?;
    let mut method = args.method.clone();
    for layer in layers.iter_mut().rev() {
        let named = take_method(&mut layer.settings);
        method = method.or(named);
    }
    let chosen = method.as_deref().unwrap_or("cpc");
    let net = named_net(layers.iter().map(|layer| &layer.settings));
    let folder = RunFolder::at(match &args.out {
        Some(path) => path.clone(),
        None => PathBuf::from("runs").join(format!("{}-{chosen}", data.short())),
    });
    let stored = stored(&folder, args.resume)?;
    let is_new = stored.is_none();
    let base = match stored {
        Some(stored) => {
            check_same_run(&stored, method.as_deref(), &args.data)?;
            stored
        }
        None => {
            // How a file is read may decide whether it is a table or images, which decides on
            // the defaults of everything else.
            let usual = |kind| data.preset_for(chosen, &args.data, kind, preset);
            let draft = overlaid(usual(DataKind::Table)?, &layers)?;
            let kind = data.kind(&read_options(&draft.data))?;
            with_net(usual(kind)?, net)
        }
    };
    let config = overlaid(base, &layers)?;
    let is_file = matches!(data, DataName::File(_));
    Ok(FitSettings {
        said: is_new.then_some(layers),
        preset,
        config,
        data,
        folder,
        held_out: HeldOutSettings {
            folds: args.folds.map(usize::from),
            repeats: usize::from(args.repeats),
            // Built-in data has a test set of its own.
            wanted: !args.no_crossfit && (is_file || args.folds.is_some()),
            compare: !args.no_compare,
        },
        place: args.place.clone(),
    })
}

impl FitSettings {
    /// Lets the data decide on what was left open: the size of the network, weights, length.
    pub fn suit(&mut self, rows: &Dataset) -> Result<()> {
        if let Some(layers) = &self.said {
            let config = &self.config;
            let kind = match rows.layout {
                Layout::Columns(_) => DataKind::Table,
                Layout::Image { .. } => DataKind::Images,
            };
            let (method, source) = (config.method.name(), &config.data.source);
            let usual = self.data.preset_for(method, source, kind, self.preset)?;
            let net = named_net(layers.iter().map(|layer| &layer.settings));
            let usual = with_net(usual, net);
            let uses_all_labels = config.data.labels == 0;
            self.config = overlaid(
                usual.with_data_dependent_defaults(rows, uses_all_labels),
                layers,
            )?;
        }
        Ok(())
    }
}

/// The network that settings ask for, the last of them first; it decides on the defaults of sizes.
pub fn named_net<'a>(settings: impl DoubleEndedIterator<Item = &'a Table>) -> Option<&'a str> {
    let mut models = settings.rev().filter_map(|settings| settings.get("model"));
    models.find_map(|model| model.as_table()?.get("net")?.as_str())
}

/// Defaults for the network that was asked for.
pub fn with_net(config: RunConfig, net: Option<&str>) -> RunConfig {
    match net {
        Some(net) => config.with_net(net),
        None => config,
    }
}

fn overlaid(base: RunConfig, layers: &[Layer]) -> Result<RunConfig> {
    let overlay =
        |config: RunConfig, layer: &Layer| Ok(config.overlaid(&layer.settings, &layer.context)?);
    layers.iter().try_fold(base, overlay)
}

/// The settings of the run in the folder, if it is to go on.
fn stored(folder: &RunFolder, resume: bool) -> Result<Option<RunConfig>> {
    match (folder.is_started(), resume) {
        (true, true) => Ok(Some(folder.config()?)),
        (true, false) => bail!(
            "there is a run in {} already; go on with it with `--resume`, or choose another \
             folder with `--out`",
            folder.path().display()
        ),
        // It may have been killed before its first file was written.
        (false, _) => Ok(None),
    }
}

/// A run goes on with its own method and data.
fn check_same_run(stored: &RunConfig, method: Option<&str>, data: &str) -> Result<()> {
    let name = stored.method.name();
    if let Some(method) = method.filter(|method| *method != name) {
        bail!(
            "the run was started with `--method {name}` and cannot go on with `{method}`; start \
             another run with another `--out`"
        );
    }
    // The file may have moved, or be named from another folder.
    let file_name = |path: &str| Path::new(path).file_name().map(ToOwned::to_owned);
    if file_name(&stored.data.source) != file_name(data) {
        bail!(
            "the run was started on `{}`, not on `{data}`; start another run with another `--out`",
            stored.data.source
        );
    }
    Ok(())
}

/// `--paper` is how `--preset paper` was written at first.
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
        let settings = text
            .parse()
            .with_context(|| format!("{context} is not a file of TOML settings"))?;
        layers.push(Layer { context, settings });
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

/// Takes the method's name out of settings: `method = "pc"`, or `name` in `[method]`.
fn take_method(settings: &mut Table) -> Option<String> {
    let name = match settings.get_mut("method")? {
        Value::String(_) => settings.remove("method"),
        Value::Table(method) => method.remove("name"),
        _ => None,
    };
    name.and_then(|name| name.as_str().map(String::from))
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
        // Steps from a file would win otherwise.
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
