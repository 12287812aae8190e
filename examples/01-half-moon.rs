//! 1. Train on 1,000 points of which 6 have labels, and measure the result.
//!
//! ```text
//! cargo run --release -p cpcvae --example 01-half-moon
//! ```
//!
//! Every program that uses the library has these four parts: data, settings, a run, a report.

use cpcvae::config::RunConfig;
use cpcvae::device::device;
use cpcvae::method::DataKind;
use cpcvae::run::{RunFolder, run};
use cpcvae::train::{Observer, StepReport};
use cpcvae_data::{HalfMoon, HalfMoonLabels};

/// Hears how training goes. All methods of `Observer` have a default; `Silent` overrides none.
struct Printer;

impl Observer for Printer {
    fn on_step(&mut self, report: &StepReport<'_>) {
        if report.step.is_multiple_of(500) {
            // The names of the terms are those of metrics.jsonl and of docs/methods/cpc.md.
            let terms = report.terms.iter();
            let terms: Vec<String> = terms.map(|(name, v)| format!("{name} {v:.3}")).collect();
            println!("step {:>4}: {}", report.step, terms.join(", "));
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Data. A `Source` has rows, perhaps test rows, and perhaps a split that says which labels
    // training may see. Here every row carries its class, and the split reveals six of them:
    // three along each arc, as in the first figure of the paper.
    let source = HalfMoon {
        rows: 1000,
        labels: 6,
        setting: HalfMoonLabels::EvenlySpaced,
        ..HalfMoon::default()
    }
    .generate()?;

    // Settings. The defaults depend on the method and on the kind of data, and every key has a
    // value. The name `half-moon` only matters in that its columns are not standardised.
    let mut config = RunConfig::defaults("cpc", DataKind::Table, "half-moon")?;
    config.seed = 1;
    config.train.steps = 2000;

    // The run. All files go into one folder; here a temporary one. Calling `run` again with the
    // same folder would go on from its last checkpoint.
    let folder = tempfile::tempdir()?;
    let run_folder = RunFolder::at(folder.path().join("run"));
    let report = run(&config, source, &run_folder, &device("cpu")?, &mut Printer)?;

    // The report. Test rows are those that nothing in training chose by: in this setting they
    // are the unlabelled rows, whose labels training never saw.
    let test = report.test.ok_or("half-moon has test rows")?;
    println!(
        "{} steps in {:.1} s; accuracy on {} test rows {:.1} %, ELBO {:.2} nats a row",
        report.fit.steps,
        report.fit.seconds,
        test.labelled,
        100.0 * test.accuracy.ok_or("cpc predicts classes")?,
        test.elbo.ok_or("cpc has a generative part")?
    );
    println!("confusion, true class by predicted: {:?}", test.confusion);
    Ok(())
}
