//! A metric over two settings.

use super::figures::{FigureContext, file_name};
use crate::experiment::{Drawing, FigurePlan, Row};
use crate::figure::{HeatMap, heat_map};
use anyhow::Result;
use std::path::PathBuf;

/// A file for each method: means over draws.
pub(super) fn draw(
    figure: &FigurePlan,
    rows: &[&Row<'_>],
    context: &FigureContext<'_>,
) -> Result<Vec<PathBuf>> {
    let Drawing::Heat {
        x,
        x_label,
        y,
        y_label,
        metric,
    } = &figure.draw
    else {
        return Ok(Vec::new());
    };
    let mut methods: Vec<&Row<'_>> = Vec::new();
    for row in rows {
        if !methods
            .iter()
            .any(|other| other.key.method == row.key.method)
        {
            methods.push(row);
        }
    }
    let mut paths = Vec::new();
    for method in &methods {
        let known = rows
            .iter()
            .filter(|row| row.key.method == method.key.method);
        let cells: Vec<(f64, f64, f64)> = known
            .filter_map(|row| {
                let record = row.records.first()?;
                let (mean, _) = row.mean_and_std(*metric)?;
                Some((record.setting(x)?, record.setting(y)?, mean))
            })
            .collect();
        if cells.is_empty() {
            continue;
        }
        let (across, down) = (
            sorted(cells.iter().map(|cell| cell.0)),
            sorted(cells.iter().map(|cell| cell.1)),
        );
        let at = |x: f64, y: f64| {
            let found = cells.iter().find(|cell| (cell.0, cell.1) == (x, y));
            found.map(|cell| cell.2)
        };
        let map = HeatMap {
            title: figure.title.clone(),
            x_label: x_label.clone(),
            y_label: y_label.clone(),
            columns: across.iter().map(f64::to_string).collect(),
            rows: down.iter().map(f64::to_string).collect(),
            values: down
                .iter()
                .map(|y| across.iter().map(|x| at(*x, *y)).collect())
                .collect(),
            decimals: metric.decimals(),
        };
        let name = file_name(figure, &method.key, &methods);
        paths.extend(context.save(&name, |path| Ok(heat_map(&map, path)?))?);
    }
    Ok(paths)
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    values
}
