//! 4. State the prediction constraint itself, and let training find its multiplier.
//!
//! ```text
//! cargo run --release -p cpcvae --example 04-constraint
//! ```
//!
//! The paper's problem is: the best generative model among those whose prediction loss on the
//! labelled rows is at most epsilon. lambda is only a means to it (docs/methods/pc.md).

use cpcvae::prelude::*;
use std::path::Path;

fn main() -> Result<()> {
    let source = Pc::new().labels(100).open("half-moon", Path::new("."))?;

    println!("epsilon  loss reached  satisfied  lambda  test accuracy  ELBO");
    for epsilon in [0.5, 0.1, 0.02] {
        // Any setting has a key. An unknown key is an error that names the nearest one.
        let pc = Pc::new()
            .set("constraint.measure", "loss") // or accuracy
            .set("constraint.target", epsilon)
            .set("constraint.solver", "dual") // or sequence: whole trainings, larger lambdas
            .prediction_weight(1.0) // where lambda starts
            .steps(2000)
            .hold_out(false);
        let fitted = pc.fit(&source)?;

        // Measured on all labelled rows at the end, with 20 draws of the code a row. Training does
        // not fail when the constraint is missed: check it here.
        let report = fitted.report();
        if let (Some(constraint), Some(test)) = (&report.fit.constraint, &report.test) {
            println!(
                "{epsilon:>7}  {:>12.4}  {:>9}  {:>6.2}  {:>11.1} %  {:>4.2}",
                constraint.value,
                constraint.satisfied,
                constraint.multiplier,
                100.0 * test.accuracy.unwrap_or_default(),
                test.elbo.unwrap_or_default()
            );
        }
    }
    println!("A smaller epsilon needs a larger lambda, and costs some of the evidence.");
    Ok(())
}
