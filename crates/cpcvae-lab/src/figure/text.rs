//! Text as outlines of an embedded font, so that no installed font is needed.

use super::canvas::{Anchor, Placement};
use std::sync::LazyLock;
use tiny_skia::{Path, PathBuilder, Transform};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// DejaVu Sans reduced to Latin, Greek and some mathematical signs; other characters are drawn as a
/// box.
static FONT: LazyLock<Face<'static>> = LazyLock::new(|| {
    let bytes = include_bytes!("../../assets/DejaVuSans-subset.ttf");
    Face::parse(bytes, 0).expect("the embedded font is sound")
});

/// Of the embedded font, in em; its tables lack it.
const CAPITAL_HEIGHT: f32 = 1493.0 / 2048.0;

/// Width of the words at a font size.
pub(super) fn width(words: &str, size: f32) -> f32 {
    glyphs(words).last().map_or(0.0, |last| last.end) * size
}

/// Width of the widest of several labels.
pub(super) fn widest<'a>(labels: impl IntoIterator<Item = &'a String>, size: f32) -> f32 {
    labels
        .into_iter()
        .map(|label| width(label, size))
        .fold(0.0, f32::max)
}

/// `size`, reduced so that the text fits into `room`.
pub(super) fn size_to_fit(words: &str, size: f32, room: f32) -> f32 {
    let width = width(words, size);
    if width > room {
        size * room / width
    } else {
        size
    }
}

/// The outline of positioned text, or `None` if it is blank.
pub(super) fn outline(words: &str, placement: Placement) -> Option<Path> {
    let em = f32::from(FONT.units_per_em());
    let mut pen = Pen {
        path: PathBuilder::new(),
        x: 0.0,
    };
    for glyph in glyphs(words) {
        pen.x = glyph.start * em;
        FONT.outline_glyph(glyph.id, &mut pen);
    }
    let start = match placement.anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => -0.5 * width(words, placement.size),
        Anchor::End => -width(words, placement.size),
    };
    let baseline = 0.5 * CAPITAL_HEIGHT * placement.size;
    let scale = placement.size / em;
    // y grows upwards in glyphs and downwards on the canvas.
    let laid = Transform::from_row(scale, 0.0, 0.0, -scale, start, baseline);
    let placed = if placement.turned {
        laid.post_rotate(-90.0)
    } else {
        laid
    };
    pen.path
        .finish()?
        .transform(placed.post_translate(placement.x, placement.y))
}

struct Glyph {
    id: GlyphId,
    /// From the start of the text, in em.
    start: f32,
    end: f32,
}

/// The glyphs of the text with kerning.
fn glyphs(words: &str) -> Vec<Glyph> {
    let em = f32::from(FONT.units_per_em());
    let mut glyphs: Vec<Glyph> = Vec::new();
    for character in words.chars() {
        let id = FONT.glyph_index(character).unwrap_or_default();
        let advance = f32::from(FONT.glyph_hor_advance(id).unwrap_or(0)) / em;
        let start = match glyphs.last() {
            Some(last) => last.end + kerning(last.id, id) / em,
            None => 0.0,
        };
        glyphs.push(Glyph {
            id,
            start,
            end: start + advance,
        });
    }
    glyphs
}

fn kerning(left: GlyphId, right: GlyphId) -> f32 {
    let tables = FONT
        .tables()
        .kern
        .into_iter()
        .flat_map(|table| table.subtables);
    let mut pairs = tables.filter(|table| table.horizontal && !table.variable);
    pairs
        .find_map(|table| table.glyphs_kerning(left, right))
        .map_or(0.0, f32::from)
}

struct Pen {
    path: PathBuilder,
    x: f32,
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        self.path.move_to(self.x + x, y);
    }
    fn line_to(&mut self, x: f32, y: f32) {
        self.path.line_to(self.x + x, y);
    }
    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.path.quad_to(self.x + x1, y1, self.x + x, y);
    }
    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let pen = self.x;
        self.path.cubic_to(pen + x1, y1, pen + x2, y2, pen + x, y);
    }
    fn close(&mut self) {
        self.path.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_font_has_what_the_paper_writes() {
        for character in "λγαβθφωŷμσ ±×−–…≤≥ÄéßŁ²₁→∞%".chars() {
            assert!(
                FONT.glyph_index(character).is_some(),
                "no glyph for {character}"
            );
        }
    }

    #[test]
    fn kerning_draws_letters_together() {
        assert!(width("VA", 100.0) < width("V", 100.0) + width("A", 100.0) - 2.0);
        assert_eq!(width("", 30.0), 0.0);
    }

    #[test]
    fn words_stand_where_they_are_placed() {
        let right = Placement::centred(50.0, 20.0, 20.0).anchored(Anchor::End);
        let bounds = outline("HHH", right).unwrap().bounds();
        assert!((46.0..=50.0).contains(&bounds.right()), "{bounds:?}");
        assert!(
            (bounds.top() + bounds.bottom() - 40.0).abs() < 0.1,
            "{bounds:?}"
        );

        let turned = outline("HHH", Placement::centred(50.0, 20.0, 20.0).turned()).unwrap();
        assert!(turned.bounds().height() > 2.0 * turned.bounds().width());
        assert!(outline(" ", right).is_none());
    }

    #[test]
    fn long_words_shrink_to_their_room() {
        let size = size_to_fit("a rather long title", 30.0, 100.0);
        assert!((width("a rather long title", size) - 100.0).abs() < 0.1);
        assert_eq!(size_to_fit("M2", 30.0, 100.0), 30.0);
    }
}
