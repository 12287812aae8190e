//! k-nearest-neighbour classification by the labelled rows.

use super::zero_filled;
use cpcvae_kernels::neighbours::nearest;

/// How many labelled neighbours vote.
const VOTERS: usize = 5;

/// Probabilities of the classes, `[rows, classes]`, for `features [rows, width]` of which some
/// rows have the class given in `labels` (row, class): a vote of the five nearest labelled rows
/// (of all, where these are fewer), each weighted by one over its distance. A missing cell (NaN)
/// counts as 0.
///
/// # Panics
/// If a row or class of a label is out of range.
pub fn knn(features: &[f32], width: usize, labels: &[(u32, u32)], classes: usize) -> Vec<f32> {
    let features = &zero_filled(features)[..];
    let row = |(row, _): &(u32, u32)| &features[*row as usize * width..][..width];
    let labelled: Vec<f32> = labels.iter().flat_map(row).copied().collect();
    let near = nearest(width, features, &labelled, VOTERS);
    let mut probabilities = vec![0.0; features.len() / width * classes];
    for (place, votes) in probabilities.chunks_exact_mut(classes.max(1)).enumerate() {
        for voter in place * near.count..(place + 1) * near.count {
            let (_, class) = labels[near.rows[voter] as usize];
            // A distance of zero outweighs all others but stays finite.
            votes[class as usize] += 1.0 / near.distances[voter].max(1e-6);
        }
        let sum: f32 = votes.iter().sum();
        votes
            .iter_mut()
            .for_each(|vote| *vote /= sum.max(f32::MIN_POSITIVE));
    }
    probabilities
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_labels_win_and_votes_add_up() {
        let features = [0.0, 0.1, 0.2, 5.0, 5.1, 0.05, 4.9];
        let labels = [(0, 0), (1, 0), (2, 0), (3, 1), (4, 1)];
        let found = knn(&features, 1, &labels, 2);
        assert!(found[5 * 2] > 0.9 && found[6 * 2 + 1] > 0.9, "{found:?}");
        for votes in found.chunks(2) {
            assert!((votes[0] + votes[1] - 1.0).abs() < 1e-5, "{found:?}");
        }
    }

    #[test]
    fn five_equally_far_have_a_vote_each() {
        let features = [0.0, 1.0, -1.0, 1.0, -1.0, 1.0, 30.0];
        let labels = [(1, 0), (2, 0), (3, 0), (4, 1), (5, 1), (6, 1)];
        let found = knn(&features, 1, &labels, 2);
        assert!((found[0] - 0.6).abs() < 1e-3, "{found:?}");
    }
}
