//! Tests of the line charts: positions of texts, and breaks of lines.

use super::super::canvas::Shape;
use super::*;

fn series(name: &str, points: &[(f64, f64)]) -> Series {
    Series {
        name: name.into(),
        points: points.to_vec(),
        band: None,
    }
}

fn texts(canvas: &Canvas) -> Vec<String> {
    let words = canvas.shapes.iter().filter_map(|shape| match shape {
        Shape::Area { words, .. } => words.clone(),
        _ => None,
    });
    words.collect()
}

#[test]
fn titles_ticks_and_names_are_written_on_the_sheet() {
    let drawn = [
        series("train", &[(0.0, 1.0), (10.0, 0.0)]),
        series("", &[(5.0, 0.5)]),
    ];
    let canvas = layout("loss", "epoch", "nats", &drawn).unwrap();
    let texts = texts(&canvas);
    for expected in ["loss", "epoch", "nats", "train", "0.2", "10"] {
        assert!(
            texts.iter().any(|text| text == expected),
            "no {expected} in {texts:?}"
        );
    }
}

#[test]
fn long_numbers_neither_overlap_nor_leave_the_sheet() {
    let wide = series("", &[(-1_500_000.0, 1e-9), (1_400_000.0, 2e-9)]);
    let canvas = layout("", "", "", &[wide]).unwrap();
    let mut below: Vec<_> = Vec::new();
    for shape in &canvas.shapes {
        if let Shape::Area {
            outline,
            words: Some(words),
            ..
        } = shape
        {
            let bounds = outline.bounds();
            assert!(
                bounds.left() >= 0.0 && bounds.right() <= canvas.width,
                "{words}"
            );
            assert!(
                bounds.top() >= 0.0 && bounds.bottom() <= canvas.height,
                "{words}"
            );
            if words.ends_with(",000") {
                below.push(bounds);
            }
        }
    }
    assert!(below.len() >= 2);
    assert!(
        below
            .windows(2)
            .all(|pair| pair[0].right() + 10.0 < pair[1].left())
    );
}

#[test]
fn a_value_that_is_not_finite_breaks_the_line() {
    let broken = [
        (0.0, 1.0),
        (1.0, 2.0),
        (2.0, f64::NAN),
        (3.0, 1.0),
        (4.0, 0.0),
    ];
    let canvas = layout("", "", "", &[series("", &broken)]).unwrap();
    let blue =
        |shape: &&Shape| matches!(shape, Shape::Line { colour, .. } if *colour == class_colour(0));
    assert_eq!(canvas.shapes.iter().filter(blue).count(), 2);
    assert!(layout("", "", "", &[series("", &[(0.0, f64::NAN)])]).is_err());
    assert!(layout("", "", "", &[]).is_err());
}
