//! A canvas as SVG.

use super::canvas::{Canvas, Shape};
use super::palette::Colour;
use super::raster::image_png;
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use std::fmt::Write;
use tiny_skia::{Path, PathSegment};

/// Writes the canvas as a self-contained SVG document.
pub(super) fn svg(canvas: &Canvas) -> Result<String, String> {
    let (width, height) = (canvas.width, canvas.height);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" \
         width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
    );
    for shape in &canvas.shapes {
        svg += &element(shape)?;
        svg.push('\n');
    }
    svg += "</svg>\n";
    Ok(svg)
}

fn element(shape: &Shape) -> Result<String, String> {
    Ok(match shape {
        Shape::Area {
            outline,
            fill,
            words,
        } => {
            // Outlines cannot be searched or read by a screen reader; their label can.
            let label = words.as_ref().map_or(String::new(), |words| {
                format!(" role=\"img\" aria-label=\"{}\"", escaped(words))
            });
            format!(
                "<path d=\"{}\"{}{label}/>",
                data(outline),
                paint("fill", *fill)
            )
        }
        Shape::Line {
            path,
            colour,
            width,
        } => format!(
            "<path d=\"{}\" fill=\"none\"{} stroke-width=\"{}\" stroke-linejoin=\"round\"/>",
            data(path),
            paint("stroke", *colour),
            number(*width)
        ),
        Shape::Dot { x, y, radius, fill } => format!(
            "<circle cx=\"{}\" cy=\"{}\" r=\"{}\"{}/>",
            number(*x),
            number(*y),
            number(*radius),
            paint("fill", *fill)
        ),
        Shape::Picture { place, image } => format!(
            "<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\" \
             href=\"data:image/png;base64,{}\"/>",
            number(place.x()),
            number(place.y()),
            number(place.width()),
            number(place.height()),
            BASE64.encode(image_png(image)?)
        ),
    })
}

fn data(path: &Path) -> String {
    let mut data = String::new();
    let mut step = |command: char, points: &[tiny_skia::Point]| {
        data.push(command);
        for (index, point) in points.iter().enumerate() {
            let gap = if index == 0 { "" } else { " " };
            write!(data, "{gap}{} {}", number(point.x), number(point.y)).expect("in memory");
        }
    };
    for segment in path.segments() {
        match segment {
            PathSegment::MoveTo(to) => step('M', &[to]),
            PathSegment::LineTo(to) => step('L', &[to]),
            PathSegment::QuadTo(via, to) => step('Q', &[via, to]),
            PathSegment::CubicTo(first, second, to) => step('C', &[first, second, to]),
            PathSegment::Close => step('Z', &[]),
        }
    }
    data
}

fn paint(attribute: &str, colour: Colour) -> String {
    let Colour {
        red,
        green,
        blue,
        opacity,
    } = colour;
    let paint = format!(" {attribute}=\"#{red:02x}{green:02x}{blue:02x}\"");
    match opacity < 1.0 {
        true => format!("{paint} {attribute}-opacity=\"{}\"", number(opacity)),
        false => paint,
    }
}

/// Hundredths of a pixel are precise enough, and keep files small.
fn number(value: f32) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn escaped(words: &str) -> String {
    words
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::super::canvas::{Image, Placement, rectangle};
    use super::*;

    #[test]
    fn every_shape_becomes_one_element() {
        let mut canvas = Canvas::new(100.0, 50.0);
        canvas.dot((1.5, 2.0), 3.25, Colour::hex(0x0072b2).with_opacity(0.5));
        canvas.line(&[(0.0, 0.0), (10.0, 20.125)], Colour::INK, 1.0);
        canvas.text("a < \"b\"", Placement::centred(50.0, 25.0, 12.0));
        let image = Image {
            width: 1,
            height: 1,
            pixels: vec![[9; 3]],
        };
        canvas.picture(rectangle(0.0, 0.0, 10.0, 10.0), image);

        let svg = svg(&canvas).unwrap();
        assert!(svg.contains("viewBox=\"0 0 100 50\""));
        assert!(svg.contains(
            "<circle cx=\"1.5\" cy=\"2\" r=\"3.25\" fill=\"#0072b2\" fill-opacity=\"0.5\"/>"
        ));
        assert!(svg.contains("d=\"M0 0L10 20.12\" fill=\"none\" stroke=\"#222222\""));
        assert!(svg.contains("aria-label=\"a &lt; &quot;b&quot;\""));
        assert!(svg.contains("href=\"data:image/png;base64,iVBOR"));
        assert_eq!(svg.lines().count(), 2 + 4 + 1);
    }
}
