//! `cpcvae quality`: how well a model describes its data.

mod page;
mod text;

use crate::args::QualityArgs;
use crate::interrupt;
use crate::opened;
use crate::printer::Printer;
use crate::progress::Progress;
use anyhow::{Context, Result, bail};
use cpcvae::config::RunConfig;
use cpcvae::describe::{
    Effort, Judge, Parts, check_comparable, check_generative, describe, train_classifier,
    train_plain_vae,
};
use cpcvae::device::Device;
use cpcvae::run::{RunFolder, Trained};
use cpcvae_data::{BuiltIn, DataConfig, DataName, HalfMoonLabels, Layout, Source};
use serde_json::json;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A run and what it is measured with.
struct Bench<'a> {
    config: &'a RunConfig,
    folder: &'a RunFolder,
    device: &'a Device,
    printer: Printer,
    stop: Arc<AtomicBool>,
}

/// Measures and reports.
pub fn run(args: &QualityArgs, printer: Printer) -> Result<ExitCode> {
    if !(args.threshold > 0.0 && args.threshold <= 1.0) {
        bail!(
            "--threshold is {}; a probability is above 0 and at most 1",
            args.threshold
        );
    }
    let model = opened::model(&args.model)?;
    let trained = model.trained();
    check_generative(trained)?;
    let is_image = matches!(trained.card.preprocess.layout, Layout::Image { .. });
    if args.page.is_some() && !is_image {
        bail!("--page draws images, and this model was trained on a table; leave it out");
    }
    let folder = RunFolder::at(&args.model.run);
    let config = model.config().clone();
    let source = source(args, &config, printer)?;
    let parts = Parts::new(source, &folder, trained, args.rows as usize)?;
    let device = cpcvae::device::device(&args.model.place.device)?;
    let bench = Bench {
        config: &config,
        folder: &folder,
        device: &device,
        printer,
        stop: interrupt::watch()?,
    };
    let stopped = || {
        printer.note("stopped; the same command goes on from here");
        Ok(interrupt::exit_code())
    };
    let beside = match bench.beside(args, trained, &parts)? {
        Beside::Stopped => return stopped(),
        Beside::None => None,
        Beside::Run(beside) => Some(*beside),
    };
    let judge = match parts.has_classes() {
        true => match bench.judge(&parts)? {
            None => return stopped(),
            judge => judge,
        },
        false => None,
    };
    printer.note("drawing samples and scoring rows");
    let effort = Effort {
        draws: args.draws as usize,
        samples: args.samples as usize,
        threshold: args.threshold,
        most_codes: args.max_draws as usize,
        noisy: args.noisy,
    };
    let (description, drawn) = describe(trained, &parts, beside.as_ref(), judge.as_ref(), effort)?;
    let mut value = serde_json::to_value(&description)?;
    value["run"] = json!(args.model.run);
    value["data"] = json!(args.data);
    value["method"] = json!(trained.card.method);
    value["seed"] = json!(args.model.seed);
    if is_image {
        let usual = || folder.path().join("quality").join("page.png");
        let path = args.page.clone().unwrap_or_else(usual);
        page::draw(trained, &parts, &drawn, &path)?;
        printer.note(format!("wrote {}", path.display()));
        value["page"] = json!(path);
    }
    let name = args.beside.as_ref().map(|path| path.display().to_string());
    let name = name.unwrap_or_else(|| "the plain VAE".into());
    let text = text::text(&trained.card, &args.data, &description, effort, &name);
    printer.answer(&text, &value)?;
    Ok(ExitCode::SUCCESS)
}

/// The data of the run, with test rows that it has not learnt from.
fn source(args: &QualityArgs, config: &RunConfig, printer: Printer) -> Result<Source> {
    let name = DataName::parse(&args.data)?;
    let own = &config.data.source;
    let is_file = |name: &str| BuiltIn::named(name).is_none();
    if args.data != *own && !(is_file(&args.data) && is_file(own)) {
        bail!(
            "the run was trained on `{own}`, not on `{}`; what it is measured with is trained on \
             the same rows, so name `{own}`",
            args.data
        );
    }
    let mut data = config.data.clone();
    data.source = args.data.clone();
    let data_dir = args.model.place.data_dir();
    let needs_labels = config.method.uses_labels();
    let open = |data: &DataConfig| name.open(data, config.seed, &data_dir, needs_labels);
    let mut source =
        open(&data).with_context(|| format!("`{}` cannot be opened as the run did", args.data))?;
    let evenly_spaced = data.half_moon_labels == HalfMoonLabels::EvenlySpaced;
    if name == DataName::BuiltIn(BuiltIn::HalfMoon) && evenly_spaced {
        printer.note(
            "in the paper's setting half-moon's test rows are training rows; new ones are measured",
        );
        data.half_moon_labels = HalfMoonLabels::Random;
        source.test = open(&data)?.test;
    }
    Ok(source)
}

/// What log p(x) is compared with.
enum Beside {
    /// Nothing: the run is a plain VAE itself.
    None,
    Run(Box<Trained>),
    Stopped,
}

impl Bench<'_> {
    fn beside(&self, args: &QualityArgs, trained: &Trained, parts: &Parts) -> Result<Beside> {
        let run = |trained| Beside::Run(Box::new(trained));
        if let Some(path) = &args.beside {
            return self.opened(path, args, trained).map(run);
        }
        if trained.card.method == "vae" {
            return Ok(Beside::None);
        }
        let mut progress = self.progress("plain VAE");
        let plain = train_plain_vae(parts, self.config, self.folder, self.device, &mut progress);
        progress.finish();
        let plain = plain.context("the plain VAE beside the run could not be trained")?;
        Ok(plain.map_or(Beside::Stopped, run))
    }

    fn opened(&self, path: &Path, args: &QualityArgs, trained: &Trained) -> Result<Trained> {
        let seed = u64::from(args.model.seed);
        let precision = args.model.place.precision();
        let other = Trained::open_with(&RunFolder::at(path), self.device, precision, seed)
            .with_context(|| format!("the model of {} cannot be opened", path.display()))?;
        check_generative(&other)?;
        check_comparable(trained, &other)?;
        Ok(other)
    }

    fn judge(&self, parts: &Parts) -> Result<Option<Judge>> {
        let mut progress = self.progress("classifier");
        let judge = train_classifier(parts, self.config, self.folder, self.device, &mut progress);
        progress.finish();
        judge.context("the classifier that judges samples could not be trained")
    }

    fn progress(&self, name: &str) -> Progress {
        Progress::new(name, self.printer.quiet, Arc::clone(&self.stop))
    }
}
