//! Rasterises a canvas.

use super::canvas::{Canvas, Image, Shape};
use super::palette::Colour;
use tiny_skia::{
    Color, FillRule, FilterQuality, LineJoin, Paint, Path, PathBuilder, Pixmap, PixmapPaint, Rect,
    Stroke, Transform,
};

/// Larger images may not open in viewers or fit in memory.
const MOST_PIXELS: u64 = 100_000_000;

/// Encodes the canvas as PNG.
pub(super) fn png(canvas: &Canvas) -> Result<Vec<u8>, String> {
    let sheet = pixels(canvas)?;
    sheet
        .encode_png()
        .map_err(|error| format!("cannot encode it as PNG: {error}"))
}

/// Encodes an image as PNG, for SVG to embed.
pub(super) fn image_png(image: &Image) -> Result<Vec<u8>, String> {
    let pixels = opaque(image)?;
    pixels
        .encode_png()
        .map_err(|error| format!("cannot encode an image as PNG: {error}"))
}

pub(super) fn pixels(canvas: &Canvas) -> Result<Pixmap, String> {
    let (width, height) = (canvas.width as u32, canvas.height as u32);
    let fits = u64::from(width) * u64::from(height) <= MOST_PIXELS;
    let mut sheet = fits
        .then(|| Pixmap::new(width, height))
        .flatten()
        .ok_or_else(|| format!("{width} x {height} pixels are too many"))?;
    sheet.fill(Color::WHITE);
    for shape in &canvas.shapes {
        match shape {
            Shape::Area { outline, fill, .. } => area(&mut sheet, outline, *fill),
            Shape::Dot { x, y, radius, fill } => {
                if let Some(disc) = PathBuilder::from_circle(*x, *y, *radius) {
                    area(&mut sheet, &disc, *fill);
                }
            }
            Shape::Line {
                path,
                colour,
                width,
            } => {
                let line_join = LineJoin::Round;
                let stroke = Stroke {
                    width: *width,
                    line_join,
                    ..Stroke::default()
                };
                sheet.stroke_path(path, &paint(*colour), &stroke, Transform::identity(), None);
            }
            Shape::Picture { place, image } => picture(&mut sheet, *place, image)?,
        }
    }
    Ok(sheet)
}

fn area(sheet: &mut Pixmap, outline: &Path, fill: Colour) {
    sheet.fill_path(
        outline,
        &paint(fill),
        FillRule::Winding,
        Transform::identity(),
        None,
    );
}

fn picture(sheet: &mut Pixmap, place: Rect, image: &Image) -> Result<(), String> {
    let scale = (
        place.width() / image.width as f32,
        place.height() / image.height as f32,
    );
    // An image that is not scaled must keep its pixels exactly.
    let quality = match scale {
        (1.0, 1.0) => FilterQuality::Nearest,
        _ => FilterQuality::Bilinear,
    };
    let paint = PixmapPaint {
        quality,
        ..PixmapPaint::default()
    };
    let stretch = Transform::from_row(scale.0, 0.0, 0.0, scale.1, place.x(), place.y());
    sheet.draw_pixmap(0, 0, opaque(image)?.as_ref(), &paint, stretch, None);
    Ok(())
}

fn opaque(image: &Image) -> Result<Pixmap, String> {
    let mut pixels = Pixmap::new(image.width as u32, image.height as u32)
        .ok_or_else(|| format!("an image of {} x {} pixels", image.width, image.height))?;
    let bytes = pixels.data_mut().chunks_exact_mut(4);
    for (target, [red, green, blue]) in bytes.zip(&image.pixels) {
        target.copy_from_slice(&[*red, *green, *blue, 255]);
    }
    Ok(pixels)
}

fn paint(colour: Colour) -> Paint<'static> {
    let mut paint = Paint {
        anti_alias: true,
        ..Paint::default()
    };
    let opacity = (colour.opacity * 255.0).round() as u8;
    paint.set_color_rgba8(colour.red, colour.green, colour.blue, opacity);
    paint
}

#[cfg(test)]
mod tests {
    use super::super::canvas::rectangle;
    use super::*;

    fn colour_at(sheet: &Pixmap, x: u32, y: u32) -> [u8; 3] {
        let pixel = sheet.pixel(x, y).unwrap();
        [pixel.red(), pixel.green(), pixel.blue()]
    }

    #[test]
    fn shapes_land_on_their_pixels_in_order() {
        let mut canvas = Canvas::new(39.5, 20.0);
        let blue = Colour::hex(0x0072b2);
        canvas.rectangle(rectangle(0.0, 0.0, 20.0, 20.0), blue);
        canvas.dot((10.0, 10.0), 4.0, Colour::hex(0xff0000));
        canvas.line(&[(20.0, 10.0), (40.0, 10.0)], Colour::hex(0x00ff00), 4.0);
        let black_and_white = Image {
            width: 2,
            height: 1,
            pixels: vec![[0; 3], [255; 3]],
        };
        canvas.picture(rectangle(30.0, 0.0, 2.0, 1.0), black_and_white);

        let sheet = pixels(&canvas).unwrap();
        assert_eq!((sheet.width(), sheet.height()), (40, 20));
        assert_eq!(colour_at(&sheet, 1, 1), [0, 0x72, 0xb2]);
        assert_eq!(colour_at(&sheet, 10, 10), [255, 0, 0]);
        assert_eq!(colour_at(&sheet, 30, 10), [0, 255, 0]);
        assert_eq!(colour_at(&sheet, 30, 0), [0, 0, 0]);
        assert_eq!(colour_at(&sheet, 31, 0), [255, 255, 255]);
    }

    #[test]
    fn an_impossible_size_is_an_error() {
        assert!(
            png(&Canvas::new(1e9, 1e9))
                .unwrap_err()
                .contains("too many")
        );
    }
}
