//! Parallel coordinates: a vertical axis for each parameter, and a line for each trial through its
//! values; the better, the darker.

use super::canvas::{Canvas, Placement};
use super::palette::{Colour, class_colour};
use super::{Layout, Result, save, text};
use std::path::Path;

const PITCH: f32 = 190.0;
const HEIGHT: f32 = 460.0;
const BORDER: f32 = 30.0;
const SIZE: f32 = 20.0;

/// One of the axes.
#[derive(Clone, Debug, PartialEq)]
pub struct ParallelAxis {
    /// Its name.
    pub name: String,
    /// The label of its lower end.
    pub low: String,
    /// The label of its upper end.
    pub high: String,
}

/// One of the lines.
#[derive(Clone, Debug, PartialEq)]
pub struct ParallelLine {
    /// The position on each axis, from 0 to 1; `None` where it has no value.
    pub places: Vec<Option<f64>>,
    /// How good it is: 1 for the best, 0 for the worst.
    pub strength: f64,
}

/// Draws lines over axes, the best ones last.
pub fn parallel_coordinates(
    title: &str,
    axes: &[ParallelAxis],
    lines: &[ParallelLine],
    path: &Path,
) -> Result<()> {
    save::save(path, || layout(title, axes, lines))
}

fn layout(title: &str, axes: &[ParallelAxis], lines: &[ParallelLine]) -> Layout {
    if axes.is_empty() || lines.is_empty() {
        return Err("there are no axes or no lines".into());
    }
    let top = BORDER + 4.6 * SIZE;
    let width = 2.0 * BORDER + PITCH * axes.len() as f32;
    let mut canvas = Canvas::new(width.max(500.0), top + HEIGHT + 1.6 * SIZE + BORDER);
    let left = 0.5 * (canvas.width - PITCH * axes.len() as f32) + 0.5 * PITCH;
    let across = |axis: usize| left + PITCH * axis as f32;
    let middle = 0.5 * canvas.width;
    let size = text::size_to_fit(title, 1.2 * SIZE, canvas.width - 2.0 * BORDER);
    canvas.text(title, Placement::centred(middle, BORDER, size));
    let mut order: Vec<&ParallelLine> = lines.iter().collect();
    order.sort_by(|a, b| a.strength.total_cmp(&b.strength));
    for line in order {
        let colour = class_colour(0).tint(0.12 + 0.88 * line.strength as f32);
        // A missing value breaks the line.
        let pieces = line.places.iter().enumerate();
        let points: Vec<Option<(f32, f32)>> = pieces
            .map(|(axis, place)| {
                place.map(|place| (across(axis), top + HEIGHT * (1.0 - place as f32)))
            })
            .collect();
        for piece in points.split(Option::is_none) {
            let piece: Vec<(f32, f32)> = piece.iter().flatten().copied().collect();
            canvas.line(&piece, colour, if line.strength == 1.0 { 4.0 } else { 2.0 });
            if let [point] = piece[..] {
                canvas.dot(point, 4.0, colour);
            }
        }
    }
    for (place, axis) in axes.iter().enumerate() {
        let x = across(place);
        canvas.line(&[(x, top), (x, top + HEIGHT)], Colour::GREY, 2.0);
        let write = |canvas: &mut Canvas, words: &str, y: f32, colour| {
            let size = text::size_to_fit(words, SIZE, 0.94 * PITCH);
            canvas.text(words, Placement::centred(x, y, size).coloured(colour));
        };
        write(&mut canvas, &axis.name, top - 2.2 * SIZE, Colour::INK);
        write(&mut canvas, &axis.high, top - 0.9 * SIZE, Colour::GREY);
        write(
            &mut canvas,
            &axis.low,
            top + HEIGHT + 0.9 * SIZE,
            Colour::GREY,
        );
    }
    Ok(canvas)
}

#[cfg(test)]
mod tests {
    use super::super::canvas::Shape;
    use super::*;

    #[test]
    fn a_value_that_is_not_there_breaks_a_line() {
        let axis = |name: &str| ParallelAxis {
            name: name.into(),
            low: "0".into(),
            high: "1".into(),
        };
        let axes = ["a", "b", "c", "d"].map(axis);
        let line = |places: [Option<f64>; 4]| ParallelLine {
            places: places.to_vec(),
            strength: 0.5,
        };
        let drawn = |places| {
            let canvas = layout("t", &axes, &[line(places)]).expect("drawn");
            let count = |wanted: fn(&Shape) -> bool| {
                canvas.shapes.iter().filter(|shape| wanted(shape)).count()
            };
            let lines = count(|shape| matches!(shape, Shape::Line { .. }));
            (
                lines - axes.len(),
                count(|shape| matches!(shape, Shape::Dot { .. })),
            )
        };
        assert_eq!(drawn([Some(0.1), Some(0.5), Some(0.2), Some(1.0)]), (1, 0));
        assert_eq!(drawn([Some(0.1), Some(0.5), None, Some(1.0)]), (1, 1));
        assert!(layout("t", &[], &[]).is_err());
    }
}
