//! Changes the images of a batch, channel by channel.

use crate::random::{RandomPurpose, generator};
use crate::shift::shift_images;
use crate::stretch::stretch_images;
use crate::{Dataset, Features, Layout};

/// Changes each image, one channel after the other (`[channels, height, width]`, as models see
/// them): `draw` draws the change once for each image, and `change` writes a channel from its
/// original. Rows that are not images stay as they are.
pub(crate) fn change_planes<How>(
    features: &mut [f32],
    layout: &Layout,
    mut draw: impl FnMut() -> How,
    change: impl Fn(&mut [f32], &[f32], [usize; 2], &How),
) {
    let Layout::Image {
        height,
        width,
        channels,
    } = *layout
    else {
        return;
    };
    let mut original = vec![0.0; height * width * channels];
    for image in features.chunks_exact_mut(original.len().max(1)) {
        original.copy_from_slice(image);
        let how = draw();
        let planes = image.chunks_exact_mut(height * width);
        for (plane, original) in planes.zip(original.chunks_exact(height * width)) {
            change(plane, original, [height, width], &how);
        }
    }
}

impl Dataset {
    /// Images as models see them, each shifted and transformed like those of a training step: by at
    /// most `shift` pixels, and by a matrix whose entries differ from the identity's by at most
    /// `stretch`. Rows that are not images stay as they are.
    pub fn moved(&self, shift: usize, stretch: f32, seed: u64) -> Self {
        let mut rows = self.features.matrix();
        let mut random = generator(seed, RandomPurpose::Shift, 0);
        shift_images(&mut rows.values, &self.layout, shift, &mut random);
        let mut random = generator(seed, RandomPurpose::Stretch, 0);
        stretch_images(&mut rows.values, &self.layout, stretch, &mut random);
        Self {
            features: Features::new(rows),
            ..self.clone()
        }
    }
}
