//! Sections with samples and rows to label next.

use super::svg::short;
use super::text::{escaped, section, table};
use crate::error::{Error, Result};
use crate::estimator::{Fitted, SampleOptions};
use crate::model::ModelKind;
use base64::Engine;
use cpcvae_data::{ColumnKind, Dataset, Layout, Matrix, png};
use std::fmt::Write;

/// The most classes that samples are drawn of.
const CLASSES: usize = 12;
/// Images of a class.
const IMAGES: usize = 10;
/// Sampled rows of a class for the profile of a table.
const PROFILE_ROWS: usize = 200;
/// The most columns of a profile.
const PROFILE_COLUMNS: usize = 12;
/// The most codes drawn for a class.
const MOST_CODES: usize = 20_000;
/// Rows suggested.
const SUGGESTED: usize = 10;

/// Whether the model has codes at all.
pub(super) fn has_codes(fitted: &Fitted) -> bool {
    fitted.card().shape.kind != ModelKind::Classifier
}

/// Samples of each class: images, or the means of a table's columns.
pub(super) fn samples(fitted: &Fitted) -> Result<String> {
    if !has_codes(fitted) || fitted.classes().is_empty() {
        return Ok(String::new());
    }
    let is_image = matches!(fitted.layout(), Layout::Image { .. });
    let mut made = Vec::new();
    for class in fitted.classes().iter().take(CLASSES) {
        made.push((class, sampled(fitted, class, is_image)?));
    }
    let about = "Drawn from the model for each class. The predictor is at least 95% sure of the class, \
                 or 50% where it never is so sure.";
    Ok(match fitted.layout() {
        Layout::Image { .. } => section("Samples", about, &images(&made, fitted.layout())),
        Layout::Columns(_) => {
            let about = format!("{about} Means over up to {PROFILE_ROWS} samples a class.");
            section("Class profiles", &about, &profiles(&made, fitted.layout()))
        }
    })
}

/// Rows of a class; `None` if there are none.
fn sampled(fitted: &Fitted, class: &str, is_image: bool) -> Result<Option<Matrix>> {
    let rows = if is_image { IMAGES } else { PROFILE_ROWS };
    for threshold in [0.95, 0.5] {
        let options = SampleOptions {
            threshold,
            most_codes: MOST_CODES,
            ..SampleOptions::default()
        };
        match fitted.sample_class(class, rows, options) {
            Ok(made) => return Ok(Some(made.rows)),
            // Too rare at this threshold.
            Err(Error::WithRemedy { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

fn images(made: &[(&String, Option<Matrix>)], layout: &Layout) -> String {
    let mut text = String::new();
    for (class, rows) in made {
        let _ = write!(text, "<p class=\"row\"><b>{}</b>", escaped(class));
        match rows {
            Some(rows) => {
                for row in 0..rows.rows {
                    let bytes = png(rows.row(row), layout).unwrap_or_default();
                    let data = base64::engine::general_purpose::STANDARD.encode(bytes);
                    let _ = write!(
                        text,
                        "<img class=\"sample\" alt=\"sample\" src=\"data:image/png;base64,{data}\">"
                    );
                }
            }
            None => text += "no sample is sure enough",
        }
        text += "</p>";
    }
    text
}

fn profiles(made: &[(&String, Option<Matrix>)], layout: &Layout) -> String {
    let Layout::Columns(columns) = layout else {
        return String::new();
    };
    let mean = |rows: &Matrix, column: usize| {
        let sum: f64 = (0..rows.rows)
            .map(|row| f64::from(rows.row(row)[column]))
            .sum();
        sum / rows.rows.max(1) as f64
    };
    // Columns whose means differ most between classes, relative to their spread within them.
    let told_apart = |column: usize| {
        let means = made.iter().filter_map(|(_, rows)| rows.as_ref());
        let means: Vec<f64> = means.map(|rows| mean(rows, column)).collect();
        let centre = means.iter().sum::<f64>() / means.len().max(1) as f64;
        let between: f64 = means.iter().map(|value| (value - centre).powi(2)).sum();
        let within: f64 = made
            .iter()
            .filter_map(|(_, rows)| rows.as_ref())
            .map(|rows| {
                let own = mean(rows, column);
                let square = |row| (f64::from(rows.row(row)[column]) - own).powi(2);
                (0..rows.rows).map(square).sum::<f64>() / rows.rows.max(1) as f64
            })
            .sum();
        between / within.max(1e-12)
    };
    let numbers = |place: &usize| !matches!(columns[*place].kind, ColumnKind::Category(_));
    let mut chosen: Vec<usize> = (0..columns.len()).filter(numbers).collect();
    chosen.sort_by(|a, b| told_apart(*b).total_cmp(&told_apart(*a)));
    chosen.truncate(PROFILE_COLUMNS);
    let mut header = vec!["class"];
    header.extend(chosen.iter().map(|place| columns[*place].name.as_str()));
    let rows = made.iter().map(|(class, rows)| {
        let mut cells = vec![class.to_string()];
        cells.extend(chosen.iter().map(|place| match rows {
            Some(rows) => {
                let value = mean(rows, *place) as f32;
                short(columns[*place].in_user_units(value))
            }
            None => "-".into(),
        }));
        cells
    });
    let left = columns.len() - chosen.len();
    let note = match left {
        0 => String::new(),
        _ => format!(
            "<p class=\"about\">The columns that differ most between classes; {left} more are not shown.</p>"
        ),
    };
    table(&header, rows) + &note
}

/// Suggested rows to label next.
pub(super) fn next_labels(fitted: &Fitted, data: &Dataset) -> Result<String> {
    let open = (0..data.len() as u32).any(|row| !data.labels.is_known(row));
    if fitted.classes().is_empty() || !has_codes(fitted) || !open {
        return Ok(String::new());
    }
    let suggested = fitted.suggest(data, SUGGESTED)?;
    let name = data.ids.as_ref().map_or("row", |ids| ids.name.as_str());
    let header = [name, "most probable class", "entropy", "percentile"];
    let rows = suggested.into_iter().map(|row| {
        let id = data
            .ids
            .as_ref()
            .and_then(|ids| ids.of_row.get(row.row).cloned());
        vec![
            id.unwrap_or_else(|| row.row.to_string()),
            row.label,
            format!("{:.3}", row.entropy),
            format!("{:.0}", row.percentile),
        ]
    });
    let about = "Unsure, usual, and unlike each other. The percentile says how many of 100 training \
                 rows are as unusual as the row. Rows are counted from 0.";
    Ok(section("Rows to label next", about, &table(&header, rows)))
}
