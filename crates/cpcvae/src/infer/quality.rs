//! Quality of held-out probabilities, with confidence intervals.

use super::largest;
use serde::{Deserialize, Serialize};

/// A figure with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Half the width of a standard normal's 95 % interval.
const Z: f64 = 1.959_963_984_540_054;

/// A share of `rows` independent rows with Wilson's 95 % interval, which stays within [0, 1] and
/// works for few rows too. `None` without rows.
pub fn share(value: f64, rows: usize) -> Option<Estimate> {
    if rows == 0 {
        return None;
    }
    let n = rows as f64;
    let centre = (value + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
    let spread = (value * (1.0 - value) / n + Z * Z / (4.0 * n * n)).sqrt();
    let half = Z * spread / (1.0 + Z * Z / n);
    Some(Estimate {
        value,
        low: (centre - half).max(0.0),
        high: (centre + half).min(1.0),
    })
}

/// Figures over rows with known classes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quality {
    /// Share of rows whose most probable class is correct.
    pub accuracy: f64,
    /// Mean of -log p(true class), in nats.
    pub log_loss: f64,
    /// Mean squared distance between the probabilities and the truth as a one-hot vector.
    pub brier: f64,
    /// Expected calibration error: the mean distance between stated confidence and accuracy over
    /// ten bins of confidence, weighted by their rows.
    pub calibration_error: f64,
}

/// Figures of `probabilities [rows, width]` with their true classes; `None` without rows.
///
/// # Panics
/// When a class is not below `width`, as indexing a slice does.
pub fn quality(probabilities: &[f32], width: usize, classes: &[u32]) -> Option<Quality> {
    const BINS: usize = 10;
    if classes.is_empty() {
        return None;
    }
    let (mut right, mut log_loss, mut brier) = (0.0, 0.0, 0.0);
    let mut gaps = [0.0; BINS];
    for (row, &class) in probabilities.chunks_exact(width.max(1)).zip(classes) {
        let best = largest(row);
        let is_right = f64::from(u8::from(best == class as usize));
        right += is_right;
        log_loss -= f64::from(row[class as usize].max(f32::MIN_POSITIVE)).ln();
        for (place, p) in row.iter().enumerate() {
            let truth = f64::from(u8::from(place == class as usize));
            brier += (f64::from(*p) - truth).powi(2);
        }
        let confidence = f64::from(row[best]);
        let bin = ((confidence * BINS as f64) as usize).min(BINS - 1);
        gaps[bin] += confidence - is_right;
    }
    let rows = classes.len() as f64;
    Some(Quality {
        accuracy: right / rows,
        log_loss: log_loss / rows,
        brier: brier / rows,
        calibration_error: gaps.iter().map(|gap| gap.abs()).sum::<f64>() / rows,
    })
}

/// Area under the ROC curve: how often a positive scores higher than a negative, ties counting
/// half. `None` if one kind is missing.
pub(crate) fn auroc(scores: &[f64], is_positive: &[bool]) -> Option<f64> {
    let mut order: Vec<usize> = (0..scores.len().min(is_positive.len())).collect();
    order.sort_by(|a, b| scores[*a].total_cmp(&scores[*b]));
    let positives = order.iter().filter(|&&row| is_positive[row]).count();
    let negatives = order.len() - positives;
    if positives == 0 || negatives == 0 {
        return None;
    }
    // Sum of the positives' ranks; ties have their mean rank.
    let mut ranks = 0.0;
    let mut start = 0;
    for tied in order.chunk_by(|a, b| scores[*a] == scores[*b]) {
        let rank = start as f64 + (tied.len() + 1) as f64 / 2.0;
        ranks += rank * tied.iter().filter(|&&row| is_positive[row]).count() as f64;
        start += tied.len();
    }
    let (p, n) = (positives as f64, negatives as f64);
    Some((ranks - p * (p + 1.0) / 2.0) / (p * n))
}

#[cfg(test)]
mod tests {
    use super::super::draws::Draws;
    use super::*;

    #[test]
    fn wilsons_interval_is_the_textbooks() {
        // 8 of 10: 0.490 to 0.943 (Agresti & Coull 1998).
        let eight = share(0.8, 10).expect("rows");
        assert!((eight.low - 0.4902).abs() < 5e-4 && (eight.high - 0.9433).abs() < 5e-4);
        let all = share(1.0, 5).expect("rows");
        assert!(
            all.high == 1.0 && all.low < 0.6,
            "five of five is not certain"
        );
        assert_eq!(share(1.0, 0), None);
    }

    #[test]
    fn figures_of_two_rows() {
        let figures = quality(&[0.8, 0.2, 0.6, 0.4], 2, &[0, 1]).expect("rows");
        assert_eq!(figures.accuracy, 0.5);
        let log_loss = -(0.8f64.ln() + 0.4f64.ln()) / 2.0;
        assert!((figures.log_loss - log_loss).abs() < 1e-6);
        // 0.2^2 + 0.2^2 and 0.6^2 + 0.6^2.
        assert!((figures.brier - 0.4).abs() < 1e-6);
        // Confidence 0.8 with all correct, 0.6 with none.
        assert!((figures.calibration_error - 0.4).abs() < 1e-6);
        assert_eq!(quality(&[], 2, &[]), None);
    }

    #[test]
    fn the_area_is_that_of_all_pairs() {
        let mut draws = Draws::new(2);
        // Few distinct scores, so that there are many ties.
        let scores: Vec<f64> = (0..200).map(|_| (8.0 * draws.uniform()).floor()).collect();
        let kinds: Vec<bool> = scores.iter().map(|s| draws.uniform() * 9.0 < *s).collect();
        let (mut wins, mut pairs) = (0.0, 0.0);
        for (i, _) in kinds.iter().enumerate().filter(|(_, kind)| **kind) {
            for (j, _) in kinds.iter().enumerate().filter(|(_, kind)| !**kind) {
                pairs += 1.0;
                wins += match scores[i].total_cmp(&scores[j]) {
                    std::cmp::Ordering::Greater => 1.0,
                    std::cmp::Ordering::Equal => 0.5,
                    std::cmp::Ordering::Less => 0.0,
                };
            }
        }
        let area = auroc(&scores, &kinds).expect("both kinds");
        assert!((area - wins / pairs).abs() < 1e-12);
        assert_eq!(auroc(&[1.0, 2.0], &[true, true]), None);
    }
}
