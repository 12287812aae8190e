//! Horizontal bars with their names and numbers.

use super::canvas::{Anchor, Canvas, Placement, rectangle};
use super::palette::{Colour, class_colour};
use super::{Layout, Result, save, text};
use std::path::Path;

const WIDTH: f32 = 600.0;
const SIZE: f32 = 24.0;
const BORDER: f32 = 24.0;
const PITCH: f32 = 44.0;

/// Draws a bar for each `(name, share)`, in that order; shares are from 0 to 1.
pub fn bars(title: &str, shares: &[(String, f64)], path: &Path) -> Result<()> {
    save::save(path, || layout(title, shares))
}

fn layout(title: &str, shares: &[(String, f64)]) -> Layout {
    if shares.is_empty() {
        return Err("there are no bars".into());
    }
    if let Some((name, share)) = shares.iter().find(|(_, s)| !(0.0..=1.0).contains(s)) {
        return Err(format!("the bar `{name}` has {share}, which is no share"));
    }
    let left = BORDER + text::widest(shares.iter().map(|(name, _)| name), SIZE) + 14.0;
    let top = BORDER + 2.0 * SIZE;
    let height = top + PITCH * shares.len() as f32 + BORDER;
    let mut canvas = Canvas::new(left + WIDTH + 4.0 * SIZE + BORDER, height);
    let middle = 0.5 * canvas.width;
    canvas.text(title, Placement::centred(middle, BORDER + 0.4 * SIZE, SIZE));
    for (row, (name, share)) in shares.iter().enumerate() {
        let y = top + PITCH * (row as f32 + 0.5);
        canvas.text(
            name,
            Placement::centred(left - 14.0, y, SIZE).anchored(Anchor::End),
        );
        let wide = (WIDTH * *share as f32).max(1.0);
        let bar = rectangle(left, y - 0.35 * PITCH, wide, 0.7 * PITCH);
        canvas.rectangle(bar, class_colour(0));
        let at = Placement::centred(left + wide + 10.0, y, SIZE).anchored(Anchor::Start);
        canvas.text(
            &format!("{:.0} %", 100.0 * share),
            at.coloured(Colour::GREY),
        );
    }
    Ok(canvas)
}

#[cfg(test)]
mod tests {
    use super::super::canvas::Shape;
    use super::*;

    #[test]
    fn bars_are_as_long_as_their_shares() {
        let shares = [("a".to_string(), 0.75), ("b".to_string(), 0.25)];
        let canvas = layout("t", &shares).expect("drawn");
        let widths: Vec<f32> = canvas
            .shapes
            .iter()
            .filter_map(|shape| match shape {
                Shape::Area { outline, words, .. } if words.is_none() => {
                    Some(outline.bounds().width())
                }
                _ => None,
            })
            .collect();
        assert_eq!(widths, [450.0, 150.0]);
        assert!(layout("t", &[]).is_err());
        assert!(layout("t", &[("a".into(), f64::NAN)]).is_err());
    }
}
