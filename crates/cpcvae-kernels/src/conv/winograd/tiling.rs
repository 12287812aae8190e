//! Images cut into tiles.

use super::lines::TILE;

/// Images `[rows, height, width, ..]`, cut into tiles. A strip is a line of tiles from left to
/// right; strips are numbered through all images.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tiling {
    pub rows: usize,
    pub height: usize,
    pub width: usize,
}

impl Tiling {
    /// Tiles of a strip.
    pub(super) fn across(&self) -> usize {
        self.width.div_ceil(TILE)
    }

    /// Strips of an image.
    pub(super) fn down(&self) -> usize {
        self.height.div_ceil(TILE)
    }

    /// Strips of all images.
    pub(super) fn strips(&self) -> usize {
        self.rows * self.down()
    }

    /// The image of a strip, and the first of its lines of pixels.
    pub(super) fn place(&self, strip: usize) -> (usize, usize) {
        (strip / self.down(), strip % self.down() * TILE)
    }

    /// Pixels of all images before this strip.
    pub(super) fn pixels_before(&self, strip: usize) -> usize {
        let (image, line) = self.place(strip);
        (image * self.height + line) * self.width
    }
}
