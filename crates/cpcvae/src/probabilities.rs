//! Argmax and softmax.

/// The index of the largest value; the first one of equals.
pub fn largest<T: PartialOrd>(values: &[T]) -> usize {
    (0..values.len()).fold(0, |best, i| if values[i] > values[best] { i } else { best })
}

/// Softmax in place; returns the log-sum-exp.
pub(crate) fn softmax(logs: &mut [f64]) -> f64 {
    let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    logs.iter_mut().for_each(|log| *log = (*log - top).exp());
    let sum: f64 = logs.iter().sum();
    logs.iter_mut().for_each(|share| *share /= sum);
    top + sum.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_equals_is_the_largest() {
        assert_eq!(largest(&[0.1, 0.5, 0.5]), 1);
        assert_eq!(largest(&[3_u8]), 0);
    }

    #[test]
    fn shares_of_large_logarithms() {
        let mut logs = [1000.0, 1000.0 + 3_f64.ln()];
        let log_sum = softmax(&mut logs);
        assert!((logs[0] - 0.25).abs() < 1e-12 && (logs[1] - 0.75).abs() < 1e-12);
        assert!((log_sum - 1000.0 - 4_f64.ln()).abs() < 1e-9);
    }
}
