//! Kernel density estimates on a grid, with Scott's rule, for importances.

use super::truncated::log_mass;

/// Probabilities of grid points from counts, of which one must be positive. Values of a range are
/// smoothed, choices are not.
pub(crate) fn grid_density(counts: &[usize], are_choices: bool) -> Vec<f64> {
    let seen: Vec<(f64, f64)> = counts
        .iter()
        .enumerate()
        .filter(|(_, count)| **count > 0)
        .map(|(place, count)| (place as f64, *count as f64))
        .collect();
    let total = seen.iter().map(|(_, weight)| weight).sum::<f64>() + 1.0;
    let places = (0..counts.len()).map(|place| place as f64);
    if are_choices {
        let prior = 1.0 / (seen.len() + 1) as f64;
        let row = 1.0 + prior * counts.len() as f64;
        let at = |place: f64| {
            let kernels = seen
                .iter()
                .map(|(at, weight)| weight * (prior + f64::from(u8::from(*at == place))) / row);
            (kernels.sum::<f64>() + 1.0 / counts.len() as f64) / total
        };
        return places.map(at).collect();
    }
    let last = (counts.len() - 1) as f64;
    let deviation = scott(&seen).max(0.5 / 1.64);
    let mass = |place: f64, mean: f64, deviation: f64| {
        let z = |value: f64| (value - mean) / deviation;
        (log_mass(z(place - 0.5), z(place + 0.5)) - log_mass(z(-0.5), z(last + 0.5))).exp()
    };
    let at = |place: f64| {
        let kernels = seen
            .iter()
            .map(|(at, weight)| weight * mass(place, *at, deviation));
        (kernels.sum::<f64>() + mass(place, last / 2.0, last + 1.0)) / total
    };
    places.map(at).collect()
}

/// Scott's rule for weighted, sorted values.
fn scott(seen: &[(f64, f64)]) -> f64 {
    let total: f64 = seen.iter().map(|(_, weight)| weight).sum();
    let mean = seen.iter().map(|(at, weight)| at * weight).sum::<f64>() / total;
    let squares: f64 = seen
        .iter()
        .map(|(at, weight)| weight * (at - mean).powi(2))
        .sum();
    let deviation = (squares / (total - 1.0).max(1.0)).sqrt();
    let mut sum = 0.0;
    let sums: Vec<f64> = seen
        .iter()
        .map(|(_, weight)| {
            sum += weight;
            sum
        })
        .collect();
    let lower = sums.partition_point(|sum| *sum < (total / 4.0).floor());
    let upper = sums.partition_point(|sum| *sum <= (total * 3.0 / 4.0).floor());
    let quartiles = seen[upper.min(seen.len() - 1)].0 - seen[lower].0;
    1.059 * (quartiles / 1.34).min(deviation) * total.powf(-0.2)
}
