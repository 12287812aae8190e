//! A self-contained HTML page about a fitted model: data, accuracy against baselines, calibration,
//! confusion, training, map of codes, samples, rows to label next, settings.

mod map;
mod measured;
mod shown;
mod svg;
mod text;

use crate::error::Result;
use crate::estimator::Fitted;
use cpcvae_data::{Dataset, Layout, Rows, write_atomically};
use std::path::Path;
use text::{escaped, section, table};

pub use text::{count, percent};

const STYLE: &str = include_str!("style.css");
/// The most columns that are listed.
const COLUMNS: usize = 200;

impl Fitted {
    /// A page about the model and `data`, the rows that it was fitted to: HTML text without
    /// scripts, with inline drawings.
    ///
    /// ```
    /// use cpcvae::prelude::*;
    /// # let rows: Vec<[f32; 2]> =
    /// #     (0..60).map(|i| [(i % 2 * 9 + i % 5) as f32, (i % 7) as f32]).collect();
    /// # let labels = (0..60).map(|i| (i < 20).then_some(["low", "high"][i % 2]));
    /// # let data = Dataset::from_rows(&rows, Labels::classes(labels))?;
    /// let fitted = Pc::new().steps(50).folds(2).fit(&data)?;
    /// let page = fitted.html_report(&data)?;
    /// assert!(page.starts_with("<!doctype html>") && page.contains("Calibration"));
    /// # Ok::<(), cpcvae::Error>(())
    /// ```
    pub fn html_report(&self, data: &Dataset) -> Result<String> {
        self.split().check(data.len())?;
        let config = self.config();
        let title = format!("{} on {}", config.method.name(), data.name);
        let mut page = format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
             content=\"width=device-width, initial-scale=1\"><title>{0}</title><style>{STYLE}</style>\
             </head><body><main>\n<h1>{0}</h1>\n",
            escaped(&title)
        );
        page += &self.tiles(data);
        page += &measured::verdict(self);
        page += &measured::methods(self);
        page += "<div class=\"pair\">";
        page += &measured::calibration(self);
        page += &measured::confusion(self);
        page += &measured::predicted(self);
        page += "</div>\n<div class=\"pair\">";
        page += &map::map(self, data)?;
        page += &measured::training(self);
        page += "</div>\n";
        page += &shown::samples(self)?;
        page += &measured::suspects(self, data);
        page += &shown::next_labels(self, data)?;
        page += &columns(data);
        page += &format!(
            "<section><h2>Settings</h2><details><summary>config.toml, complete</summary><pre>{}</pre>\
             </details></section>\n",
            escaped(&config.to_toml())
        );
        page += &format!(
            "<footer>Made by cpcvae {}. Training took {:.0} s.</footer></main></body></html>\n",
            escaped(&self.card().version),
            self.report().fit.seconds
        );
        Ok(page)
    }

    /// Writes [`Fitted::html_report`] to a file.
    pub fn write_html_report(&self, data: &Dataset, path: &Path) -> Result<()> {
        Ok(write_atomically(path, self.html_report(data)?.as_bytes())?)
    }

    /// The main figures.
    fn tiles(&self, data: &Dataset) -> String {
        let split = self.split();
        let labels = split.labelled.len();
        let mut tiles = vec![
            ("rows".to_string(), count(data.len()), String::new()),
            (
                "labels learnt from".into(),
                count(labels),
                percent(labels as f64 / data.len().max(1) as f64) + " of the rows",
            ),
        ];
        if !self.classes().is_empty() {
            let name = "classes".to_string();
            tiles.push((name, count(self.classes().len()), String::new()));
        }
        let figures = self.calibration().held_out.as_ref();
        if let Some(accuracy) = figures.and_then(|figures| figures.accuracy) {
            let interval = format!(
                "95% interval {} to {}",
                percent(accuracy.low),
                percent(accuracy.high)
            );
            let name = "held-out accuracy".to_string();
            tiles.push((name, percent(accuracy.value), interval));
        }
        if let Some([error]) = figures.map(|figures| figures.absolute_error.as_slice()) {
            let name = "held-out mean error".to_string();
            tiles.push((name, svg::short(*error), String::new()));
        }
        if let Some(test) = &self.report().test {
            let rows = format!("{} rows", count(test.rows));
            if let Some(accuracy) = test.accuracy {
                tiles.push(("test accuracy".into(), percent(accuracy), rows));
            } else if let Some(r_squared) = test.r_squared {
                tiles.push(("test R²".into(), format!("{r_squared:.3}"), rows));
            }
        }
        let tiles = tiles.into_iter().map(|(name, value, about)| {
            format!(
                "<div class=\"tile\"><b>{}</b><span>{}</span><small>{}</small></div>",
                escaped(&value),
                escaped(&name),
                escaped(&about)
            )
        });
        format!("<div class=\"tiles\">{}</div>\n", tiles.collect::<String>())
    }
}

/// The kinds of the columns.
fn columns(data: &Dataset) -> String {
    let Layout::Columns(columns) = &data.layout else {
        let Layout::Image {
            height,
            width,
            channels,
        } = &data.layout
        else {
            return String::new();
        };
        let text =
            format!("<p>Images of {height} x {width} pixels, {channels} values a pixel.</p>");
        return section("Data", "", &text);
    };
    let matrix = data.features.part(0..data.len().min(5000));
    let rows = columns
        .iter()
        .enumerate()
        .take(COLUMNS)
        .map(|(place, column)| {
            let values = (0..matrix.rows).map(|row| matrix.row(row)[place]);
            let known: Vec<f32> = values.filter(|value| value.is_finite()).collect();
            let low = known.iter().copied().fold(f32::INFINITY, f32::min);
            let high = known.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let range = match known.is_empty() {
                true => "no value".to_string(),
                false => format!("{} to {}", column.cell(low), column.cell(high)),
            };
            let range = match &column.kind {
                cpcvae_data::ColumnKind::Category(levels) => format!("{} levels", levels.len()),
                _ => range,
            };
            vec![
                column.name.clone(),
                column.kind.name().to_string(),
                range,
                percent(1.0 - known.len() as f64 / matrix.rows.max(1) as f64),
            ]
        });
    let about = match columns.len() > COLUMNS {
        true => format!("The first {COLUMNS} of {} columns.", count(columns.len())),
        false => "What each column is taken for.".into(),
    };
    let about = about + " Ranges and missing cells are those of the first 5,000 rows.";
    let text = table(&["column", "kind", "range", "missing"], rows);
    let open = if columns.len() <= 20 { " open" } else { "" };
    let folded = format!(
        "<details{open}><summary>{} columns</summary>{text}</details>",
        count(columns.len())
    );
    section("Columns", &about, &folded)
}
