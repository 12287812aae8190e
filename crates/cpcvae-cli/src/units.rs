//! Formats figures with units.

use cpcvae::distribution::Family;
use cpcvae::infer::Evaluation;

/// The error of continuous labels in words: in the label's unit, or in standard deviations
/// where there are several labels.
pub(crate) fn rmse(rmse: f64, labels: usize) -> String {
    match labels {
        0 | 1 => format!("{rmse:.4}"),
        _ => format!("{rmse:.4} standard deviations"),
    }
}

/// A likelihood and its smallest standard deviation in words.
pub(crate) fn likelihood(family: Family, scale_floor: f64) -> String {
    match family {
        Family::Bernoulli => "bernoulli".into(),
        Family::Normal => format!("normal, sigma at least {scale_floor}"),
        Family::NoiseNormal => format!("noise-normal, sigma at least {scale_floor}"),
    }
}

/// The figures of an evaluation in a line, for a model of that many continuous labels.
pub(crate) fn line(evaluation: &Evaluation, labels: usize) -> String {
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
