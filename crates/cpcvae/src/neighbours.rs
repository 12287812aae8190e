//! Nearest neighbours: the baseline that needs no training.

/// How many labelled neighbours vote.
const NEIGHBOURS: usize = 5;

/// Anything that spreads known classes over rows without training: `features [rows, width]`,
/// known (row, class) pairs, the number of classes; gives probabilities `[rows, classes]`.
pub type Spread = fn(
    features: &[f32],
    rows: usize,
    width: usize,
    labels: &[(u32, u32)],
    classes: usize,
) -> Vec<f32>;

/// Probabilities from a vote of the five nearest labelled rows (of all, where these are fewer),
/// each weighted by one over its distance. A cell that is NaN in either row plays no part in
/// their distance.
///
/// # Panics
/// When a labelled row or class is out of range, as indexing a slice does.
pub fn neighbours(
    features: &[f32],
    rows: usize,
    width: usize,
    labels: &[(u32, u32)],
    classes: usize,
) -> Vec<f32> {
    let row = |row: usize| &features[row * width..(row + 1) * width];
    let mut probabilities = vec![0.0; rows * classes];
    for (place, votes) in probabilities.chunks_exact_mut(classes.max(1)).enumerate() {
        let mut near: Vec<(f32, u32)> = labels
            .iter()
            .map(|&(other, class)| (distance(row(place), row(other as usize)), class))
            .collect();
        near.sort_by(|a, b| a.0.total_cmp(&b.0));
        near.truncate(NEIGHBOURS);
        for (distance, class) in near {
            // A distance of zero outvotes all others but is still a number.
            votes[class as usize] += 1.0 / distance.max(1e-6);
        }
        let sum: f32 = votes.iter().sum();
        votes
            .iter_mut()
            .for_each(|vote| *vote /= sum.max(f32::MIN_POSITIVE));
    }
    probabilities
}

fn distance(a: &[f32], b: &[f32]) -> f32 {
    let squares = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b));
    squares
        .filter(|square| !square.is_nan())
        .sum::<f32>()
        .sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_labels_win_and_votes_add_up() {
        let features = [0.0, 0.1, 0.2, 5.0, 5.1, 0.05, 4.9, f32::NAN];
        let labels = [(0, 0), (1, 0), (2, 0), (3, 1), (4, 1)];
        let found = neighbours(&features, 8, 1, &labels, 2);
        assert!(found[5 * 2] > 0.9 && found[6 * 2 + 1] > 0.9, "{found:?}");
        for votes in found.chunks(2) {
            assert!((votes[0] + votes[1] - 1.0).abs() < 1e-5, "{found:?}");
        }
        // At no distance from any: three of five.
        assert!((found[7 * 2] - 0.6).abs() < 1e-3, "{found:?}");
    }
}
