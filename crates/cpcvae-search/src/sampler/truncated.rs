//! The truncated normal distribution.

use statrs::function::erf::{erfc, erfc_inv};
use std::f64::consts::SQRT_2;

/// The probability below `x`.
fn below(x: f64) -> f64 {
    0.5 * erfc(-x / SQRT_2)
}

/// The logarithm of the probability between `a` and `b`, in standard deviations; accurate in the
/// tails.
pub(crate) fn log_mass(a: f64, b: f64) -> f64 {
    let mass = if a > 0.0 {
        0.5 * (erfc(a / SQRT_2) - erfc(b / SQRT_2))
    } else if b < 0.0 {
        0.5 * (erfc(-b / SQRT_2) - erfc(-a / SQRT_2))
    } else {
        1.0 - below(a) - below(-b)
    };
    mass.ln()
}

/// The logarithm of the density at `x`.
pub(super) fn log_density(x: f64, mean: f64, deviation: f64, low: f64, high: f64) -> f64 {
    let z = (x - mean) / deviation;
    let mass = log_mass((low - mean) / deviation, (high - mean) / deviation);
    -0.5 * z * z - 0.5 * (2.0 * std::f64::consts::PI).ln() - deviation.ln() - mass
}

/// The quantile of share `u` of the distribution truncated to `low` and `high`. The mean is between
/// them.
pub(super) fn quantile(u: f64, mean: f64, deviation: f64, low: f64, high: f64) -> f64 {
    let (a, b) = ((low - mean) / deviation, (high - mean) / deviation);
    let from = below(a);
    let share = from + u * log_mass(a, b).exp();
    let z = -SQRT_2 * erfc_inv((2.0 * share).clamp(1e-300, 2.0 - 1e-15));
    (mean + deviation * z).clamp(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masses_far_out_keep_their_digits() {
        // scipy: log(norm.sf(5) - norm.sf(6)), log(norm.cdf(30) - norm.cdf(-1)), ... by
        // tests/reference/tpe.py
        for (a, b, expected) in [
            (5.0, 6.0, -15.068_446_096_529_456),
            (-6.0, -5.0, -15.068_446_096_529_456),
            (-1.0, 30.0, -0.172_753_779_023_449_9),
        ] {
            assert!((log_mass(a, b) - expected).abs() < 1e-9, "{a} {b}");
        }
    }

    #[test]
    fn quantiles_are_where_their_share_lies() {
        for (mean, deviation) in [(0.1, 0.05), (0.5, 3.0), (1.0, 0.2)] {
            for u in [1e-6, 0.1, 0.5, 0.9, 1.0 - 1e-6] {
                let x = quantile(u, mean, deviation, 0.0, 1.0);
                let mass = |to: f64| log_mass(-mean / deviation, (to - mean) / deviation).exp();
                assert!((mass(x) / mass(1.0) - u).abs() < 1e-9, "{mean} {u}: {x}");
            }
        }
    }
}
