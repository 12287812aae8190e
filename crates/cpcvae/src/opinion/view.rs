//! What of a row is compared with other rows.

use super::edges::{EDGES, edges};
use cpcvae_data::{Layout, Matrix};
use serde::{Deserialize, Serialize};

/// What of a row is compared with other rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum View {
    /// Its values: columns, or pixels.
    Values,
    /// The directions of its edges, where it is an image ([`edges`]).
    Edges,
}

impl View {
    /// What is to be compared of rows of that layout, the channels of images one after the other.
    pub fn of(self, rows: Matrix, layout: &Layout) -> Matrix {
        match (self, layout) {
            (
                Self::Edges,
                Layout::Image {
                    height,
                    width,
                    channels,
                },
            ) if rows.columns > 0 => Matrix {
                rows: rows.rows,
                columns: EDGES,
                values: edges(&rows.values, [*height, *width, *channels]),
            },
            _ => rows,
        }
    }
}
