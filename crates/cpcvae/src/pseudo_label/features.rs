//! The features by which rows are compared.

use super::hog::{HOG_LENGTH, hog};
use cpcvae_data::{Layout, Matrix};
use serde::{Deserialize, Serialize};

/// The features by which rows are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ComparedFeatures {
    /// Its values: columns, or pixels.
    Values,
    /// HOG descriptors ([`hog`]) for images, values otherwise.
    Hog,
}

impl ComparedFeatures {
    /// The features of rows of that layout, the channels of images one after the other.
    pub fn of(self, rows: Matrix, layout: &Layout) -> Matrix {
        match (self, layout) {
            (
                Self::Hog,
                Layout::Image {
                    height,
                    width,
                    channels,
                },
            ) if rows.columns > 0 => Matrix {
                rows: rows.rows,
                columns: HOG_LENGTH,
                values: hog(&rows.values, [*height, *width, *channels]),
            },
            _ => rows,
        }
    }
}
