//! A scatter plot of codes.

use super::shown::has_codes;
use super::svg::{Plot, colour, scale_colour, short};
use super::text::{escaped, section};
use crate::error::Result;
use crate::estimator::{Fitted, Predictions};
use crate::evenly::evenly;
use crate::pseudo_label::principal_components;
use cpcvae_data::{Dataset, Matrix};
use std::collections::HashSet;
use std::fmt::Write;

/// The most rows with a label on the map, and the most without.
const MAP_ROWS: usize = 1000;
/// Colour of rows without a label or prediction.
const GREY: &str = "#6f7b85";

/// How dots are coloured.
enum Colours {
    /// By class.
    Classes(Vec<String>),
    /// By the first continuous label, between two values.
    Values { name: String, low: f64, high: f64 },
    /// The model predicts nothing.
    None,
}

/// Codes in the plane, coloured by label if it is known and by prediction otherwise.
pub(super) fn map(fitted: &Fitted, data: &Dataset) -> Result<String> {
    if !has_codes(fitted) {
        return Ok(String::new());
    }
    let learnt_from: HashSet<u32> = fitted.split().labelled.iter().copied().collect();
    let others = (0..data.len() as u32).filter(|row| !learnt_from.contains(row));
    let mut chosen = evenly(&others.collect::<Vec<_>>(), MAP_ROWS);
    chosen.extend(evenly(&fitted.split().labelled, MAP_ROWS));
    chosen.sort_unstable();
    let rows = data.select(&chosen);
    let codes = fitted.encode(&rows)?.mean;
    if codes.columns == 0 {
        return Ok(String::new());
    }
    let (points, how) = plane(&codes);
    let range = |axis: usize| {
        let values = points.iter().map(|point: &[f32; 2]| f64::from(point[axis]));
        let low = values.clone().fold(f64::INFINITY, f64::min);
        (low, values.fold(f64::NEG_INFINITY, f64::max))
    };
    let answers = match fitted.card().shape.target.outputs() {
        0 => None,
        _ => Some(fitted.predict(&rows)?),
    };
    let colours = Colours::of(fitted, answers.as_ref());
    let mut plot = Plot::without_axes((430.0, 380.0), range(0), range(1));
    // Labelled rows last, on top of the others.
    for labelled in [false, true] {
        for (row, point) in points.iter().enumerate() {
            // Labels that are hidden from training are not shown.
            let is_labelled =
                rows.labels.is_known(row as u32) && learnt_from.contains(&chosen[row]);
            if is_labelled != labelled {
                continue;
            }
            let known = is_labelled.then_some((&rows, row as u32));
            let (fill, name) = colours.dot(known, answers.as_ref(), row);
            let look = match labelled {
                true => format!("fill=\"{fill}\" stroke=\"#000\" stroke-width=\"0.8\""),
                false => format!("fill=\"{fill}\" fill-opacity=\"0.45\""),
            };
            let kind = if labelled { "label" } else { "predicted" };
            let title = format!("row {}: {kind} {name}", chosen[row]);
            let radius = if labelled { 4.0 } else { 2.4 };
            plot.dot(
                (f64::from(point[0]), f64::from(point[1])),
                radius,
                &look,
                &title,
            );
        }
    }
    let coloured = match colours {
        Colours::None => "",
        _ => " Large dots with a rim have a label, the others are coloured by prediction.",
    };
    let about = format!("{} rows by {how}.{coloured}", points.len());
    let text = plot.finish("map of codes") + &colours.legend();
    Ok(section("Map of codes", &about, &text))
}

/// Codes `[rows, code]` in two dimensions, and a description of these.
fn plane(codes: &Matrix) -> (Vec<[f32; 2]>, &'static str) {
    match codes.columns {
        1 => (codes.values.iter().map(|x| [*x, 0.0]).collect(), "the code"),
        2 => (pairs(&codes.values), "the two code dimensions"),
        _ => {
            let plane = principal_components(&codes.values, codes.columns, 2);
            (
                pairs(&plane),
                "the first two principal components of the codes",
            )
        }
    }
}

fn pairs(values: &[f32]) -> Vec<[f32; 2]> {
    values
        .chunks_exact(2)
        .map(|pair| [pair[0], pair[1]])
        .collect()
}

impl Colours {
    fn of(fitted: &Fitted, answers: Option<&Predictions>) -> Self {
        let Some(answers) = answers else {
            return Self::None;
        };
        if !answers.classes.is_empty() {
            return Self::Classes(answers.classes.clone());
        }
        let names = fitted.card().shape.target.names();
        let values = (0..answers.len()).map(|row| answers.value(row, 0));
        Self::Values {
            name: names.first().cloned().unwrap_or_default(),
            low: values.clone().fold(f64::INFINITY, f64::min),
            high: values.fold(f64::NEG_INFINITY, f64::max),
        }
    }

    /// The colour of a row and its meaning: its label if it is known, otherwise its prediction.
    fn dot(
        &self,
        known: Option<(&Dataset, u32)>,
        answers: Option<&Predictions>,
        row: usize,
    ) -> (String, String) {
        let nothing = (GREY.to_string(), String::new());
        let Some(answers) = answers else {
            return nothing;
        };
        match self {
            Self::Classes(names) => {
                let label = known.and_then(|(rows, row)| rows.labels.class_of(row));
                let class = label.map_or(answers.class(row), |label| label as usize);
                let name = names.get(class).cloned().unwrap_or_default();
                (colour(class).to_string(), name)
            }
            Self::Values { low, high, .. } => {
                let label = known.and_then(|(rows, row)| {
                    let offset = rows.labels.offsets().first().copied().unwrap_or(0.0);
                    Some(offset + f64::from(*rows.labels.values_of(row)?.first()?))
                });
                let value = label.unwrap_or_else(|| answers.value(row, 0));
                (
                    scale_colour((value - low) / (high - low).max(f64::MIN_POSITIVE)),
                    short(value),
                )
            }
            Self::None => nothing,
        }
    }

    fn legend(&self) -> String {
        let mut legend = String::from("<div class=\"legend\">");
        let mut entry = |fill: &str, name: &str| {
            let name = escaped(name);
            let _ = write!(
                legend,
                "<span><i style=\"background:{fill}\"></i>{name}</span>"
            );
        };
        match self {
            Self::Classes(names) => {
                for (class, name) in names.iter().enumerate() {
                    entry(colour(class), name);
                }
            }
            Self::Values { name, low, high } => {
                for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
                    let value = short(low + share * (high - low));
                    let text = match share == 0.0 {
                        true => format!("{name}: {value}"),
                        false => value,
                    };
                    entry(&scale_colour(share), &text);
                }
            }
            Self::None => {}
        }
        legend + "</div>"
    }
}
