//! The numbers that a seed gives are part of every published result. A change here (with a new
//! version of `rand`, say) belongs in the change log.

use cpcvae_data::{BatchPlan, HalfMoon, Split, SplitPlan, glyphs};

/// The expected numbers were made by version 0.1.0 of this crate.
#[test]
fn the_numbers_behind_a_seed_stay_the_same() {
    let moon = HalfMoon {
        seed: 1,
        ..HalfMoon::default()
    }
    .generate()
    .unwrap();
    let expected = [0.96453, -0.04770209, -0.0054668, 0.9301251];
    for (value, expected) in moon.rows.features.matrix().values.iter().zip(expected) {
        assert!((value - expected).abs() < 1e-5, "{value} is not {expected}");
    }
    let plan = SplitPlan {
        labels: Some(6),
        seed: 1,
        ..SplitPlan::default()
    };
    let split = Split::draw(&moon.rows, &plan).unwrap();
    assert_eq!(split.labelled, [31, 59, 267, 570, 838, 965]);

    let batches = BatchPlan::new((0..100).collect(), (100..1000).collect(), 4, 4, 1).unwrap();
    let step = batches.rows_of_step(30);
    assert_eq!(step.labelled, [49, 88, 48, 20]);
    assert_eq!(step.unlabelled, [102, 628, 714, 158]);

    let glyphs = glyphs(10, 1).unwrap();
    let ink: f64 = glyphs
        .features
        .matrix()
        .values
        .iter()
        .map(|&pixel| f64::from(pixel))
        .sum();
    assert!((ink - 837.28796).abs() < 0.01, "{ink}");
}
