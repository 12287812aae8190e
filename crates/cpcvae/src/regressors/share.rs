//! Weights of the regressors in an ensemble.

/// How fast weights fall with the loss, times the square root of the number of labels.
const CONTRAST: f64 = 2.0;
/// The same times the number of labels, where labels are few and losses mostly chance.
const CONTRAST_OF_FEW: f64 = 0.3;
/// Mean squared errors below this share of the labels' variance count as this.
const LEAST: f64 = 1e-6;

/// Weights from out-of-fold predictions `[labels, outputs]`: proportional to `prior exp(-c loss)`,
/// where the loss is that of a normal distribution with the mean squared error as its variance,
/// `log(error) / 2`, averaged over outputs, and `c` is the smaller of 0.3 labels and 2
/// sqrt(labels). So with few labels the priors decide, and with many the best regressor wins.
pub fn shares(left_out: &[Vec<f32>], priors: &[f64], values: &[f32], outputs: usize) -> Vec<f64> {
    let losses: Vec<f64> = left_out
        .iter()
        .map(|predictions| loss(predictions, values, outputs))
        .collect();
    let least = losses.iter().copied().fold(f64::INFINITY, f64::min);
    let contrast = contrast(values.len() / outputs.max(1));
    let weight = |(loss, prior): (&f64, &f64)| prior * (-contrast * (loss - least)).exp();
    let weights: Vec<f64> = losses.iter().zip(priors).map(weight).collect();
    let sum: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / sum).collect()
}

/// The mean of `log(error) / 2` over outputs.
fn loss(predictions: &[f32], values: &[f32], outputs: usize) -> f64 {
    let labels = (values.len() / outputs.max(1)).max(1) as f64;
    let of_output = |output: usize| {
        let known = || values.iter().skip(output).step_by(outputs);
        let pairs = predictions
            .iter()
            .skip(output)
            .step_by(outputs)
            .zip(known());
        let error: f64 = pairs.map(|(a, b)| f64::from(a - b).powi(2)).sum();
        let mean = known().map(|value| f64::from(*value)).sum::<f64>() / labels;
        let spread: f64 = known()
            .map(|value| (f64::from(*value) - mean).powi(2))
            .sum();
        (error / labels)
            .max(LEAST * spread / labels)
            .max(f64::MIN_POSITIVE)
    };
    (0..outputs)
        .map(|output| 0.5 * of_output(output).ln())
        .sum::<f64>()
        / outputs.max(1) as f64
}

/// The weighted mean of the predictions, `[rows, outputs]`.
pub fn mean(shares: &[f64], predictions: &[Vec<f32>]) -> Vec<f32> {
    let values = predictions.first().map_or(0, Vec::len);
    (0..values)
        .map(|at| {
            let parts = shares.iter().zip(predictions);
            parts
                .map(|(share, predictions)| share * f64::from(predictions[at]))
                .sum::<f64>() as f32
        })
        .collect()
}

/// How fast weights fall with the mean loss on `labels` labels.
fn contrast(labels: usize) -> f64 {
    let count = labels as f64;
    (CONTRAST * count.sqrt()).min(CONTRAST_OF_FEW * count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closer_one_counts_more_the_more_labels_say_so() {
        let share = |labels: usize| {
            let values: Vec<f32> = (0..labels).map(|label| label as f32 % 7.0).collect();
            let off = |by: f32| -> Vec<f32> {
                let sign = |label: usize| if label.is_multiple_of(2) { by } else { -by };
                values.iter().zip(0..).map(|(v, at)| v + sign(at)).collect()
            };
            let shares = shares(&[off(0.5), off(0.7)], &[0.5, 0.5], &values, 1);
            assert!((shares[0] + shares[1] - 1.0).abs() < 1e-9);
            shares[0]
        };
        assert!(share(5) > 0.5 && share(5) < share(40) && share(400) > 0.99);
    }

    #[test]
    fn nobody_who_is_exact_is_infinitely_better() {
        let values = [1.0, 2.0, 3.0];
        let shares = shares(
            &[values.to_vec(), values.to_vec()],
            &[0.75, 0.25],
            &values,
            1,
        );
        assert!((shares[0] - 0.75).abs() < 1e-9, "{shares:?}");
        assert_eq!(
            mean(&[0.75, 0.25], &[vec![1.0, 0.0], vec![3.0, 4.0]]),
            [1.5, 1.0]
        );
    }
}
