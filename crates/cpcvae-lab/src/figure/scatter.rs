//! Scatter panels like the paper's Figures 1 and 2.

use super::canvas::{Anchor, Canvas, Image, Placement, rectangle};
use super::palette::{Colour, class_colour};
use super::scatter_view::{View, positions};
use super::{Layout, Result, legend, save, text};
use std::path::Path;
use tiny_skia::Rect;

const PANEL_WIDTH: f32 = 420.0;
const GAP: f32 = 16.0;

/// One panel: points coloured by class, labelled examples as diamonds over them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ScatterPanel {
    /// Written above the panel.
    pub title: String,
    /// Positions of the points.
    pub points: Vec<[f32; 2]>,
    /// Class of each point (predicted or true), which gives its colour.
    pub classes: Vec<u32>,
    /// Labelled examples with their classes.
    pub labelled: Vec<([f32; 2], u32)>,
    /// Written in the lower left corner, e.g. "98.4%"; may be empty.
    pub corner: String,
    /// Predicted classes of the plane, drawn as a pale background.
    pub regions: Option<Regions>,
}

/// The most probable class over a grid of cells that covers a rectangle of the plane.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Regions {
    /// Left and right end of the grid.
    pub x: [f32; 2],
    /// Lower and upper end of the grid.
    pub y: [f32; 2],
    /// Cells from left to right.
    pub columns: usize,
    /// Cells from bottom to top.
    pub rows: usize,
    /// Class of each cell, row by row from the bottom, each row from the left.
    pub class: Vec<u32>,
    /// Probability of that class, in the same order: the higher, the stronger the tint.
    pub confidence: Vec<f32>,
}

/// Draws rows of panels, all of one size and each with the same unit of length on both axes.
///
/// Rows may differ in length. `row_titles` are written vertically on the left: one for each row, or
/// none. Every point is shown: a panel covers its points, its labelled examples and its regions.
pub fn scatter_panels(
    panels: &[Vec<ScatterPanel>],
    row_titles: &[String],
    path: &Path,
) -> Result<()> {
    scatter_panels_with_legend(panels, row_titles, &[], path)
}

/// The same with a legend of the classes below.
pub fn scatter_panels_with_legend(
    panels: &[Vec<ScatterPanel>],
    row_titles: &[String],
    classes: &[String],
    path: &Path,
) -> Result<()> {
    save::save(path, || layout(panels, row_titles, classes))
}

fn layout(panels: &[Vec<ScatterPanel>], row_titles: &[String], classes: &[String]) -> Layout {
    if !row_titles.is_empty() && row_titles.len() != panels.len() {
        return Err(format!(
            "{} rows of panels but {} titles",
            panels.len(),
            row_titles.len()
        ));
    }
    let columns = panels.iter().map(Vec::len).max().unwrap_or(0);
    if columns == 0 {
        return Err("there are no panels".into());
    }
    panels.iter().flatten().try_for_each(check)?;

    // Figures with many panels are printed smaller, so their text is larger.
    let size = (24.0 + 3.0 * columns as f32).clamp(28.0, 42.0);
    let panel_height = panel_height(panels);
    let left = if row_titles.is_empty() {
        GAP
    } else {
        GAP + 1.5 * size
    };
    let titled = |row: &[ScatterPanel]| row.iter().any(|panel| !panel.title.is_empty());
    let title_heights: Vec<f32> = panels
        .iter()
        .map(|row| if titled(row) { 1.6 * size } else { 0.0 })
        .collect();
    // All of the same size, determined by the longest.
    let row_title_size = row_titles
        .iter()
        .map(|title| text::size_to_fit(title, size, panel_height))
        .fold(size, f32::min);
    let rows = panels.len() as f32;
    let mut canvas = Canvas::new(
        left + columns as f32 * (PANEL_WIDTH + GAP),
        GAP + title_heights.iter().sum::<f32>()
            + rows * (panel_height + GAP)
            + legend::height(classes, size),
    );
    let mut top = GAP;
    for (index, row) in panels.iter().enumerate() {
        let title_y = top + 0.5 * title_heights[index] - 0.2 * GAP;
        top += title_heights[index];
        if let Some(title) = row_titles.get(index) {
            let middle = (0.5 * (left + 0.3 * size), top + 0.5 * panel_height);
            canvas.text(
                title,
                Placement::centred(middle.0, middle.1, row_title_size).turned(),
            );
        }
        for (column, panel) in row.iter().enumerate() {
            let x = left + column as f32 * (PANEL_WIDTH + GAP);
            let place = rectangle(x, top, PANEL_WIDTH, panel_height);
            let fitted = text::size_to_fit(&panel.title, size, PANEL_WIDTH);
            let middle = x + 0.5 * PANEL_WIDTH;
            canvas.text(&panel.title, Placement::centred(middle, title_y, fitted));
            draw(&mut canvas, panel, place, size);
        }
        top += panel_height + GAP;
    }
    if !classes.is_empty() {
        let middle = top - 0.3 * GAP + 0.5 * legend::height(classes, size);
        legend::draw(&mut canvas, classes, middle, size);
    }
    Ok(canvas)
}

/// The mean height for the shapes of the panels, or of those with regions, which would have blank
/// strips in a frame of another shape.
fn panel_height(panels: &[Vec<ScatterPanel>]) -> f32 {
    let any_regions = panels.iter().flatten().any(|panel| panel.regions.is_some());
    let leading = panels
        .iter()
        .flatten()
        .filter(|p| p.regions.is_some() == any_regions);
    let shapes: Vec<f32> = leading
        .map(View::of)
        .map(|view| view.height / view.width)
        .collect();
    let mean = shapes.iter().sum::<f32>() / shapes.len() as f32;
    (PANEL_WIDTH * mean.clamp(0.6, 1.2)).round()
}

fn check(panel: &ScatterPanel) -> std::result::Result<(), String> {
    let wrong = |what: String| Err(format!("panel {:?} {what}", panel.title));
    let (points, classes) = (panel.points.len(), panel.classes.len());
    if points != classes {
        return wrong(format!("has {points} points but {classes} classes"));
    }
    if points + panel.labelled.len() == 0 && panel.regions.is_none() {
        return wrong("is empty".into());
    }
    // Differences and squares of larger numbers would overflow.
    let drawable = |value: &f32| value.abs() < 1e15;
    if let Some([x, y]) = positions(panel).find(|position| !position.iter().all(drawable)) {
        return wrong(format!("has a point at ({x}, {y})"));
    }
    if let Some(Regions {
        x,
        y,
        columns,
        rows,
        class,
        confidence,
    }) = &panel.regions
    {
        let cells = columns * rows;
        if cells == 0 || class.len() != cells || confidence.len() != cells {
            let given = (class.len(), confidence.len());
            return wrong(format!(
                "has regions of {columns} x {rows} cells but {} classes and {} confidences",
                given.0, given.1
            ));
        }
        let ends = [x[1] - x[0], y[1] - y[0]];
        if !ends
            .iter()
            .all(|length| length.is_finite() && *length > 0.0)
        {
            return wrong(format!(
                "has regions over the empty rectangle {x:?} x {y:?}"
            ));
        }
    }
    Ok(())
}

fn draw(canvas: &mut Canvas, panel: &ScatterPanel, place: Rect, size: f32) {
    let view = View::of(panel);
    let to_canvas = |position: [f32; 2]| view.position(position, place);
    if let Some(regions) = &panel.regions {
        let (left, top) = to_canvas([regions.x[0], regions.y[1]]);
        let (right, bottom) = to_canvas([regions.x[1], regions.y[0]]);
        canvas.picture(
            rectangle(left, top, right - left, bottom - top),
            background(regions),
        );
    }
    canvas.frame(place, Colour::PALE, 1.5);

    let radius = (0.22 * PANEL_WIDTH / (panel.points.len() as f32).sqrt()).clamp(1.2, 5.0);
    for (&position, &class) in panel.points.iter().zip(&panel.classes) {
        canvas.dot(
            to_canvas(position),
            radius,
            class_colour(class).with_opacity(0.85),
        );
    }
    let reach = (60.0 / (panel.labelled.len() as f32).sqrt()).clamp(6.0, 12.0);
    for &(position, class) in &panel.labelled {
        let (x, y) = to_canvas(position);
        let corners = [
            (x, y - reach),
            (x + reach, y),
            (x, y + reach),
            (x - reach, y),
        ];
        canvas.polygon(&corners, class_colour(class), Some((Colour::INK, 2.0)));
    }
    if !panel.corner.is_empty() {
        let size = text::size_to_fit(&panel.corner, size, 0.8 * PANEL_WIDTH);
        let (x, y) = (place.left() + 0.45 * size, place.bottom() - 0.8 * size);
        // The text has a white background, since points may be below it.
        let paper = rectangle(
            place.left() + 1.0,
            place.bottom() - 1.6 * size,
            text::width(&panel.corner, size) + 0.9 * size,
            1.6 * size - 1.0,
        );
        canvas.rectangle(paper, Colour::WHITE.with_opacity(0.85));
        canvas.text(
            &panel.corner,
            Placement::centred(x, y, size).anchored(Anchor::Start),
        );
    }
}

fn background(regions: &Regions) -> Image {
    let from_the_top = (0..regions.rows).rev();
    let cells = from_the_top.flat_map(|row| row * regions.columns..(row + 1) * regions.columns);
    let pixels = cells.map(|cell| {
        let colour = class_colour(regions.class[cell]).tint(0.38 * regions.confidence[cell]);
        [colour.red, colour.green, colour.blue]
    });
    Image {
        width: regions.columns,
        height: regions.rows,
        pixels: pixels.collect(),
    }
}

#[cfg(test)]
#[path = "scatter_tests.rs"]
mod tests;
