//! The list of shapes a figure is made of, before it becomes pixels or SVG.

use super::palette::Colour;
use super::text;
use tiny_skia::{Path, PathBuilder, Rect};

/// A white canvas of shapes drawn one over another. Lengths are in pixels of the PNG, with `y`
/// growing downwards.
pub(super) struct Canvas {
    pub width: f32,
    pub height: f32,
    pub shapes: Vec<Shape>,
}

pub(super) enum Shape {
    /// A filled outline; `words` is its text, if it is one.
    Area {
        outline: Path,
        fill: Colour,
        words: Option<String>,
    },
    /// A stroked path.
    Line {
        path: Path,
        colour: Colour,
        width: f32,
    },
    /// A small disc, as in scatter plots, which is shorter in SVG than an outline.
    Dot {
        x: f32,
        y: f32,
        radius: f32,
        fill: Colour,
    },
    /// An image stretched over a rectangle.
    Picture { place: Rect, image: Image },
}

/// Opaque pixels, row by row from the top.
pub(super) struct Image {
    pub width: usize,
    pub height: usize,
    pub pixels: Vec<[u8; 3]>,
}

/// Which point of a text its coordinates refer to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// The position and style of a text. `y` is the middle of its capitals.
#[derive(Debug, Clone, Copy)]
pub(super) struct Placement {
    pub x: f32,
    pub y: f32,
    pub size: f32,
    pub anchor: Anchor,
    /// Whether it is rotated to read upwards.
    pub turned: bool,
    pub colour: Colour,
}

impl Placement {
    /// Dark text centred on a point.
    pub(super) fn centred(x: f32, y: f32, size: f32) -> Placement {
        Placement {
            x,
            y,
            size,
            anchor: Anchor::Middle,
            turned: false,
            colour: Colour::INK,
        }
    }

    pub(crate) fn anchored(self, anchor: Anchor) -> Placement {
        Placement { anchor, ..self }
    }

    pub(super) fn turned(self) -> Placement {
        Placement {
            turned: true,
            ..self
        }
    }

    pub(super) fn coloured(self, colour: Colour) -> Placement {
        Placement { colour, ..self }
    }
}

impl Canvas {
    /// Sizes are rounded up to whole pixels, so that PNG and SVG agree.
    pub(super) fn new(width: f32, height: f32) -> Canvas {
        Canvas {
            width: width.ceil(),
            height: height.ceil(),
            shapes: Vec::new(),
        }
    }

    pub(super) fn text(&mut self, words: &str, placement: Placement) {
        if let Some(outline) = text::outline(words, placement) {
            let words = Some(words.to_owned());
            self.shapes.push(Shape::Area {
                outline,
                fill: placement.colour,
                words,
            });
        }
    }

    pub(super) fn rectangle(&mut self, place: Rect, fill: Colour) {
        self.area(PathBuilder::from_rect(place), fill);
    }

    pub(super) fn frame(&mut self, place: Rect, colour: Colour, width: f32) {
        self.shapes.push(Shape::Line {
            path: PathBuilder::from_rect(place),
            colour,
            width,
        });
    }

    /// A closed shape through the given corners.
    pub(crate) fn polygon(
        &mut self,
        corners: &[(f32, f32)],
        fill: Colour,
        edge: Option<(Colour, f32)>,
    ) {
        let Some(outline) = path_through(corners, true) else {
            return;
        };
        if let Some((colour, width)) = edge {
            self.area(outline.clone(), fill);
            self.shapes.push(Shape::Line {
                path: outline,
                colour,
                width,
            });
        } else {
            self.area(outline, fill);
        }
    }

    /// A line through the given points; a single point draws nothing.
    pub(super) fn line(&mut self, points: &[(f32, f32)], colour: Colour, width: f32) {
        if let Some(path) = path_through(points, false) {
            self.shapes.push(Shape::Line {
                path,
                colour,
                width,
            });
        }
    }

    pub(super) fn dot(&mut self, (x, y): (f32, f32), radius: f32, fill: Colour) {
        self.shapes.push(Shape::Dot { x, y, radius, fill });
    }

    pub(crate) fn picture(&mut self, place: Rect, image: Image) {
        self.shapes.push(Shape::Picture { place, image });
    }

    fn area(&mut self, outline: Path, fill: Colour) {
        self.shapes.push(Shape::Area {
            outline,
            fill,
            words: None,
        });
    }
}

/// A rectangle from its corner and size, which must be positive.
pub(super) fn rectangle(x: f32, y: f32, width: f32, height: f32) -> Rect {
    Rect::from_xywh(x, y, width, height).expect("a layout gives finite, positive sizes")
}

fn path_through(points: &[(f32, f32)], closed: bool) -> Option<Path> {
    let mut path = PathBuilder::new();
    for (index, &(x, y)) in points.iter().enumerate() {
        if index == 0 {
            path.move_to(x, y)
        } else {
            path.line_to(x, y)
        }
    }
    if closed {
        path.close();
    }
    path.finish()
}
