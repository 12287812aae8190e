//! Tests of the scatter panels: positions, and invalid input.

use super::super::canvas::Shape;
use super::super::raster::pixels;
use super::*;

/// Four points at the corners of a square, the lower left one of class 1.
fn square() -> ScatterPanel {
    ScatterPanel {
        title: "CPC-VAE".into(),
        points: vec![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]],
        classes: vec![1, 0, 0, 0],
        labelled: vec![([0.5, 0.5], 2)],
        ..ScatterPanel::default()
    }
}

fn refusal(panel: ScatterPanel) -> String {
    layout(&[vec![panel]], &[], &[])
        .err()
        .expect("the panel should be refused")
}

#[test]
fn colours_fall_where_the_points_are() {
    let sheet = pixels(&layout(&[vec![square()]], &[], &[]).unwrap()).unwrap();
    let colour = |x: f32, y: f32| {
        let pixel = sheet.pixel(x as u32, y as u32).unwrap();
        [pixel.red(), pixel.green(), pixel.blue()]
    };
    let title_height = 1.6 * 28.0;
    let place = rectangle(GAP, GAP + title_height, PANEL_WIDTH, PANEL_WIDTH);
    let at = |position| View::of(&square()).position(position, place);

    let (x, y) = at([0.5, 0.5]);
    assert_eq!(
        colour(x, y),
        [0x00, 0x9e, 0x73],
        "the diamond is filled with its class"
    );
    let (x, y) = at([0.0, 0.0]);
    let [red, _, blue] = colour(x, y);
    assert!(red > 200 && blue < 60, "the lower left point is orange");
    assert!(y > at([0.0, 1.0]).1, "y grows upwards");
    assert_eq!(colour(1.0, 1.0), [255; 3]);
    assert_eq!(sheet.width(), (PANEL_WIDTH + 2.0 * GAP) as u32);
}

#[test]
fn a_wide_cloud_keeps_equal_units() {
    let view = View::of(&ScatterPanel {
        points: vec![[0.0, 0.0], [4.0, 1.0]],
        classes: vec![0, 0],
        ..ScatterPanel::default()
    });
    let place = rectangle(0.0, 0.0, 100.0, 100.0);
    let origin = view.position([0.0, 0.0], place);
    let right = view.position([1.0, 0.0], place).0 - origin.0;
    let up = origin.1 - view.position([0.0, 1.0], place).1;
    assert!((right - up).abs() < 1e-4);
}

#[test]
fn regions_are_tinted_from_the_bottom_up() {
    let regions = Regions {
        x: [0.0, 1.0],
        y: [0.0, 1.0],
        columns: 1,
        rows: 2,
        class: vec![0, 1],
        confidence: vec![1.0, 0.0],
    };
    let image = background(&regions);
    assert_eq!(
        image.pixels[0], [255; 3],
        "an unsure cell is white, and on top"
    );
    assert!(
        image.pixels[1][2] > image.pixels[1][0],
        "the lower one is pale blue"
    );
}

#[test]
fn a_panel_may_hold_one_point_or_only_regions() {
    let far = ScatterPanel {
        points: vec![[1e6; 2]],
        classes: vec![0],
        ..ScatterPanel::default()
    };
    let place = rectangle(0.0, 0.0, 100.0, 100.0);
    assert_eq!(View::of(&far).position([1e6; 2], place), (50.0, 50.0));

    let regions = Regions {
        x: [-1.0, 3.0],
        y: [0.0, 2.0],
        columns: 1,
        rows: 1,
        class: vec![0],
        confidence: vec![1.0],
    };
    let empty = ScatterPanel {
        regions: Some(regions),
        ..ScatterPanel::default()
    };
    let View {
        centre,
        width,
        height,
    } = View::of(&empty);
    assert_eq!((centre, width, height), ([1.0, 1.0], 4.0, 2.0));
    assert!(layout(&[vec![empty]], &[], &[]).is_ok());
}

#[test]
fn rows_may_differ_in_length_and_have_titles() {
    let rows = [vec![square(), square()], vec![square()]];
    let titles = ["6 labels".to_owned(), "100 labels".to_owned()];
    assert!(layout(&rows, &titles, &[]).is_ok());
    assert!(layout(&rows, &titles[..1], &[]).is_err());
    assert!(layout(&[vec![], vec![]], &[], &[]).is_err());
}

#[test]
fn what_does_not_fit_together_is_refused_by_name() {
    let ragged = refusal(ScatterPanel {
        classes: vec![0],
        ..square()
    });
    assert_eq!(ragged, "panel \"CPC-VAE\" has 4 points but 1 classes");

    let mut diverged = square();
    diverged.points[2] = [f32::NAN, 0.0];
    assert!(refusal(diverged).contains("NaN"));

    let regions = Some(Regions {
        columns: 2,
        rows: 2,
        ..Regions::default()
    });
    assert!(
        refusal(ScatterPanel {
            regions,
            ..square()
        })
        .contains("2 x 2 cells")
    );
    assert!(refusal(ScatterPanel::default()).contains("is empty"));
}

#[test]
fn a_legend_makes_room_for_itself_and_names_every_class() {
    let names = ["zero".to_string(), "one".to_string()];
    let plain = layout(&[vec![square()]], &[], &[]).unwrap();
    let canvas = layout(&[vec![square()]], &[], &names).unwrap();
    assert!(canvas.height > plain.height && canvas.width == plain.width);
    let written = |name: &str| {
        canvas.shapes.iter().any(
            |shape| matches!(shape, Shape::Area { words, .. } if words.as_deref() == Some(name)),
        )
    };
    assert!(written("zero") && written("one") && written("labelled"));
}
