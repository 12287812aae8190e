//! What the values of a row mean: columns of a table, or pixels.

use crate::Column;
use serde::{Deserialize, Serialize};

/// What the values of a row mean.
///
/// ```
/// use cpcvae_data::Layout;
///
/// let image = Layout::Image { height: 4, width: 5, channels: 3 };
/// assert_eq!(image.width(), 60); // values in a row
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layout {
    /// One named column a value; NaN is a missing cell.
    Columns(Vec<Column>),
    /// Pixels in `[0, 1]`, ordered by height, then width, then channel.
    Image {
        /// Rows of pixels.
        height: usize,
        /// Pixels in a row.
        width: usize,
        /// Values in a pixel: 1 for grey, 3 for colour.
        channels: usize,
    },
}

impl Layout {
    /// How many values a row has.
    pub fn width(&self) -> usize {
        match self {
            Layout::Columns(columns) => columns.len(),
            Layout::Image {
                height,
                width,
                channels,
            } => height.saturating_mul(*width).saturating_mul(*channels),
        }
    }

    /// A name for the value at `column`, for messages and tables.
    pub fn column_name(&self, column: usize) -> String {
        match self {
            Layout::Columns(columns) => columns
                .get(column)
                .map_or_else(|| format!("#{column}"), |column| column.name.clone()),
            Layout::Image {
                width, channels, ..
            } => {
                let pixel = column / channels.max(&1);
                let (y, x) = (pixel / width.max(&1), pixel % width.max(&1));
                match channels {
                    0 | 1 => format!("pixel y={y} x={x}"),
                    _ => format!("pixel y={y} x={x} channel={}", column % channels),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_are_named_by_their_place() {
        let layout = Layout::Image {
            height: 2,
            width: 3,
            channels: 3,
        };
        assert_eq!(layout.column_name(3 * 4 + 2), "pixel y=1 x=1 channel=2");
    }
}
