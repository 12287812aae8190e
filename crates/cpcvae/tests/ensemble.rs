//! Ensembles of a user's data: what the class probabilities of a vote can be.

use cpcvae::prelude::*;

/// Two classes far apart, the first `labels` rows labelled.
fn separated(rows: usize, labels: usize) -> Dataset {
    let features: Vec<[f32; 2]> = (0..rows)
        .map(|row| [(row % 2 * 50 + row % 5) as f32, (row % 7) as f32])
        .collect();
    let names = (0..rows).map(|row| (row < labels).then_some(["low", "high"][row % 2]));
    Dataset::from_rows(&features, Labels::classes(names)).expect("rows and labels")
}

#[test]
fn no_class_is_more_certain_than_the_labels_allow() {
    for labels in [10, 40] {
        let data = separated(100, labels);
        let fitted = Cpc::new().steps(60).fit(&data).expect("trains");
        assert!(!fitted.voters().is_empty(), "own rows have an ensemble");
        let outputs = fitted.predict(&data).expect("predicts");
        let (classes, temperature) = (2.0, fitted.calibration().temperature);
        assert!(temperature > 0.9, "ten right labels sharpen little");
        // After the vote, before the temperature: 1 / (n + 1), shared by the classes.
        let least = 1.0 / (labels as f64 + 1.0) / classes;
        for row in 0..data.len() {
            let probabilities = outputs.outputs_array();
            let probabilities = probabilities.row(row);
            let sum = probabilities.sum();
            assert!((sum - 1.0).abs() < 1e-5);
            for p in probabilities {
                assert!(f64::from(*p) > 0.5 * least, "{p} with {labels} labels");
            }
            let right = outputs
                .classes
                .iter()
                .position(|name| *name == ["low", "high"][row % 2]);
            assert!(
                probabilities[right.expect("a class")] > 0.9,
                "the right one"
            );
        }
    }
}
