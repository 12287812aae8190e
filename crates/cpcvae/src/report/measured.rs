//! Sections with figures: verdict, methods, calibration, confusion, training.

use super::svg::{Bar, Plot, bars, colour, short};
use super::text::{count, escaped, percent, section, table};
use crate::compare::ScoreKind;
use crate::estimator::{Fitted, HeldOutState};
use crate::infer::quality::share;
use cpcvae_data::Dataset;
use serde_json::Value;
use std::fmt::Write;

/// With more classes than this, no matrix is written.
const MATRIX_CLASSES: usize = 26;
/// The most doubtful labels that are listed.
const SUSPECTS: usize = 20;
/// The most points of a curve.
const CURVE_POINTS: usize = 300;

/// The verdict on unlabelled rows in words, with warnings.
pub(super) fn verdict(fitted: &Fitted) -> String {
    let Some(verdict) = fitted.verdict() else {
        let why = match fitted.held_out() {
            HeldOutState::Impossible(why) => format!("No labels could be held out: {why}."),
            HeldOutState::Stopped => "Fitting was stopped before all labels were held out.".into(),
            HeldOutState::Measured => return String::new(),
            HeldOutState::NotAsked => return String::new(),
        };
        return section("Verdict", "", &format!("<p>{}</p>", escaped(&why)));
    };
    let mut text = format!("<p class=\"answer\">{}</p>", escaped(&verdict.answer));
    for warning in &verdict.warnings {
        let _ = write!(text, "<p class=\"warning\">{}</p>", escaped(warning));
    }
    let about =
        "Models are trained without some of the labels, fold by fold, and measured on them.";
    section("Verdict", about, &text)
}

/// The method and its baselines on held-out labels.
pub(super) fn methods(fitted: &Fitted) -> String {
    let Some(comparison) = fitted.comparison() else {
        return String::new();
    };
    let (title, intervals) = match comparison.measure {
        ScoreKind::Accuracy => ("Accuracy", " Intervals cover 95%."),
        ScoreKind::Error => ("Error", ""),
    };
    let about = format!(
        "On {} labels that were held out in {} folds; all methods answer for the same \
         rows.{intervals}",
        count(comparison.ours.scores.len()),
        comparison.folds
    );
    let content = match comparison.measure {
        ScoreKind::Accuracy => {
            let rows = comparison.methods().map(|method| {
                let (mean, rows) = (method.mean(), method.scores.len());
                let interval = share(mean, rows).map(|share| (share.low, share.high));
                Bar {
                    name: method.name.clone(),
                    value: mean,
                    interval,
                }
            });
            bars(&rows.collect::<Vec<_>>())
        }
        ScoreKind::Error => table(
            &["method", "mean error"],
            comparison
                .methods()
                .map(|method| vec![method.name.clone(), format!("{:.4}", -method.mean())]),
        ),
    };
    section(title, &about, &content)
}

/// A reliability diagram.
pub(super) fn calibration(fitted: &Fitted) -> String {
    let details = fitted.held_out_details();
    let Some(details) = details.filter(|details| !details.reliability.is_empty()) else {
        return String::new();
    };
    let mut plot = Plot::new(
        (430.0, 330.0),
        (0.0, 1.0),
        (0.0, 1.0),
        ("stated probability", "share of right answers"),
    );
    plot.segment((0.0, 0.0), (1.0, 1.0), "diagonal");
    let all: usize = details.reliability.iter().map(|bin| bin.rows).sum();
    for bin in &details.reliability {
        if let Some(share) = share(bin.accuracy, bin.rows) {
            plot.segment(
                (bin.confidence, share.low),
                (bin.confidence, share.high),
                "whisker",
            );
        }
        let radius = 3.0 + 9.0 * (bin.rows as f64 / all.max(1) as f64).sqrt();
        let look = format!("fill=\"{}\" fill-opacity=\"0.75\"", colour(0));
        let title = format!(
            "{} rows: stated {}, right {}",
            bin.rows,
            percent(bin.confidence),
            percent(bin.accuracy)
        );
        plot.dot((bin.confidence, bin.accuracy), radius, &look, &title);
    }
    let calibration = fitted.calibration();
    let figures = calibration.held_out.as_ref();
    let figures = figures.and_then(|figures| figures.stated.zip(figures.calibrated));
    let mut about =
        "Held-out answers in ten bins; dots are larger where there are more rows. On the \
                     dashed line, probabilities hold."
            .to_string();
    if let Some((stated, calibrated)) = figures {
        let _ = write!(
            about,
            " Calibration error {:.3}, {:.3} before calibration (temperature {:.2}).",
            calibrated.calibration_error, stated.calibration_error, calibration.temperature
        );
    }
    section("Calibration", &about, &plot.finish("reliability diagram"))
}

/// Held-out values against predictions.
pub(super) fn predicted(fitted: &Fitted) -> String {
    let values = fitted.held_out_details().map(|details| &details.values);
    let Some(values) = values.filter(|values| !values.is_empty()) else {
        return String::new();
    };
    let all = || values.iter().flatten().copied();
    let range = (
        all().fold(f64::INFINITY, f64::min),
        all().fold(f64::NEG_INFINITY, f64::max),
    );
    let names = fitted.card().shape.target.names();
    let name = names.first().map_or("label", String::as_str);
    let axes = (name, "answer without that label");
    let mut plot = Plot::new((430.0, 330.0), range, range, axes);
    plot.segment((range.0, range.0), (range.1, range.1), "diagonal");
    let look = format!("fill=\"{}\" fill-opacity=\"0.6\"", colour(0));
    for [truth, answer] in values {
        let title = format!("{}: answer {}", short(*truth), short(*answer));
        plot.dot((*truth, *answer), 3.0, &look, &title);
    }
    let about = "Labels that were held out, and what models that had not seen them answered. On the \
                 dashed line, answers are exact.";
    section("Answers", about, &plot.finish("answers against labels"))
}

/// The confusion matrix: of held-out rows, otherwise of test rows.
pub(super) fn confusion(fitted: &Fitted) -> String {
    let held_out = fitted.held_out_details().map(|details| &details.confusion);
    let held_out = held_out.filter(|matrix| !matrix.is_empty());
    let test = fitted.report().test.as_ref().map(|test| &test.confusion);
    let (matrix, rows) = match (held_out, test) {
        (Some(matrix), _) => (matrix, "held-out"),
        (None, Some(matrix)) if !matrix.is_empty() => (matrix, "test"),
        _ => return String::new(),
    };
    let classes = fitted.classes();
    let about = format!("Rows: the true class of {rows} rows. Columns: the predicted one.");
    if classes.len() > MATRIX_CLASSES {
        return section("Confusion", &about, &largest_confusions(matrix, classes));
    }
    let mut text = String::from("<div class=\"scroll\"><table class=\"matrix\"><tr><th></th>");
    for name in classes {
        let _ = write!(text, "<th>{}</th>", escaped(name));
    }
    text += "</tr>";
    for (class, counts) in matrix.iter().enumerate() {
        let all: u64 = counts.iter().sum();
        let _ = write!(text, "<tr><th>{}</th>", escaped(&classes[class]));
        for (predicted, rows) in counts.iter().enumerate() {
            let share = *rows as f64 / all.max(1) as f64;
            let hue = if predicted == class {
                "0,114,178"
            } else {
                "213,94,0"
            };
            let ink = if share > 0.55 { "#fff" } else { "#1c2329" };
            let shown = if *rows == 0 {
                String::new()
            } else {
                rows.to_string()
            };
            let _ = write!(
                text,
                "<td style=\"background:rgba({hue},{share:.2});color:{ink}\" title=\"{}\">{shown}</td>",
                percent(share)
            );
        }
        text += "</tr>";
    }
    text += "</table></div>";
    section("Confusion", &about, &text)
}

/// The pairs of classes that are confused most often.
fn largest_confusions(matrix: &[Vec<u64>], classes: &[String]) -> String {
    let pairs = matrix.iter().enumerate().flat_map(|(class, counts)| {
        let others = counts.iter().enumerate();
        let others = others.filter(move |(predicted, rows)| *predicted != class && **rows > 0);
        others.map(move |(predicted, rows)| (*rows, class, predicted))
    });
    let mut pairs: Vec<(u64, usize, usize)> = pairs.collect();
    pairs.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.cmp(b)));
    let rows = pairs.into_iter().take(15).map(|(rows, class, predicted)| {
        vec![
            classes[class].clone(),
            classes[predicted].clone(),
            rows.to_string(),
        ]
    });
    table(&["true class", "predicted", "rows"], rows)
}

/// Labels that are probably wrong.
pub(super) fn suspects(fitted: &Fitted, data: &Dataset) -> String {
    let found = fitted.suspects();
    if found.is_empty() {
        return String::new();
    }
    let ids = data.ids.as_ref();
    let name = ids.map_or("row", |ids| ids.name.as_str());
    let rows = found.iter().take(SUSPECTS).map(|suspect| {
        let id = ids.and_then(|ids| ids.of_row.get(suspect.row).cloned());
        vec![
            id.unwrap_or_else(|| suspect.row.to_string()),
            suspect.label.clone(),
            percent(suspect.probability),
            suspect.likely.clone(),
            percent(suspect.likely_probability),
        ]
    });
    let header = [
        name,
        "label",
        "its probability",
        "likely",
        "its probability",
    ];
    let about = format!(
        "{} labels that models which did not see them contradict; look at them first. Rows are \
         counted from 0.",
        count(found.len())
    );
    section("Doubtful labels", &about, &table(&header, rows))
}

/// Loss over time, and the accuracy on validation rows if there are any.
pub(super) fn training(fitted: &Fitted) -> String {
    let lines = fitted.history().split(|byte| *byte == b'\n');
    let lines = lines.filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    let (mut losses, mut accuracies) = (Vec::new(), Vec::new());
    for line in lines {
        let Some(step) = line["step"].as_f64() else {
            continue;
        };
        if let Some(loss) = line["loss"].as_f64() {
            losses.push((step, loss));
        }
        if let Some(accuracy) = line["validation"]["accuracy"].as_f64() {
            accuracies.push((step, accuracy));
        }
    }
    let mut text = String::new();
    for (points, name, place) in [(losses, "loss", 0), (accuracies, "validation accuracy", 1)] {
        if points.len() < 2 {
            continue;
        }
        let points = smoothed(&points);
        // The first steps have large losses that would flatten the rest of the curve.
        let points = &points[points.len() / 30..];
        let low = points
            .iter()
            .map(|point| point.1)
            .fold(f64::INFINITY, f64::min);
        let high = points
            .iter()
            .map(|point| point.1)
            .fold(f64::NEG_INFINITY, f64::max);
        let (first, last) = (points[0].0, points[points.len() - 1].0);
        let mut plot = Plot::new((430.0, 260.0), (first, last), (low, high), ("step", name));
        plot.curve(points, colour(place));
        text += &plot.finish(&format!("{name} against steps"));
    }
    let about = "The loss is the mean of neighbouring batches, without the first steps; its terms are in metrics.jsonl.";
    section("Training", about, &text)
}

/// Means of neighbouring points, so that a curve has at most [`CURVE_POINTS`] of them.
fn smoothed(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let size = points.len().div_ceil(CURVE_POINTS).max(1);
    let mean = |part: &[(f64, f64)]| {
        let (x, y) = part
            .iter()
            .fold((0.0, 0.0), |sum, p| (sum.0 + p.0, sum.1 + p.1));
        (x / part.len() as f64, y / part.len() as f64)
    };
    points.chunks(size).map(mean).collect()
}
