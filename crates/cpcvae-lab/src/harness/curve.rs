//! Line charts: a metric against a setting, and validation accuracy against steps.

use super::figures::FigureContext;
use crate::experiment::{Drawing, FigurePlan, Metric, Row};
use crate::figure::{Series, line_chart};
use anyhow::Result;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A line for each method (and label count and code size, if they differ): means over draws, with a
/// band of one standard deviation.
pub(super) fn draw(
    figure: &FigurePlan,
    rows: &[&Row<'_>],
    context: &FigureContext<'_>,
) -> Result<Vec<PathBuf>> {
    let Drawing::Curve {
        x,
        x_label,
        y,
        log_x,
        log_y,
    } = &figure.draw
    else {
        return Ok(Vec::new());
    };
    let scaled = |value: f64, log: bool| if log { value.log10() } else { value };
    let mut series: Vec<Series> = Vec::new();
    for row in rows {
        let place = row.records.first().and_then(|record| record.setting(x));
        let (Some(place), Some((mean, std))) = (place, row.mean_and_std(*y)) else {
            continue;
        };
        let name = name(row, rows);
        if !series.iter().any(|line| line.name == name) {
            series.push(Series {
                name: name.clone(),
                ..Series::default()
            });
        }
        let Some(line) = series.iter_mut().find(|line| line.name == name) else {
            continue;
        };
        let place = scaled(place, *log_x);
        line.points.push((place, scaled(mean, *log_y)));
        if let Some(std) = std {
            let ends = (scaled(mean - std, *log_y), scaled(mean + std, *log_y));
            let band = line.band.get_or_insert_default();
            band.push((place, ends.0, ends.1));
        }
    }
    if series.is_empty() {
        return Ok(Vec::new());
    }
    for line in &mut series {
        line.points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let band = line.band.as_deref_mut().unwrap_or_default();
        band.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    let titled = |title: &str, log: bool| match log {
        true => format!("log10 of {title}"),
        false => title.to_string(),
    };
    context.save(&figure.name, |path| {
        Ok(line_chart(
            &figure.title,
            &titled(x_label, *log_x),
            &titled(&y.heading(), *log_y),
            &series,
            path,
        )?)
    })
}

/// A line for each method: validation accuracy at each evaluation, the mean over draws.
pub(crate) fn draw_training(
    figure: &FigurePlan,
    rows: &[&Row<'_>],
    context: &FigureContext<'_>,
) -> Result<Vec<PathBuf>> {
    let line = |row: &&Row<'_>| {
        let mut of_steps: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        for record in &row.records {
            for &(step, accuracy) in &record.metrics.validation_curve {
                of_steps.entry(step).or_default().push(100.0 * accuracy);
            }
        }
        let mean = |values: &Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
        let points = of_steps.iter();
        Series {
            name: name(row, rows),
            points: points
                .map(|(step, values)| (*step as f64, mean(values)))
                .collect(),
            ..Series::default()
        }
    };
    let series: Vec<Series> = rows
        .iter()
        .map(line)
        .filter(|line| !line.points.is_empty())
        .collect();
    if series.is_empty() {
        return Ok(Vec::new());
    }
    context.save(&figure.name, |path| {
        let y = Metric::ValidationAccuracy.heading();
        Ok(line_chart(&figure.title, "step", &y, &series, path)?)
    })
}

fn name(row: &Row<'_>, rows: &[&Row<'_>]) -> String {
    let mut name = row.key.method.clone();
    if rows.iter().any(|other| other.key.labels != row.key.labels) {
        name += &format!(", {} labels", row.key.labels);
    }
    if rows.iter().any(|other| other.key.code != row.key.code) {
        name += &format!(", code {}", row.key.code);
    }
    name
}
