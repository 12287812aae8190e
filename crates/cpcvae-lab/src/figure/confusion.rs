//! Confusion matrices.

use super::canvas::{Canvas, Placement, rectangle};
use super::margin::Labels;
use super::palette::{Colour, class_colour};
use super::{Layout, Result, save, text};
use std::path::Path;

const BORDER: f32 = 16.0;
const TEXT_SIZE: f32 = 26.0;
/// Cells smaller than this are too small for numbers.
const SMALLEST_WRITTEN_CELL: f32 = 28.0;
/// Cells smaller than this have room for the count but not for its share.
const SMALLEST_SHARED_CELL: f32 = 64.0;

/// Draws how often each true class (a row of `counts`) was predicted as each class (a column).
///
/// The percentage in a cell is its share of its row. Its shade grows with the square root of that
/// share, so that the rare confusions of a good model are visible.
pub fn confusion_matrix(classes: &[String], counts: &[Vec<u64>], path: &Path) -> Result<()> {
    save::save(path, || layout(classes, counts))
}

fn layout(classes: &[String], counts: &[Vec<u64>]) -> Layout {
    let count = classes.len();
    if count == 0 {
        return Err("there are no classes".into());
    }
    if counts.len() != count {
        return Err(format!(
            "{count} classes but {} rows of counts",
            counts.len()
        ));
    }
    if let Some(row) = counts.iter().position(|row| row.len() != count) {
        let columns = counts[row].len();
        return Err(format!("{count} classes but {columns} counts in row {row}"));
    }

    let side = (900.0 / count as f32).clamp(14.0, 110.0).round();
    let cell = (side, side);
    let labels = Labels::new(classes, classes, TEXT_SIZE, cell);
    let axis_title = 1.7 * TEXT_SIZE;
    let corner = (
        (BORDER + axis_title + labels.left()).ceil(),
        (BORDER + axis_title + labels.above()).ceil(),
    );
    let matrix = side * count as f32;
    let mut canvas = Canvas::new(corner.0 + matrix + BORDER, corner.1 + matrix + BORDER);
    let middle = (corner.0 + 0.5 * matrix, corner.1 + 0.5 * matrix);
    let title = BORDER + 0.5 * TEXT_SIZE;
    let grey = |x, y, words| {
        let size = text::size_to_fit(words, TEXT_SIZE, matrix);
        Placement::centred(x, y, size).coloured(Colour::GREY)
    };
    canvas.text("predicted class", grey(middle.0, title, "predicted class"));
    canvas.text("true class", grey(title, middle.1, "true class").turned());
    labels.draw(&mut canvas, corner, cell, cell);

    for (row, counts) in counts.iter().enumerate() {
        let total = counts.iter().sum::<u64>().max(1) as f32;
        for (column, &count) in counts.iter().enumerate() {
            let x = corner.0 + column as f32 * side;
            let y = corner.1 + row as f32 * side;
            draw_cell(&mut canvas, (x, y), side, count, count as f32 / total);
        }
    }
    canvas.frame(
        rectangle(corner.0, corner.1, matrix, matrix),
        Colour::PALE,
        1.5,
    );
    Ok(canvas)
}

fn draw_cell(canvas: &mut Canvas, (x, y): (f32, f32), side: f32, count: u64, share: f32) {
    let place = rectangle(x, y, side, side);
    let shade = share.sqrt();
    canvas.rectangle(place, class_colour(0).tint(shade));
    canvas.frame(place, Colour::PALE, 1.0);
    if side < SMALLEST_WRITTEN_CELL {
        return;
    }
    let ink = match (count, shade > 0.85) {
        (0, _) => Colour::hex(0xb0b0b0),
        (_, true) => Colour::WHITE,
        (_, false) => Colour::INK,
    };
    let centre = (x + 0.5 * side, y + 0.5 * side);
    let written = |words: &str, y: f32, size: f32| {
        let size = text::size_to_fit(words, size, 0.86 * side);
        Placement::centred(centre.0, y, size).coloured(ink)
    };
    let number = count.to_string();
    if side < SMALLEST_SHARED_CELL || count == 0 {
        canvas.text(&number, written(&number, centre.1, 0.3 * side));
    } else {
        // A share that rounds to 0 or 100 %, but is not, is not shown as such.
        let percent = match 100.0 * share {
            small if small < 0.1 => "<0.1%".to_owned(),
            large if large > 99.9 && share < 1.0 => ">99.9%".to_owned(),
            all if share == 1.0 => format!("{all:.0}%"),
            other => format!("{other:.1}%"),
        };
        canvas.text(
            &number,
            written(&number, centre.1 - 0.13 * side, 0.28 * side),
        );
        canvas.text(
            &percent,
            written(&percent, centre.1 + 0.2 * side, 0.18 * side),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::super::canvas::Shape;
    use super::super::raster::pixels;
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| name.to_string()).collect()
    }

    #[test]
    fn cells_are_shaded_by_their_share_of_the_row() {
        let canvas = layout(&names(&["a", "b"]), &[vec![100, 0], vec![5, 15]]).unwrap();
        let sheet = pixels(&canvas).unwrap();
        let from_the_right = |cells: u32, up: u32| {
            let inset = BORDER as u32 + 8;
            let (x, y) = (
                sheet.width() - inset - cells * 110,
                sheet.height() - inset - up * 110,
            );
            let pixel = sheet.pixel(x, y).unwrap();
            [pixel.red(), pixel.green(), pixel.blue()]
        };
        assert_eq!(
            from_the_right(1, 1),
            [0x00, 0x72, 0xb2],
            "all of class a is found"
        );
        assert_eq!(from_the_right(0, 1), [255; 3]);
        let tinted = class_colour(0).tint(0.5);
        assert_eq!(
            from_the_right(1, 0),
            [tinted.red, tinted.green, tinted.blue]
        );
    }

    #[test]
    fn cells_tell_count_and_share() {
        let canvas = layout(&names(&["a", "b"]), &[vec![9999, 1], vec![5, 15]]).unwrap();
        let texts: Vec<&str> = canvas
            .shapes
            .iter()
            .filter_map(|shape| match shape {
                Shape::Area { words, .. } => words.as_deref(),
                _ => None,
            })
            .collect();
        assert_eq!(
            texts[6..],
            ["9999", ">99.9%", "1", "<0.1%", "5", "25.0%", "15", "75.0%"]
        );
    }

    #[test]
    fn ragged_counts_are_refused() {
        let classes = names(&["a", "b"]);
        let reason = |counts: &[Vec<u64>]| layout(&classes, counts).err().unwrap();
        assert_eq!(reason(&[vec![1, 2]]), "2 classes but 1 rows of counts");
        assert_eq!(
            reason(&[vec![1, 2], vec![3]]),
            "2 classes but 1 counts in row 1"
        );
        assert!(layout(&[], &[]).is_err());
    }
}
