//! `cpcvae evaluate`: evaluation on rows whose labels are known.

use crate::args::EvaluateArgs;
use crate::exit::ExitCode;
use crate::opened;
use crate::printer::{Printer, count};
use crate::units::rmse;
use anyhow::{Result, bail};
use cpcvae::estimator::{LabelColumns, WantedLabels};
use cpcvae::infer::Evaluation;
use cpcvae::model::Target;
use cpcvae_lab::figure::confusion_matrix;
use cpcvae_lab::table::TextTable;
use serde_json::json;

/// Evaluates and reports.
pub(crate) fn run(args: &EvaluateArgs, printer: Printer) -> Result<ExitCode> {
    let model = opened::model(&args.model)?;
    let columns = LabelColumns {
        names: args.label.clone(),
        unlabelled_value: args.unlabeled_value.clone(),
    };
    let wanted = WantedLabels::All(columns);
    let rows = opened::rows(&model, &args.rows, &args.model.place, wanted)?.data;
    let card = model.card();
    let evaluation = model.evaluate(&rows)?;
    if model.is_training_file(&args.rows.data) {
        printer.note(format!(
            "note: the run was trained on rows of this file; figures on the rows that were kept \
             for its test are in {}",
            args.model.run.join("report.json").display()
        ));
    }
    let classes = model.classes();
    if let Some(path) = &args.figure {
        if classes.is_empty() {
            bail!("--figure draws a confusion matrix, and this model predicts no classes");
        }
        confusion_matrix(classes, &evaluation.confusion, path)?;
        printer.note(format!("wrote {}", path.display()));
    }
    let mut value = serde_json::to_value(&evaluation)?;
    value["run"] = json!(args.model.run);
    value["data"] = json!(args.rows.data);
    value["method"] = json!(card.method);
    if !classes.is_empty() {
        value["classes"] = json!(classes);
    }
    printer.answer(&as_text(&evaluation, classes, &card.shape.target), &value)?;
    Ok(ExitCode::SUCCESS)
}

fn as_text(evaluation: &Evaluation, classes: &[String], target: &Target) -> String {
    let mut text = format!(
        "rows      {} ({} with a label)\n",
        count(evaluation.rows),
        count(evaluation.labelled)
    );
    let figures = [
        (
            "accuracy",
            evaluation
                .accuracy
                .map(|share| format!("{:.2}%", 100.0 * share)),
        ),
        (
            "log-loss",
            evaluation.log_loss.map(|loss| format!("{loss:.4} nats")),
        ),
        (
            "RMSE",
            evaluation.rmse.map(|error| rmse(error, target.outputs())),
        ),
        (
            "R2",
            evaluation.r_squared.map(|share| format!("{share:.4}")),
        ),
        (
            "ELBO",
            evaluation.elbo.map(|elbo| format!("{elbo:.4} nats a row")),
        ),
    ];
    for (name, figure) in figures {
        if let Some(figure) = figure {
            text += &format!("{name:<9} {figure}\n");
        }
    }
    if evaluation.labelled > 0 && !classes.is_empty() {
        text += "\neach class against the others\n";
        text += &each_class(evaluation, classes).to_text();
        text += "\nconfusion matrix (a row is the true class, a column the predicted one)\n";
        text += &confusion(evaluation, classes).to_text();
    }
    text
}

fn each_class(evaluation: &Evaluation, classes: &[String]) -> TextTable {
    let figure = |value: Option<f64>| value.map_or("-".into(), |value| format!("{value:.3}"));
    let header = ["class", "rows", "precision", "recall", "F1", "AUC"];
    let rows = classes
        .iter()
        .zip(&evaluation.per_class)
        .map(|(class, of_class)| {
            let figures = [
                of_class.precision,
                of_class.recall,
                of_class.f1,
                of_class.auc,
            ];
            let first = [class.clone(), of_class.rows.to_string()];
            first.into_iter().chain(figures.map(figure)).collect()
        });
    TextTable {
        header: header.map(String::from).to_vec(),
        rows: rows.collect(),
    }
}

fn confusion(evaluation: &Evaluation, classes: &[String]) -> TextTable {
    let header = std::iter::once("true".to_string()).chain(classes.iter().cloned());
    let rows = classes
        .iter()
        .zip(&evaluation.confusion)
        .map(|(class, counts)| {
            let counts = counts.iter().map(u64::to_string);
            std::iter::once(class.clone()).chain(counts).collect()
        });
    TextTable {
        header: header.collect(),
        rows: rows.collect(),
    }
}
