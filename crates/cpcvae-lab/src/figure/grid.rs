//! Grids of small images: samples, originals and their reconstructions.

use super::canvas::{Canvas, Image, rectangle};
use super::margin::Labels;
use super::{Layout, Result, save, text};
use std::path::Path;

/// Margin around the figure.
const BORDER: f32 = 16.0;
const LABEL_SIZE: f32 = 26.0;
const LARGEST_SCALE: usize = 8;
/// Maximum width of images and row labels; gaps and margins are added.
const LARGEST_WIDTH: usize = 1350;
const LARGEST_HEIGHT: usize = 2000;

/// Images of one size in rows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Grid {
    /// Height of every image.
    pub height: usize,
    /// Width of every image.
    pub width: usize,
    /// 1 for grey, 3 for red, green and blue.
    pub channels: usize,
    /// Rows of images: values from 0 to 1, ordered by height, then width, then channel, as in data
    /// sets. Rows may differ in length.
    pub images: Vec<Vec<Vec<f32>>>,
    /// One label for each row, or none.
    pub row_labels: Vec<String>,
    /// One label for each column, or none.
    pub column_labels: Vec<String>,
}

/// Draws the images magnified by a whole number, so that their pixels stay sharp squares.
///
/// Values outside 0 to 1 are clamped; NaN is an error.
pub fn image_grid(grid: &Grid, path: &Path) -> Result<()> {
    save::save(path, || layout(grid))
}

fn layout(grid: &Grid) -> Layout {
    let columns = grid.images.iter().map(Vec::len).max().unwrap_or(0);
    let rows = grid.images.len();
    check(grid, rows, columns)?;

    let scale = scale(grid, rows, columns);
    let gap = scale.max(2) as f32;
    let cell = ((grid.width * scale) as f32, (grid.height * scale) as f32);
    let pitch = (cell.0 + gap, cell.1 + gap);
    let labels = Labels::new(&grid.column_labels, &grid.row_labels, LABEL_SIZE, cell);
    // Whole pixels, so that images are not blurred.
    let corner = (
        (BORDER + labels.left()).ceil(),
        (BORDER + labels.above()).ceil(),
    );
    let mut canvas = Canvas::new(
        corner.0 + columns as f32 * pitch.0 - gap + BORDER,
        corner.1 + rows as f32 * pitch.1 - gap + BORDER,
    );
    labels.draw(&mut canvas, corner, cell, pitch);
    for (row, images) in grid.images.iter().enumerate() {
        for (column, image) in images.iter().enumerate() {
            let x = corner.0 + column as f32 * pitch.0;
            let y = corner.1 + row as f32 * pitch.1;
            let place = rectangle(x, y, cell.0, cell.1);
            canvas.picture(place, magnified(grid, image, scale));
        }
    }
    Ok(canvas)
}

fn check(grid: &Grid, rows: usize, columns: usize) -> std::result::Result<(), String> {
    let Grid {
        height,
        width,
        channels,
        ..
    } = *grid;
    if columns == 0 || height == 0 || width == 0 {
        return Err("the grid holds no images".into());
    }
    if channels != 1 && channels != 3 {
        return Err(format!("images have 1 or 3 channels, not {channels}"));
    }
    let labels = [
        (&grid.row_labels, rows, "row"),
        (&grid.column_labels, columns, "column"),
    ];
    for (labels, count, name) in labels {
        if !labels.is_empty() && labels.len() != count {
            return Err(format!(
                "{count} {name}s but {} {name} labels",
                labels.len()
            ));
        }
    }
    for (row, images) in grid.images.iter().enumerate() {
        for (column, image) in images.iter().enumerate() {
            if image.len() != channels * height * width {
                return Err(format!(
                    "the image in row {row}, column {column} has {} values instead of \
                     {height} x {width} x {channels}",
                    image.len()
                ));
            }
            if image.iter().any(|value| value.is_nan()) {
                return Err(format!(
                    "the image in row {row}, column {column} has NaN pixels"
                ));
            }
        }
    }
    Ok(())
}

/// The largest magnification at which the figure fits a page.
fn scale(grid: &Grid, rows: usize, columns: usize) -> usize {
    let labels = text::widest(&grid.row_labels, LABEL_SIZE) as usize;
    let across = LARGEST_WIDTH.saturating_sub(labels) / (grid.width * columns);
    let down = LARGEST_HEIGHT / (grid.height * rows);
    across.min(down).clamp(1, LARGEST_SCALE)
}

/// The image with every pixel repeated `scale` times in both directions.
fn magnified(grid: &Grid, image: &[f32], scale: usize) -> Image {
    let (width, height) = (grid.width * scale, grid.height * scale);
    let byte = |value: f32| (255.0 * value.clamp(0.0, 1.0)).round() as u8;
    let pixels = (0..width * height).map(|index| {
        let source = (index / width / scale) * grid.width + (index % width) / scale;
        match grid.channels {
            1 => [byte(image[source]); 3],
            _ => [0, 1, 2].map(|channel| byte(image[3 * source + channel])),
        }
    });
    Image {
        width,
        height,
        pixels: pixels.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::raster::pixels;
    use super::*;

    /// Two images of 2 x 1 pixels: red and blue, then white and black.
    fn colours() -> Grid {
        let red_blue = vec![1.0, 0.0, 0.0, 0.0, 0.0, 1.0];
        let white_black = vec![1.0, 1.0, 1.5, 0.0, 0.0, -0.5];
        Grid {
            height: 1,
            width: 2,
            channels: 3,
            images: vec![vec![red_blue], vec![white_black]],
            ..Grid::default()
        }
    }

    #[test]
    fn pixels_are_magnified_sharply() {
        let sheet = pixels(&layout(&colours()).unwrap()).unwrap();
        let colour = |x, y| {
            let pixel = sheet.pixel(x, y).unwrap();
            [pixel.red(), pixel.green(), pixel.blue()]
        };
        assert_eq!(
            (sheet.width(), sheet.height()),
            (16 + 16 + 16, 16 + 8 + 8 + 8 + 16)
        );
        assert_eq!(colour(16, 16), [255, 0, 0]);
        assert_eq!(colour(23, 23), [255, 0, 0]);
        assert_eq!(colour(24, 16), [0, 0, 255]);
        assert_eq!(colour(16, 25), [255; 3], "the gap is white");
        assert_eq!(colour(31, 39), [0; 3]);
    }

    #[test]
    fn figures_stay_within_a_page() {
        let mnist = Grid {
            height: 28,
            width: 28,
            channels: 1,
            ..Grid::default()
        };
        assert_eq!(scale(&mnist, 3, 10), 4);
        assert_eq!(scale(&mnist, 3, 20), 2);
        assert_eq!(scale(&mnist, 100, 100), 1);
        assert_eq!(scale(&mnist, 1, 1), 8);
    }

    #[test]
    fn ragged_input_is_refused_by_place() {
        let reason = |change: fn(&mut Grid)| {
            let mut grid = colours();
            change(&mut grid);
            layout(&grid).err().expect("the grid should be refused")
        };
        assert!(reason(|grid| grid.images[1][0].truncate(5)).contains("row 1, column 0"));
        assert!(reason(|grid| grid.images[0][0][0] = f32::NAN).contains("NaN"));
        assert!(reason(|grid| grid.channels = 2).contains("not 2"));
        assert!(reason(|grid| grid.row_labels = vec!["x".into()]).contains("2 rows but 1"));
        assert!(reason(|grid| grid.images.clear()).contains("no images"));
    }
}
