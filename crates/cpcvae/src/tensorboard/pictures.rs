//! Sampled images tiled to one image.

use super::proto::Image;
use crate::error::Result;
use crate::infer::{CodeSource, Inference};
use cpcvae_data::{Layout, Matrix, png};

/// Images along each side of the tiling.
const SIDE: usize = 4;

/// Samples of the model, tiled; `None` for a model of tables, or without a generative part.
pub(super) fn samples(model: &Inference, codes: CodeSource) -> Result<Option<Image>> {
    let shape = model.shape();
    let Some(size) = shape.image.filter(|_| model.is_generative()) else {
        return Ok(None);
    };
    let drawn = model.sample(SIDE * SIDE, false, codes)?;
    tiled(&drawn, size, shape.likelihood.pixel_range()).map(Some)
}

/// `images [rows, channels * height * width]`, whose black and white are `low` and `high`.
fn tiled(
    images: &Matrix,
    [height, width, channels]: [usize; 3],
    (low, high): (f32, f32),
) -> Result<Image> {
    let [all_height, all_width] = [SIDE * height, SIDE * width];
    let mut pixels = vec![0.0; all_height * all_width * channels];
    for image in 0..images.rows {
        let (top, left) = (image / SIDE * height, image % SIDE * width);
        for (place, value) in images.row(image).iter().enumerate() {
            let (channel, pixel) = (place / (height * width), place % (height * width));
            let (y, x) = (top + pixel / width, left + pixel % width);
            let at = (y * all_width + x) * channels + channel;
            pixels[at] = ((value - low) / (high - low)).clamp(0.0, 1.0);
        }
    }
    let layout = Layout::Image {
        height: all_height,
        width: all_width,
        channels,
    };
    Ok(Image {
        height: all_height as i32,
        width: all_width as i32,
        colorspace: channels as i32,
        encoded_image_string: png(&pixels, &layout)?,
    })
}
