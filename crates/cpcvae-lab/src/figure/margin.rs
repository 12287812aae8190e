//! Labels above and to the left of a matrix of cells.

use super::canvas::{Anchor, Canvas, Placement};
use super::text;

/// Space between a label and the cells.
const GAP: f32 = 12.0;

/// The labels of the columns and rows of a matrix; either list may be empty.
pub(super) struct Labels<'a> {
    columns: &'a [String],
    column_size: f32,
    /// Whether the column labels are rotated, because they are too long for their columns.
    turned: bool,
    rows: &'a [String],
    row_size: f32,
}

impl<'a> Labels<'a> {
    /// Computes sizes so that labels do not touch each other in cells of the given size.
    pub(super) fn new(
        columns: &'a [String],
        rows: &'a [String],
        size: f32,
        cell: (f32, f32),
    ) -> Self {
        let widest = text::widest(columns, size);
        let room = 0.92 * cell.0;
        // Slightly smaller text is easier to read than rotated text; tiny text is not.
        let shrunk = size * (room / widest).min(1.0);
        let turned = shrunk < 0.65 * size;
        let column_size = if turned {
            size.min(0.9 * cell.0)
        } else {
            shrunk
        };
        Labels {
            columns,
            column_size,
            turned,
            rows,
            row_size: size.min(0.9 * cell.1),
        }
    }

    /// Height that the column labels take above the cells.
    pub(super) fn above(&self) -> f32 {
        match (self.columns.is_empty(), self.turned) {
            (true, _) => 0.0,
            (false, true) => text::widest(self.columns, self.column_size) + GAP,
            (false, false) => self.column_size + GAP,
        }
    }

    /// Width that the row labels take left of the cells.
    pub(super) fn left(&self) -> f32 {
        match self.rows.is_empty() {
            true => 0.0,
            false => text::widest(self.rows, self.row_size) + GAP,
        }
    }

    /// Draws them around cells whose first corner is `corner` and which repeat every `pitch`.
    pub(super) fn draw(
        &self,
        canvas: &mut Canvas,
        corner: (f32, f32),
        cell: (f32, f32),
        pitch: (f32, f32),
    ) {
        for (index, label) in self.columns.iter().enumerate() {
            let x = corner.0 + index as f32 * pitch.0 + 0.5 * cell.0;
            let bottom = corner.1 - GAP;
            canvas.text(
                label,
                match self.turned {
                    true => Placement::centred(x, bottom, self.column_size)
                        .turned()
                        .anchored(Anchor::Start),
                    false => {
                        Placement::centred(x, bottom - 0.4 * self.column_size, self.column_size)
                    }
                },
            );
        }
        for (index, label) in self.rows.iter().enumerate() {
            let y = corner.1 + index as f32 * pitch.1 + 0.5 * cell.1;
            let place = Placement::centred(corner.0 - GAP, y, self.row_size);
            canvas.text(label, place.anchored(Anchor::End));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_shrink_then_turn() {
        let labels = |word: &str| vec![word.to_owned()];
        let (short, longer, long) = (labels("7"), labels("original"), labels("reconstruction"));
        let in_cells = |columns| Labels::new(columns, &[], 24.0, (80.0, 80.0));
        assert_eq!(in_cells(&short).column_size, 24.0);
        assert!(in_cells(&longer).column_size < 24.0 && !in_cells(&longer).turned);
        assert!(in_cells(&long).turned && in_cells(&long).above() > 100.0);
        assert_eq!((in_cells(&[]).above(), in_cells(&[]).left()), (0.0, 0.0));
    }
}
