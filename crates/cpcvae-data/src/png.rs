//! A row of pixels as a PNG image.

use crate::{DataError, Layout, Result};
use image::{ExtendedColorType, ImageEncoder, codecs::png::PngEncoder};

/// The bytes of a PNG file with the pixels of one row, clamped to [0, 1].
///
/// ```
/// use cpcvae_data::{Layout, png};
///
/// let layout = Layout::Image { height: 1, width: 2, channels: 1 };
/// assert_eq!(png(&[0.0, 1.0], &layout)?[1..4], *b"PNG");
/// # Ok::<(), cpcvae_data::DataError>(())
/// ```
pub fn png(pixels: &[f32], layout: &Layout) -> Result<Vec<u8>> {
    let Layout::Image {
        height,
        width,
        channels,
    } = layout
    else {
        return Err(DataError::Shape("a row of a table is not an image".into()));
    };
    let colour = match channels {
        1 => ExtendedColorType::L8,
        3 => ExtendedColorType::Rgb8,
        other => {
            let problem = format!("a pixel of {other} values cannot be drawn");
            return Err(DataError::Shape(problem));
        }
    };
    if pixels.len() != layout.width() {
        let problem = format!("{} pixels do not fill an image", pixels.len());
        return Err(DataError::Shape(problem));
    }
    let bytes: Vec<u8> = pixels
        .iter()
        .map(|pixel| (255.0 * pixel.clamp(0.0, 1.0)).round() as u8)
        .collect();
    let mut file = Vec::new();
    PngEncoder::new(&mut file)
        .write_image(&bytes, *width as u32, *height as u32, colour)
        .map_err(|error| DataError::Shape(format!("an image cannot be written: {error}")))?;
    Ok(file)
}
