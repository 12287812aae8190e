//! The density of one component.

use super::Component;

/// A component with precomputed values for its density.
pub(super) struct Normal {
    mean: Vec<f64>,
    /// The inverse of L, lower triangle of `[code, code]`.
    inverse: Vec<f64>,
    /// Diagonal of the inverse covariance.
    precisions: Vec<f64>,
    /// The terms that do not depend on the row: log pi - (code log 2 pi + log det S) / 2.
    constant: f64,
}

impl Normal {
    /// `None` if the share or the determinant has no finite logarithm.
    pub(super) fn new(component: &Component) -> Option<Self> {
        let (lower, code) = (&component.lower, component.mean.len());
        let mut inverse = vec![0.0; code * code];
        for j in 0..code {
            inverse[j * code + j] = 1.0 / lower[j * code + j];
            for i in j + 1..code {
                let products = (j..i).map(|k| lower[i * code + k] * inverse[k * code + j]);
                inverse[i * code + j] = -products.sum::<f64>() / lower[i * code + i];
            }
        }
        let precision = |j: usize| (j..code).map(|i| inverse[i * code + j].powi(2)).sum();
        let precisions = (0..code).map(precision).collect();
        let half_log_det: f64 = (0..code).map(|i| lower[i * code + i].ln()).sum();
        let constant =
            component.share.ln() - 0.5 * code as f64 * std::f64::consts::TAU.ln() - half_log_det;
        constant.is_finite().then(|| Self {
            mean: component.mean.clone(),
            precisions,
            inverse,
            constant,
        })
    }

    /// log pi + the expected log-density of a code with this mean and these standard deviations.
    pub(crate) fn expected_log_density(&self, mean: &[f32], sigma: &[f32]) -> f64 {
        let code = self.mean.len();
        let off: Vec<f64> = mean
            .iter()
            .zip(&self.mean)
            .map(|(value, mean)| f64::from(*value) - mean)
            .collect();
        let mut distance = 0.0;
        for i in 0..code {
            let line = &self.inverse[i * code..=i * code + i];
            let product: f64 = line.iter().zip(&off).map(|(l, o)| l * o).sum();
            distance += product * product;
        }
        let own = sigma.iter().zip(&self.precisions);
        let own: f64 = own.map(|(s, p)| f64::from(*s).powi(2) * p).sum();
        self.constant - 0.5 * (distance + own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected log-density of N([1, -1], [4, 1.2; 1.2, 1]) over N([2, 0], diag(0.25, 0.01)),
    /// by `scipy.stats.multivariate_normal.logpdf([1, 1], cov=S) - 0.5 * trace(inv(S) @ diag)`
    /// with S = [4, 1.2; 1.2, 1]: -0.5 (2 log 2 pi + log 2.56 + 2.6 / 2.56 + 0.29 / 2.56).
    #[test]
    fn it_is_that_of_the_textbook() {
        let component = Component {
            share: 0.5,
            mean: vec![1.0, -1.0],
            lower: vec![2.0, 0.0, 0.6, 0.8],
        };
        let normal = Normal::new(&component).expect("a density");
        let found = normal.expected_log_density(&[2.0, 0.0], &[0.5, 0.1]);
        let log_two_pi = std::f64::consts::TAU.ln();
        let expected = 0.5f64.ln() - 0.5 * (2.0 * log_two_pi + 2.56f64.ln() + (2.6 + 0.29) / 2.56);
        assert!((found - expected).abs() < 1e-7, "{found}, not {expected}");
    }
}
