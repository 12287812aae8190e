//! Images of a batch, changed channel by channel.

use crate::Layout;

/// Changes each image, one channel after the other (`[channels, height, width]`, as models see
/// them): `draw` says how, once for an image, and `change` writes a channel from what it was. Rows
/// that are not images stay as they are.
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
