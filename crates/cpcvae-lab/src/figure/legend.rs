//! A legend of the classes' colours in one line.

use super::canvas::{Anchor, Canvas, Placement};
use super::palette::{Colour, class_colour};
use super::text;

/// Space between two entries, and between a mark and its text, as a multiple of the text's size.
const BETWEEN: f32 = 1.1;
const AFTER_MARK: f32 = 0.9;

/// Height of the line for text of that size, including margins.
pub(super) fn height(names: &[String], size: f32) -> f32 {
    match names.is_empty() {
        true => 0.0,
        false => 1.5 * size,
    }
}

/// Draws a dot and a name for each class, then the meaning of a diamond, centred in the width.
pub(super) fn draw(canvas: &mut Canvas, names: &[String], middle_y: f32, size: f32) {
    let labelled = "labelled".to_string();
    let words = || names.iter().chain([&labelled]);
    let wide = |size: f32| -> f32 {
        let entry = |word: &String| (AFTER_MARK + BETWEEN) * size + text::width(word, size);
        words().map(entry).sum::<f32>() - BETWEEN * size
    };
    let size = size * ((0.96 * canvas.width) / wide(size)).min(1.0);
    let mut x = 0.5 * (canvas.width - wide(size));
    for (class, word) in words().enumerate() {
        let mark = (x + 0.35 * size, middle_y);
        if class < names.len() {
            canvas.dot(mark, 0.32 * size, class_colour(class as u32));
        } else {
            let reach = 0.38 * size;
            let corners = [(0.0, -reach), (reach, 0.0), (0.0, reach), (-reach, 0.0)];
            let corners = corners.map(|(right, down)| (mark.0 + right, mark.1 + down));
            canvas.polygon(&corners, Colour::PALE, Some((Colour::INK, 2.0)));
        }
        let place = Placement::centred(x + AFTER_MARK * size, middle_y, size);
        canvas.text(word, place.anchored(Anchor::Start));
        x += (AFTER_MARK + BETWEEN) * size + text::width(word, size);
    }
}
