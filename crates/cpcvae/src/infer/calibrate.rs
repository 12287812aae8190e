//! Temperature scaling of predicted probabilities.
//!
//! Calibrated probabilities are `p^(1/T)`, normalised to sum to one (Guo et al. 2017): the most
//! probable class stays the same; T above 1 makes predictions less confident, below 1 more
//! confident.

use crate::probabilities::{largest, softmax};

/// Regularises 1/T towards 1, counted as rows that are off by 1 - 1/T: with few rows the
/// temperature stays near 1.
const REGULARISATION: f64 = 4.0;
/// Confidence is increased only by as much as is certain at this many standard errors of 1/T.
/// Held-out rows are predicted by models with fewer labels, and overconfidence costs more than
/// underconfidence.
const STANDARD_ERRORS: f64 = 1.96;
/// The range of 1/T. A model with an accuracy below chance would give 0, where probabilities become
/// uniform.
const RANGE: (f64, f64) = (0.1, 20.0);
/// Probabilities of zero are replaced by this.
pub(crate) const SMALLEST: f64 = 1e-12;

/// The temperature for held-out `probabilities [rows, classes]` and the true `classes` of the rows:
/// that at which the mean probability of the most probable class equals the accuracy (expectation
/// consistency, Clarté et al. 2023), except for `REGULARISATION`. The usual temperature, of least log-loss,
/// was further off on test rows, since a few confident mistakes determine it. The confidence of a
/// row increases with 1/T, so a Newton iteration, safeguarded by bisection, finds the only
/// solution. Without rows it is 1.
///
/// A solution for 1/T above 1, which increases confidence, is replaced by the lower end of its 95 %
/// interval, but not below 1. Each row has its class's weight in `class_weights` (see
/// [`class_weights`](super::class_shift::class_weights)).
///
/// # Panics
/// When a class is not below `width`, as indexing a slice does.
pub fn temperature(
    probabilities: &[f32],
    width: usize,
    classes: &[u32],
    class_weights: &[f64],
) -> f64 {
    let logits: Vec<f64> = probabilities.iter().map(|p| log(*p)).collect();
    let (mut low, mut high) = RANGE;
    let mut inverse = 1.0;
    for _ in 0..100 {
        let excess = Excess::at(inverse, &logits, width, classes, class_weights);
        if excess.sum == 0.0 {
            break;
        }
        if excess.sum > 0.0 {
            high = inverse;
        } else {
            low = inverse;
        }
        let newton = inverse - excess.sum / excess.slope;
        let next = match newton > low && newton < high {
            true => newton,
            false => 0.5 * (low + high),
        };
        if (next - inverse).abs() < 1e-10 {
            break;
        }
        inverse = next;
    }
    if inverse > 1.0 {
        let excess = Excess::at(inverse, &logits, width, classes, class_weights);
        let standard_error = excess.variance.sqrt() / excess.slope;
        inverse = (inverse - STANDARD_ERRORS * standard_error).max(1.0);
    }
    1.0 / inverse
}

/// The excess confidence of rows at a temperature.
struct Excess {
    /// The sum over rows of p(most probable class), minus 1 if it is correct, plus the
    /// regularisation.
    sum: f64,
    /// Its derivative by 1/T.
    slope: f64,
    /// Its variance if probabilities are exact.
    variance: f64,
}

impl Excess {
    fn at(
        inverse: f64,
        logits: &[f64],
        width: usize,
        classes: &[u32],
        class_weights: &[f64],
    ) -> Self {
        let mut excess = Self {
            sum: REGULARISATION * (inverse - 1.0),
            slope: REGULARISATION,
            variance: 0.0,
        };
        for (row, class) in logits.chunks_exact(width.max(1)).zip(classes) {
            let probabilities = tempered(row, inverse);
            let mean: f64 = probabilities.iter().zip(row).map(|(p, l)| p * l).sum();
            let top = largest(row);
            let right = f64::from(u8::from(top == *class as usize));
            let (sure, weight) = (probabilities[top], class_weights[*class as usize]);
            excess.sum += weight * (sure - right);
            excess.slope += weight * sure * (row[top] - mean);
            excess.variance += weight * weight * sure * (1.0 - sure);
        }
        excess
    }
}

/// Applies a temperature to `probabilities [rows, width]` in place.
pub(crate) fn at_temperature(probabilities: &mut [f32], width: usize, temperature: f64) {
    if temperature == 1.0 {
        return;
    }
    for row in probabilities.chunks_exact_mut(width.max(1)) {
        let logits: Vec<f64> = row.iter().map(|p| log(*p)).collect();
        for (p, new) in row.iter_mut().zip(tempered(&logits, 1.0 / temperature)) {
            *p = new as f32;
        }
    }
}

fn log(probability: f32) -> f64 {
    f64::from(probability).max(SMALLEST).ln()
}

/// The probabilities of `logits` at a temperature, given by its inverse.
fn tempered(logits: &[f64], inverse: f64) -> Vec<f64> {
    let top = logits[largest(logits)];
    let mut shares: Vec<f64> = logits.iter().map(|logit| inverse * (logit - top)).collect();
    softmax(&mut shares);
    shares
}

#[cfg(test)]
mod tests {
    use super::super::draws::Draws;
    use super::*;

    /// Probabilities of three classes, and classes drawn at another temperature.
    fn made_up(rows: usize, truth: f64, seed: u64) -> (Vec<f32>, Vec<u32>) {
        let mut draws = Draws::new(seed);
        let (mut stated, mut classes) = (Vec::new(), Vec::new());
        for _ in 0..rows {
            let logits: Vec<f64> = (0..3).map(|_| 6.0 * draws.uniform()).collect();
            let honest = tempered(&logits, 1.0 / truth);
            stated.extend(tempered(&logits, 1.0).iter().map(|p| *p as f32));
            classes.push(draws.category(&honest) as u32);
        }
        (stated, classes)
    }

    #[test]
    fn the_temperature_of_made_up_rows_is_recovered() {
        for truth in [0.5, 1.0, 3.0] {
            let (stated, classes) = made_up(100_000, truth, 1);
            let found = temperature(&stated, 3, &classes, &[1.0; 3]);
            assert!((found / truth - 1.0).abs() < 0.05, "{found} for {truth}");
        }
    }

    #[test]
    fn few_rows_leave_it_near_one() {
        assert_eq!(temperature(&[], 3, &[], &[1.0; 3]), 1.0);
        // Six confident correct predictions are no reason for more confidence,
        let right = temperature(&[0.9, 0.1].repeat(6), 2, &[0; 6], &[1.0; 2]);
        assert_eq!(right, 1.0);
        // and a confident wrong one is a reason for less, within bounds.
        let wrong = temperature(&[1.0, 0.0], 2, &[1], &[1.0; 2]);
        assert!(wrong > 1.0 && wrong <= 1.0 / RANGE.0, "{wrong}");
    }

    /// A weight of two equals repeating the row.
    #[test]
    fn weights_count_rows() {
        let (stated, classes) = made_up(300, 2.0, 3);
        let weighted = temperature(&stated, 3, &classes, &[2.0, 1.0, 0.0]);
        let (mut repeated, mut repeated_classes) = (Vec::new(), Vec::new());
        for (row, class) in stated.chunks(3).zip(&classes) {
            for _ in 0..2 - class {
                repeated.extend(row);
                repeated_classes.push(*class);
            }
        }
        let expected = temperature(&repeated, 3, &repeated_classes, &[1.0; 3]);
        assert!((weighted - expected).abs() < 1e-9, "{weighted}, {expected}");
    }

    #[test]
    fn an_honest_model_is_hardly_ever_made_surer() {
        let surer = (0..100).filter(|&seed| {
            let (stated, classes) = made_up(250, 1.0, seed);
            temperature(&stated, 3, &classes, &[1.0; 3]) < 1.0
        });
        // 2.5 are expected of the upper end of a 95 % interval.
        assert!(surer.count() <= 6);
        let too_modest = (0..100).filter(|&seed| {
            let (stated, classes) = made_up(250, 0.4, seed);
            (0.4..0.9).contains(&temperature(&stated, 3, &classes, &[1.0; 3]))
        });
        assert!(too_modest.count() >= 95, "where it is plain, it is done");
    }

    #[test]
    fn ranks_stay_and_rows_add_up_to_one() {
        let mut probabilities = [0.7, 0.3, 0.0, 0.2, 0.5, 0.3];
        at_temperature(&mut probabilities, 3, 2.0);
        assert!(probabilities[0] < 0.7 && probabilities[0] > probabilities[1]);
        for row in probabilities.chunks(3) {
            assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-6);
        }
        let ratio = (probabilities[0] / probabilities[1]).powi(2);
        assert!((ratio - 7.0 / 3.0).abs() < 1e-4, "{ratio}");
    }
}
