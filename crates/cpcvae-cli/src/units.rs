//! Figures in the units of the user's table: models see standardised columns.

use cpcvae::infer::Evaluation;
use cpcvae::prepare::Preprocess;

/// The evaluation with its ELBO, and the error of a single continuous label, in the user's
/// units. Errors over several label dimensions stay in standard deviations: the dimensions may
/// have different units.
pub fn in_user_units(mut evaluation: Evaluation, preprocess: &Preprocess) -> Evaluation {
    let shift = f64::from(preprocess.log_density_shift());
    evaluation.elbo = evaluation.elbo.map(|elbo| elbo + shift);
    if let Some([scale]) = preprocess
        .labels
        .as_ref()
        .map(|labels| labels.scale.as_slice())
    {
        evaluation.rmse = evaluation.rmse.map(|rmse| rmse * f64::from(*scale));
    }
    evaluation
}

/// The error of continuous labels in words; see [`in_user_units`] for its unit.
pub fn rmse(rmse: f64, labels: usize) -> String {
    match labels {
        0 | 1 => format!("{rmse:.4}"),
        _ => format!("{rmse:.4} standard deviations"),
    }
}

/// The figures of an evaluation in a line, for a model of that many continuous labels.
pub fn line(evaluation: &Evaluation, labels: usize) -> String {
    let figures = [
        evaluation
            .accuracy
            .map(|share| format!("accuracy {}", crate::printer::percent(share))),
        evaluation
            .rmse
            .map(|error| format!("RMSE {}", rmse(error, labels))),
        evaluation.r_squared.map(|share| format!("R2 {share:.4}")),
        evaluation
            .log_loss
            .map(|loss| format!("log-loss {loss:.4}")),
        evaluation
            .elbo
            .map(|elbo| format!("ELBO {elbo:.3} nats a row")),
    ];
    let figures: Vec<String> = figures.into_iter().flatten().collect();
    format!(
        "{} ({} rows)",
        figures.join(", "),
        crate::printer::count(evaluation.rows)
    )
}
