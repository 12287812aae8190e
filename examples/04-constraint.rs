//! 4. State the prediction constraint itself, and let training find its multiplier.
//!
//! ```text
//! cargo run --release -p cpcvae --example 04-constraint
//! ```
//!
//! The paper's problem is: the best generative model among those whose prediction loss on the
//! labelled rows is at most epsilon. lambda is only a means to it (docs/methods/pc.md).

use cpcvae::config::{RunConfig, parse_settings};
use cpcvae::device::device;
use cpcvae::method::DataKind;
use cpcvae::run::{RunFolder, run};
use cpcvae::train::Silent;
use cpcvae_data::{HalfMoon, HalfMoonLabels};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let source = HalfMoon {
        labels: 100,
        setting: HalfMoonLabels::Random,
        ..HalfMoon::default()
    }
    .generate()?;
    let defaults = RunConfig::defaults("pc", DataKind::Table, "half-moon")?;
    let folder = tempfile::tempdir()?;

    println!("epsilon  loss reached  satisfied  lambda  test accuracy  ELBO");
    for epsilon in [0.5, 0.1, 0.02] {
        // Settings can be laid over the defaults as text, as `--set` and files do. An unknown
        // key is an error that names the nearest one.
        let settings = [
            "constraint.measure=loss".to_string(), // or accuracy
            format!("constraint.target={epsilon}"),
            "constraint.solver=dual".to_string(), // or sequence: whole trainings, larger lambdas
            "method.prediction_weight=1".to_string(), // where lambda starts
            "train.steps=2000".to_string(),
        ];
        let config = defaults.overlaid(&parse_settings(&settings)?, "example")?;
        let run_folder = RunFolder::at(folder.path().join(format!("epsilon-{epsilon}")));
        let report = run(
            &config,
            source.clone(),
            &run_folder,
            &device("cpu")?,
            &mut Silent,
        )?;

        // Measured on all labelled rows at the end, with 20 draws of the code a row. Training
        // does not fail when the constraint is missed: whoever states one has to read this.
        let constraint = report.fit.constraint.ok_or("a constraint was stated")?;
        let test = report.test.ok_or("half-moon has test rows")?;
        println!(
            "{epsilon:>7}  {:>12.4}  {:>9}  {:>6.2}  {:>11.1} %  {:>4.2}",
            constraint.value,
            constraint.satisfied,
            constraint.multiplier,
            100.0 * test.accuracy.unwrap_or(0.0),
            test.elbo.unwrap_or(f64::NAN)
        );
    }
    println!("A smaller epsilon needs a larger lambda, and costs some of the evidence.");
    Ok(())
}
