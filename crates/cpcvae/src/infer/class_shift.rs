//! Label shift: classes that are more or less frequent among rows without a label than among
//! labels.
//!
//! Labels are often collected per class, ten of each say, while the other rows have natural
//! frequencies. Held-out labels then have other class frequencies than the rows to predict, and are
//! weighted to correct for it.

/// Rounds of the EM algorithm; it converges long before.
const ROUNDS: usize = 200;

/// Weights of each class's labelled rows so that they represent rows without a label, from the
/// `classes` of labelled rows and calibrated `probabilities [rows, width]` of rows without a label.
/// The mean over the labelled rows is 1; a class without labelled rows has 1.
///
/// Class frequencies among the unlabelled rows are estimated by maximum likelihood, assuming that
/// only the frequencies differ (Saerens et al. 2002). The labels' frequencies are a prior that
/// counts as much as there are labels, so that a few unlabelled rows change little.
///
/// # Panics
/// When a class is not below `width`, as indexing a slice does.
pub fn class_weights(classes: &[u32], probabilities: &[f32], width: usize) -> Vec<f64> {
    let mut labels = vec![0.0; width];
    classes
        .iter()
        .for_each(|&class| labels[class as usize] += 1.0);
    let all = classes.len() as f64;
    let rows = probabilities.len() / width.max(1);
    let mut weights = vec![1.0; width];
    if classes.is_empty() || rows == 0 {
        return weights;
    }
    for _ in 0..ROUNDS {
        let mut counts = labels.clone();
        for row in probabilities.chunks_exact(width) {
            let weighted = |k: usize| match labels[k] > 0.0 {
                true => f64::from(row[k]) * weights[k],
                false => 0.0,
            };
            let sum: f64 = (0..width).map(weighted).sum();
            if sum > 0.0 {
                (0..width).for_each(|k| counts[k] += weighted(k) / sum);
            }
        }
        let total: f64 = counts.iter().sum();
        for k in (0..width).filter(|&k| labels[k] > 0.0) {
            weights[k] = counts[k] / total * all / labels[k];
        }
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::super::draws::Draws;
    use super::*;

    /// Probabilities predicted by a model that assumes class shares `believed`, for rows with other
    /// shares: a number x is normal around a mean of the class.
    fn stated(shares: [f64; 3], believed: [f64; 3], rows: usize) -> Vec<f32> {
        let mut draws = Draws::new(7);
        let mut all = Vec::new();
        for _ in 0..rows {
            // A sum of uniforms is close enough to a normal number.
            let normal = (0..12).map(|_| draws.uniform()).sum::<f64>() - 6.0;
            let x = 2.0 * draws.category(&shares) as f64 + normal;
            let density = |k: usize| believed[k] * (-0.5 * (x - 2.0 * k as f64).powi(2)).exp();
            let sum: f64 = (0..3).map(density).sum();
            all.extend((0..3).map(|k| (density(k) / sum) as f32));
        }
        all
    }

    #[test]
    fn other_shares_are_found() {
        let even = [1.0 / 3.0; 3];
        let shares = [0.6, 0.1, 0.3];
        let labels: Vec<u32> = (0..30).map(|row| row % 3).collect();
        let weights = class_weights(&labels, &stated(shares, even, 20_000), 3);
        for (weight, share) in weights.iter().zip(shares) {
            assert!((weight - 3.0 * share).abs() < 0.1, "{weights:?}");
        }
        let mean = labels.iter().map(|k| weights[*k as usize]).sum::<f64>() / 30.0;
        assert!((mean - 1.0).abs() < 1e-9, "{mean}");
    }

    #[test]
    fn the_same_shares_and_few_rows_leave_weights_near_one() {
        let shares = [0.5, 0.25, 0.25];
        let labels = [0, 0, 1, 2].repeat(10);
        for weight in class_weights(&labels, &stated(shares, shares, 20_000), 3) {
            assert!((weight - 1.0).abs() < 0.1, "{weight}");
        }
        for weight in class_weights(&labels, &[1.0, 0.0, 0.0], 3) {
            assert!((weight - 1.0).abs() < 0.05, "one row: {weight}");
        }
        assert_eq!(class_weights(&labels, &[], 3), [1.0; 3]);
        assert_eq!(class_weights(&[], &[0.5, 0.5], 2), [1.0; 2]);
    }

    #[test]
    fn a_class_without_labels_is_left_alone() {
        let weights = class_weights(&[0, 1], &[0.1, 0.1, 0.8, 0.0, 0.0, 1.0], 3);
        assert!((weights[0] - 1.0).abs() < 1e-9 && (weights[1] - 1.0).abs() < 1e-9);
        assert_eq!(weights[2], 1.0);
    }
}
