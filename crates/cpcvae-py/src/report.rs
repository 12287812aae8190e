//! What is known about a fitted model, as JSON for Python.

use cpcvae::estimator::{Fitted, HeldOutState};
use cpcvae::infer::quality::share;
use serde_json::{Value, json};

/// The card, the voters, whether labels were held out.
pub(crate) fn about(fitted: &Fitted) -> Value {
    let held_out = match fitted.held_out() {
        HeldOutState::Measured => "measured".into(),
        HeldOutState::NotAsked => "not asked".into(),
        HeldOutState::Impossible(why) => format!("impossible: {why}"),
        HeldOutState::Stopped => "stopped".into(),
    };
    json!({
        "card": fitted.card(),
        "voters": fitted.voters(),
        "held_out": held_out,
    })
}

/// The reports of training and of held-out labels.
pub(crate) fn report(fitted: &Fitted) -> Value {
    json!({
        "fit": fitted.report().fit,
        "test": fitted.report().test,
        "likelihood": fitted.report().likelihood,
        "scale_floor": fitted.report().scale_floor,
        "labelled": fitted.split().labelled.len(),
        "unlabelled": fitted.split().unlabelled.len(),
        "held_out": fitted.calibration().held_out,
        "temperature": fitted.calibration().temperature,
        "details": fitted.held_out_details(),
        "suspects": fitted.suspects(),
        "voters": fitted.voters(),
    })
}

/// The method and its baselines on held-out labels, and the verdict; null if no labels were held
/// out.
pub(crate) fn comparison(fitted: &Fitted) -> Value {
    let Some(compared) = fitted.comparison() else {
        return Value::Null;
    };
    let methods: Vec<Value> = compared
        .methods()
        .map(|one| {
            let paired = compared.paired(one).filter(|_| one != &compared.ours);
            let interval = share(one.mean(), one.scores.len());
            json!({
                "method": one.name,
                "score": one.mean(),
                "interval": interval.map(|share| [share.low, share.high]),
                "ours_minus_this": paired.map(|paired| paired.difference),
                "difference_interval": paired.map(|paired| [paired.low, paired.high]),
                "p_value": paired.map(|paired| paired.p_value),
            })
        })
        .collect();
    let verdict = fitted.verdict();
    json!({
        "measure": compared.measure,
        "folds": compared.folds,
        "methods": methods,
        "verdict": verdict.as_ref().map(|verdict| &verdict.answer),
        "outcome": verdict.as_ref().map(|verdict| format!("{:?}", verdict.outcome)),
        "warnings": verdict.as_ref().map(|verdict| &verdict.warnings),
    })
}
