//! 1. Train on 1,000 points of which 6 have labels, and measure the result.
//!
//! ```text
//! cargo run --release -p cpcvae --example 01-half-moon
//! ```

use cpcvae::prelude::*;
use cpcvae::train::{StepReport, TrainingInfo};
use std::path::Path;

/// Prints the progress of training. All methods of `Watch` and `Observer` have a default.
struct Printer;

impl Watch for Printer {
    fn training(&self, _: &TrainingInfo) -> Box<dyn Observer> {
        Box::new(Printer)
    }
}

impl Observer for Printer {
    fn on_step(&mut self, report: &StepReport<'_>) {
        if report.step.is_multiple_of(500) {
            // The names of the terms are those in metrics.jsonl and docs/methods/cpc.md.
            let terms = report.terms.iter();
            let terms: Vec<String> = terms.map(|(name, v)| format!("{name} {v:.3}")).collect();
            println!("step {:>4}: {}", report.step, terms.join(", "));
        }
    }
}

fn main() -> Result<()> {
    // Defaults depend on the method, the data and the preset; here the paper's.
    // `folder("runs/moon")` would write checkpoints there, and `resume(true)` resume from them.
    let cpc = Cpc::new().preset(Preset::Paper).seed(1).steps(2000);

    // A `Source` has rows, optionally test rows, and optionally a split that says which labels
    // training may see. Here every row has its class, and the split reveals six of them: three
    // along each arc, as in the first figure of the paper.
    let source = cpc.open("half-moon", Path::new("."))?;
    let fitted = cpc.fit_watched(source, &Printer)?;

    // Test rows do not influence training: in this setting they are the unlabelled rows, whose
    // labels training never saw.
    let report = fitted.report();
    if let Some(test) = &report.test {
        println!(
            "{} steps in {:.1} s; accuracy on {} test rows {:.1} %, ELBO {:.2} nats a row",
            report.fit.steps,
            report.fit.seconds,
            test.labelled,
            100.0 * test.accuracy.unwrap_or_default(),
            test.elbo.unwrap_or_default()
        );
        println!("confusion, true class by predicted: {:?}", test.confusion);
    }
    Ok(())
}
