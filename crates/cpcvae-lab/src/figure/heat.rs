//! Heat maps: a number over two settings.

use super::canvas::{Canvas, Placement, rectangle};
use super::margin::Labels;
use super::palette::{Colour, class_colour};
use super::{Layout, Result, save, text};
use std::path::Path;

const BORDER: f32 = 16.0;
const TEXT_SIZE: f32 = 30.0;
const CELL: (f32, f32) = (140.0, 90.0);

/// Numbers over two lists of values.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HeatMap {
    /// Written above; may be empty.
    pub title: String,
    /// What the columns are.
    pub x_label: String,
    /// What the rows are.
    pub y_label: String,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Names of the rows.
    pub rows: Vec<String>,
    /// Row by row; an unknown number leaves its cell blank.
    pub values: Vec<Vec<Option<f64>>>,
    /// Decimals of the numbers in the cells.
    pub decimals: usize,
}

/// Draws the numbers in cells: the larger, the darker.
pub fn heat_map(map: &HeatMap, path: &Path) -> Result<()> {
    save::save(path, || layout(map))
}

fn layout(map: &HeatMap) -> Layout {
    let (columns, rows) = (map.columns.len(), map.rows.len());
    let is_ragged = map.values.iter().any(|row| row.len() != columns);
    if columns == 0 || map.values.len() != rows || is_ragged {
        return Err(format!(
            "a heat map of {rows} x {columns} cells needs as many numbers"
        ));
    }
    let known = || map.values.iter().flatten().flatten().copied();
    let (low, high) = known().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    if !(low.is_finite() && high.is_finite()) {
        return Err("a heat map needs finite numbers".into());
    }

    let labels = Labels::new(&map.columns, &map.rows, TEXT_SIZE, CELL);
    let title = if map.title.is_empty() {
        0.0
    } else {
        1.7 * TEXT_SIZE
    };
    let axis_title = 1.7 * TEXT_SIZE;
    let corner = (
        (BORDER + axis_title + labels.left()).ceil(),
        (BORDER + title + axis_title + labels.above()).ceil(),
    );
    let (width, height) = (CELL.0 * columns as f32, CELL.1 * rows as f32);
    let mut canvas = Canvas::new(corner.0 + width + BORDER, corner.1 + height + BORDER);
    let middle = (corner.0 + 0.5 * width, corner.1 + 0.5 * height);
    let sheet = canvas.width;
    let title_size = text::size_to_fit(&map.title, TEXT_SIZE, sheet - 2.0 * BORDER);
    canvas.text(
        &map.title,
        Placement::centred(0.5 * sheet, BORDER + 0.5 * TEXT_SIZE, title_size),
    );
    let across = text::size_to_fit(&map.x_label, TEXT_SIZE, width);
    let x_place = Placement::centred(middle.0, BORDER + title + 0.5 * TEXT_SIZE, across);
    canvas.text(&map.x_label, x_place.coloured(Colour::GREY));
    let down = text::size_to_fit(&map.y_label, TEXT_SIZE, height);
    let y_place = Placement::centred(BORDER + 0.5 * TEXT_SIZE, middle.1, down).turned();
    canvas.text(&map.y_label, y_place.coloured(Colour::GREY));
    labels.draw(&mut canvas, corner, CELL, CELL);

    for (row, values) in map.values.iter().enumerate() {
        for (column, value) in values.iter().enumerate() {
            let x = corner.0 + column as f32 * CELL.0;
            let y = corner.1 + row as f32 * CELL.1;
            let place = rectangle(x, y, CELL.0, CELL.1);
            if let Some(value) = value {
                let share = ((value - low) / (high - low).max(f64::MIN_POSITIVE)) as f32;
                // The smallest keeps some colour: white is for unknown numbers.
                let shade = 0.12 + 0.88 * share;
                canvas.rectangle(place, class_colour(0).tint(shade));
                let ink = match shade > 0.6 {
                    true => Colour::WHITE,
                    false => Colour::INK,
                };
                let words = format!("{value:.*}", map.decimals).replace('-', "−");
                let size = text::size_to_fit(&words, TEXT_SIZE, 0.9 * CELL.0);
                let centre = (x + 0.5 * CELL.0, y + 0.5 * CELL.1);
                let written = Placement::centred(centre.0, centre.1, size);
                canvas.text(&words, written.coloured(ink));
            }
            canvas.frame(place, Colour::PALE, 1.0);
        }
    }
    Ok(canvas)
}

#[cfg(test)]
mod tests {
    use super::super::canvas::Shape;
    use super::*;

    fn map() -> HeatMap {
        HeatMap {
            columns: vec!["1".into(), "5".into()],
            rows: vec!["a".into()],
            values: vec![vec![Some(-1.25), None]],
            decimals: 1,
            ..HeatMap::default()
        }
    }

    #[test]
    fn numbers_are_written_in_their_cells() {
        let canvas = layout(&map()).unwrap();
        let words = canvas.shapes.iter().filter_map(|shape| match shape {
            Shape::Area { words, .. } => words.as_deref(),
            _ => None,
        });
        let words: Vec<&str> = words.collect();
        assert!(words.contains(&"−1.2") && words.contains(&"5"), "{words:?}");
    }

    #[test]
    fn what_does_not_fit_together_is_refused() {
        let mut ragged = map();
        ragged.values[0].pop();
        assert!(layout(&ragged).is_err());
        let mut unknown = map();
        unknown.values[0][0] = None;
        assert!(layout(&unknown).is_err());
    }
}
