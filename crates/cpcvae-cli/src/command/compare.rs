//! A comparison on held-out labels, as text and as JSON.

use crate::printer::percent;
use cpcvae::calibration::Calibration;
use cpcvae::compare::{Comparison, MethodScores, ScoreKind};
use cpcvae::estimator::Fitted;
use cpcvae::infer::quality::share;
use cpcvae_lab::table::TextTable;
use serde_json::{Value, json};

/// Results on held-out labels.
pub(super) struct Compared<'a> {
    calibration: &'a Calibration,
    comparison: &'a Comparison,
    has_baselines: bool,
}

impl<'a> Compared<'a> {
    /// Those of a model; `None` if no labels were held out.
    pub(super) fn of(fitted: &'a Fitted) -> Option<Self> {
        Some(Self {
            calibration: fitted.calibration(),
            comparison: fitted.comparison()?,
            has_baselines: fitted.verdict().is_some(),
        })
    }

    /// The line of the summary.
    pub(super) fn line(&self) -> String {
        let Some(figures) = &self.calibration.held_out else {
            return String::new();
        };
        let rows = figures.rows;
        let kept = match self.comparison.never_held_out {
            0 => String::new(),
            kept => format!("; {kept} more are the only ones of their class"),
        };
        let folds = self.comparison.folds.min(rows);
        let from = format!("{rows} labels, held out in {folds} folds{kept}");
        match figures.accuracy {
            Some(accuracy) => format!(
                "held out    accuracy {} (95% interval {} to {}), log-loss {:.4} at temperature {:.2} ({from})\n",
                percent(accuracy.value),
                percent(accuracy.low),
                percent(accuracy.high),
                figures
                    .calibrated
                    .map_or(f64::NAN, |figures| figures.log_loss),
                self.calibration.temperature
            ),
            None => {
                let errors = figures.absolute_error.iter();
                let errors: Vec<String> = errors.map(|error| format!("{error:.4}")).collect();
                format!("held out    mean error {} ({from})\n", errors.join(", "))
            }
        }
    }

    /// Table and verdict; empty if there was no comparison.
    pub(super) fn text(&self) -> String {
        if !self.has_baselines {
            return String::new();
        }
        let table = TextTable {
            header: match self.comparison.measure {
                ScoreKind::Accuracy => vec!["method", "held-out accuracy", "95% interval"],
                ScoreKind::Error => vec!["method", "held-out mean error"],
            }
            .into_iter()
            .map(String::from)
            .collect(),
            rows: self
                .comparison
                .methods()
                .map(|one| self.cells(one))
                .collect(),
        };
        let verdict = self.comparison.verdict();
        let mut text = format!("\n{}\n{}\n", table.to_text(), verdict.answer);
        for warning in &verdict.warnings {
            text += &format!("warning: {warning}\n");
        }
        text
    }

    fn cells(&self, method: &MethodScores) -> Vec<String> {
        let (mean, rows) = (method.mean(), method.scores.len());
        let figures = match self.comparison.measure {
            ScoreKind::Accuracy => {
                let interval = share(mean, rows).map_or(String::new(), |share| {
                    format!("{} to {}", percent(share.low), percent(share.high))
                });
                vec![percent(mean), interval]
            }
            ScoreKind::Error => vec![format!("{:.4}", -mean)],
        };
        [vec![method.name.clone()], figures].concat()
    }

    /// The same as JSON.
    pub(super) fn in_json(&self) -> Value {
        let comparison = self.comparison;
        let methods: Vec<Value> = comparison
            .methods()
            .map(|one| {
                let name = match comparison.measure {
                    ScoreKind::Accuracy => "accuracy",
                    ScoreKind::Error => "minus_mean_error",
                };
                let paired = comparison.paired(one).filter(|_| one != &comparison.ours);
                json!({
                    "method": one.name,
                    name: one.mean(),
                    "ours_minus_this": paired.map(|paired| json!({
                        "difference": paired.difference,
                        "low": paired.low,
                        "high": paired.high,
                        "p_value": paired.p_value,
                    })),
                })
            })
            .collect();
        let verdict = self.has_baselines.then(|| comparison.verdict());
        json!({
            "figures": self.calibration.held_out,
            "temperature": self.calibration.temperature,
            "folds": comparison.folds,
            "methods": methods,
            "verdict": verdict.as_ref().map(|verdict| &verdict.answer),
            "warnings": verdict.as_ref().map(|verdict| &verdict.warnings),
        })
    }
}
