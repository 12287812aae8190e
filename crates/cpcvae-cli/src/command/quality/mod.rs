//! `cpcvae quality`: how well a model describes its data.

mod page;
mod text;

use crate::args::QualityArgs;
use crate::exit::ExitCode;
use crate::interrupt;
use crate::opened;
use crate::printer::Printer;
use crate::progress::Screen;
use anyhow::{Context, Result, bail};
use cpcvae::Error;
use cpcvae::describe::Effort;
use cpcvae::estimator::{Fitted, QualityOptions};
use cpcvae_data::Layout;
use serde_json::json;

/// Measures and reports.
pub(crate) fn run(args: &QualityArgs, printer: Printer) -> Result<ExitCode> {
    let model = opened::model(&args.model)?;
    let is_image = matches!(model.layout(), Layout::Image { .. });
    if args.page.is_some() && !is_image {
        bail!("--page draws images, and this model was trained on a table; leave it out");
    }
    let screen = Screen::new(printer.quiet, interrupt::watch()?).titled();
    let source = model
        .open_own_data(&args.data, &args.model.place.data_dir(), &screen)
        .with_context(|| format!("`{}` cannot be opened as the run did", args.data))?;
    let beside = args.beside.as_ref().map(|path| {
        let place = &args.model.place;
        Fitted::load_with(path, &place.device, place.precision())
            .with_context(|| format!("the model of {} cannot be opened", path.display()))
            .map(|other| other.with_seed(u64::from(args.model.seed)))
    });
    let beside = beside.transpose()?;
    let effort = Effort {
        draws: args.draws as usize,
        samples: args.samples as usize,
        threshold: args.threshold,
        most_codes: args.max_draws as usize,
        noisy: args.noisy,
    };
    let options = QualityOptions {
        rows: args.rows as usize,
        effort,
        beside: beside.as_ref(),
    };
    let found = match model.quality(source, options, &screen) {
        Err(Error::Stopped { .. }) => {
            printer.note("stopped; the same command resumes");
            return Ok(interrupt::exit_code());
        }
        found => found?,
    };
    let mut value = serde_json::to_value(&found.description)?;
    value["run"] = json!(args.model.run);
    value["data"] = json!(args.data);
    value["method"] = json!(model.card().method);
    value["seed"] = json!(args.model.seed);
    if is_image {
        let usual = || args.model.run.join("quality").join("page.png");
        let path = args.page.clone().unwrap_or_else(usual);
        page::draw(&model, &found, &path)?;
        printer.note(format!("wrote {}", path.display()));
        value["page"] = json!(path);
    }
    let name = args.beside.as_ref().map(|path| path.display().to_string());
    let name = name.unwrap_or_else(|| "the plain VAE".into());
    let text = text::text(model.card(), &args.data, &found.description, effort, &name);
    printer.answer(&text, &value)?;
    Ok(ExitCode::SUCCESS)
}
