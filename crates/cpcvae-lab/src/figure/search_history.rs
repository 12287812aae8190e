//! The history of a search: a dot for each trial, and the best so far as a line.

use super::axis::Axis;
use super::canvas::{Anchor, Canvas, Placement, rectangle};
use super::palette::{Colour, class_colour};
use super::{Layout, Result, save, text};
use std::path::Path;

const WIDTH: f32 = 900.0;
const HEIGHT: f32 = 500.0;
const BORDER: f32 = 24.0;
const SIZE: f32 = 24.0;

/// A trial of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrialMark {
    /// Its number.
    pub number: usize,
    /// Its value, or the last report before it was stopped; smaller is better.
    pub value: f64,
    /// Whether it finished.
    pub is_complete: bool,
}

/// Draws values of trials against their numbers. Outliers that are far worse than the others are
/// drawn on the upper edge.
pub fn search_history(title: &str, value: &str, trials: &[TrialMark], path: &Path) -> Result<()> {
    save::save(path, || layout(title, value, trials))
}

fn layout(title: &str, value: &str, trials: &[TrialMark]) -> Layout {
    let finite = || trials.iter().filter(|trial| trial.value.is_finite());
    let mut values: Vec<f64> = finite().map(|trial| trial.value).collect();
    values.sort_by(f64::total_cmp);
    let Some(best) = values.first().copied() else {
        return Err("no trial has a value".into());
    };
    // Above the median by three times the distance between median and best.
    let middle = values[values.len() / 2];
    let most = (middle + 3.0 * (middle - best)).max(best);
    let shown = |value: f64| value.min(if most > best { most } else { value });
    let y_axis = Axis::over(values.iter().map(|value| shown(*value)), 0.06, 6.0);
    let x_axis = Axis::over(trials.iter().map(|trial| trial.number as f64), 0.03, 6.0);
    let (Some(x_axis), Some(y_axis)) = (x_axis, y_axis) else {
        return Err("no trial has a value".into());
    };
    let labels: Vec<String> = y_axis.ticks().map(|tick| y_axis.label(tick)).collect();
    let left = BORDER + 1.8 * SIZE + text::widest(&labels, SIZE) + 12.0;
    let top = BORDER + 1.8 * SIZE;
    let mut canvas = Canvas::new(left + WIDTH + BORDER, top + HEIGHT + 4.4 * SIZE + BORDER);
    let place = |number: f64, value: f64| {
        let x = left + WIDTH * x_axis.position(number);
        (x, top + HEIGHT * (1.0 - y_axis.position(shown(value))))
    };
    canvas.text(
        title,
        Placement::centred(left + 0.5 * WIDTH, BORDER + 0.4 * SIZE, SIZE),
    );
    for (tick, label) in y_axis.ticks().zip(&labels) {
        let (_, y) = place(0.0, tick);
        canvas.line(&[(left, y), (left + WIDTH, y)], Colour::PALE, 1.5);
        let at = Placement::centred(left - 10.0, y, SIZE).anchored(Anchor::End);
        canvas.text(label, at.coloured(Colour::GREY));
    }
    for tick in x_axis
        .ticks()
        .filter(|tick| tick.fract() == 0.0 && *tick >= 0.0)
    {
        let (x, _) = place(tick, 0.0);
        let at = Placement::centred(x, top + HEIGHT + 0.9 * SIZE, SIZE);
        canvas.text(&x_axis.label(tick), at.coloured(Colour::GREY));
    }
    canvas.frame(rectangle(left, top, WIDTH, HEIGHT), Colour::PALE, 2.0);
    let middle = top + 0.5 * HEIGHT;
    canvas.text(
        value,
        Placement::centred(BORDER + 0.4 * SIZE, middle, SIZE).turned(),
    );
    let (blue, orange) = (class_colour(0), class_colour(1));
    let mut lowest = f64::INFINITY;
    let mut line: Vec<(f32, f32)> = Vec::new();
    for trial in finite().filter(|trial| trial.is_complete) {
        let (x, before) = place(trial.number as f64, lowest.min(f64::MAX));
        if lowest.is_finite() {
            line.push((x, before));
        }
        lowest = lowest.min(trial.value);
        line.push(place(trial.number as f64, lowest));
    }
    canvas.line(&line, blue, 3.0);
    for trial in finite() {
        let colour = if trial.is_complete { blue } else { orange };
        canvas.dot(
            place(trial.number as f64, trial.value),
            6.0,
            colour.with_opacity(0.8),
        );
    }
    let words = [
        ("trial, complete", Some(blue)),
        ("stopped early", Some(orange)),
        ("line: best so far", None),
    ];
    let mut x = left;
    for (word, colour) in words {
        let y = top + HEIGHT + 3.0 * SIZE;
        if let Some(colour) = colour {
            canvas.dot((x + 8.0, y), 7.0, colour);
            x += 24.0;
        }
        canvas.text(word, Placement::centred(x, y, SIZE).anchored(Anchor::Start));
        x += text::width(word, SIZE) + 36.0;
    }
    Ok(canvas)
}

#[cfg(test)]
mod tests {
    use super::super::canvas::Shape;
    use super::*;

    fn mark(number: usize, value: f64) -> TrialMark {
        TrialMark {
            number,
            value,
            is_complete: number != 1,
        }
    }

    #[test]
    fn every_trial_is_a_dot_and_what_is_far_off_stays_on_the_sheet() {
        let trials = [1.0, 0.5, 0.75, 1e9, f64::NAN].into_iter().enumerate();
        let trials: Vec<TrialMark> = trials.map(|(n, value)| mark(n, value)).collect();
        let canvas = layout("t", "loss", &trials).expect("drawn");
        let dots: Vec<(f32, f32)> = canvas
            .shapes
            .iter()
            .filter_map(|shape| match shape {
                Shape::Dot { x, y, radius, .. } if *radius == 6.0 => Some((*x, *y)),
                _ => None,
            })
            .collect();
        assert_eq!(dots.len(), 4);
        assert!(
            dots.iter().all(|(_, y)| (0.0..canvas.height).contains(y)),
            "{dots:?}"
        );
        assert!(dots[1].1 > dots[0].1, "smaller is lower");
        assert!(layout("t", "loss", &[mark(0, f64::NAN)]).is_err());
    }
}
