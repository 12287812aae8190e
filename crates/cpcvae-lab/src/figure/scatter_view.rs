//! The part of the plane that a scatter panel shows.

use super::scatter::ScatterPanel;
use tiny_skia::Rect;

/// The positions of all points and labelled examples.
pub(super) fn positions(panel: &ScatterPanel) -> impl Iterator<Item = [f32; 2]> + '_ {
    panel
        .points
        .iter()
        .copied()
        .chain(panel.labelled.iter().map(|(position, _)| *position))
}

/// The part of the plane that a panel shows.
#[derive(Debug, Clone, Copy)]
pub(super) struct View {
    pub centre: [f32; 2],
    pub width: f32,
    pub height: f32,
}

impl View {
    pub(super) fn of(panel: &ScatterPanel) -> View {
        let mut low = [f32::INFINITY; 2];
        let mut high = [f32::NEG_INFINITY; 2];
        for position in positions(panel) {
            for axis in 0..2 {
                low[axis] = low[axis].min(position[axis]);
                high[axis] = high[axis].max(position[axis]);
            }
        }
        // Margin around the outermost points, which have a size; even a single point needs some.
        let extent = (high[0] - low[0]).max(high[1] - low[1]);
        let distance = high[0].abs().max(high[1].abs()).min(1e15);
        let margin = 0.05 * extent.max(1e-3 * distance).max(1e-6);
        for axis in 0..2 {
            low[axis] -= margin;
            high[axis] += margin;
        }
        if let Some(regions) = &panel.regions {
            low = [low[0].min(regions.x[0]), low[1].min(regions.y[0])];
            high = [high[0].max(regions.x[1]), high[1].max(regions.y[1])];
        }
        View {
            centre: [0.5 * (low[0] + high[0]), 0.5 * (low[1] + high[1])],
            width: high[0] - low[0],
            height: high[1] - low[1],
        }
    }

    /// The image of a position when the view is fitted into `place` without distortion.
    pub(super) fn position(&self, position: [f32; 2], place: Rect) -> (f32, f32) {
        let scale = (place.width() / self.width).min(place.height() / self.height);
        let x = 0.5 * (place.left() + place.right()) + scale * (position[0] - self.centre[0]);
        let y = 0.5 * (place.top() + place.bottom()) - scale * (position[1] - self.centre[1]);
        (x, y)
    }
}
