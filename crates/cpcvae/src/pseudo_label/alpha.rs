//! The choice of label propagation's alpha, by leaving labels out one at a time.

use super::conjugate_gradient::{TOLERANCE, solve};
use super::knn_graph::KnnGraph;

/// Candidates, in increasing order.
const ALPHAS: [f64; 4] = [0.9, 0.99, 0.999, 0.9999];
/// Labels that are left out, one at a time.
const MOST_LABELS: usize = 100;

/// The alpha at which most of the `judges` (places in `labels`) are found again from all other
/// labels, and how many are; the larger one of two that do equally well, since where labels are few
/// only a large alpha carries them everywhere.
pub(super) fn choose(
    graph: &KnnGraph,
    labels: &[(u32, u32)],
    judges: &[usize],
    classes: usize,
) -> (f64, usize) {
    let mut best = (ALPHAS[0], 0);
    for alpha in ALPHAS {
        let found = found_again(graph, alpha, labels, judges, classes);
        if found < best.1 {
            // A still larger alpha takes longest to solve, and is not the cure.
            break;
        }
        best = (alpha, found);
    }
    best
}

/// Places of the labels that are left out: all, or every so many of a longer list.
pub(super) fn judges(labels: &[(u32, u32)]) -> Vec<usize> {
    let step = labels.len().div_ceil(MOST_LABELS).max(1);
    (0..labels.len()).step_by(step).collect()
}

/// How many of the `judges` get their own class back when their label is taken away.
///
/// The solution is linear in the labels, so that taking one away is subtracting the solution for
/// it alone: no system has to be solved twice.
fn found_again(
    graph: &KnnGraph,
    alpha: f64,
    labels: &[(u32, u32)],
    judges: &[usize],
    classes: usize,
) -> usize {
    // A column for each class with all its labels, and one for each judge alone.
    let columns = classes + judges.len();
    let mut right = vec![0.0; graph.rows() * columns];
    for (row, class) in labels {
        right[*row as usize * columns + *class as usize] = 1.0;
    }
    for (place, judge) in judges.iter().enumerate() {
        right[labels[*judge].0 as usize * columns + classes + place] = 1.0;
    }
    let mut beliefs = solve(graph, alpha, columns, right);
    graph.divide_by_degrees(columns, &mut beliefs);
    let mut masses = vec![0.0; columns];
    for row in beliefs.chunks_exact(columns) {
        masses.iter_mut().zip(row).for_each(|(mass, b)| *mass += b);
    }
    let mut counts = vec![0.0; classes];
    labels
        .iter()
        .for_each(|(_, class)| counts[*class as usize] += 1.0);

    let found = judges.iter().enumerate().filter(|(place, judge)| {
        let (row, class) = labels[**judge];
        let own = classes + place;
        let beliefs = &beliefs[row as usize * columns..][..columns];
        let belief = |k: usize| {
            let is_own = f64::from(u8::from(k == class as usize));
            let arrived = beliefs[k] - is_own * beliefs[own];
            let mass = masses[k] - is_own * masses[own];
            // Without any other label of its class there is nothing to arrive, and what is less
            // than the solver's tolerance is rounding.
            if mass > 1e-9 * masses[k] && arrived > TOLERANCE * beliefs[own] {
                counts[k] * arrived / mass
            } else {
                0.0
            }
        };
        (0..classes).all(|k| k == class as usize || belief(k) < belief(class as usize))
    });
    found.count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpcvae_kernels::neighbours::nearest_others;

    /// Two long chains side by side, each with labels at one end and in the middle.
    fn chains() -> (Vec<f32>, Vec<(u32, u32)>) {
        let points = (0..400).flat_map(|i| [(i / 2) as f32 * 0.1, (i % 2) as f32 * 1.5]);
        (points.collect(), vec![(0, 0), (200, 0), (1, 1), (201, 1)])
    }

    #[test]
    fn leaving_out_is_solving_without() {
        let (points, labels) = chains();
        let graph = KnnGraph::between(&nearest_others(2, &points, 6), 400);
        for alpha in [0.9, 0.99, 0.999] {
            let fast = found_again(&graph, alpha, &labels, &[0, 1, 2, 3], 2);
            let slow = (0..labels.len()).filter(|left_out| {
                let mut others = labels.clone();
                let (row, class) = others.remove(*left_out);
                let beliefs = super::super::propagate::beliefs(&graph, alpha, &others, 2);
                let row = &beliefs[row as usize * 2..][..2];
                // The class masses follow all four labels, as in the fast way.
                let weight = |k: u32| if k == class { 2.0 } else { 1.0 };
                row[class as usize] * weight(class) > row[1 - class as usize] * weight(1 - class)
            });
            assert_eq!(fast, slow.count(), "alpha {alpha}");
        }
    }

    #[test]
    fn few_labels_on_long_chains_ask_for_a_large_alpha() {
        let (points, labels) = chains();
        let graph = KnnGraph::between(&nearest_others(2, &points, 6), 400);
        assert!(choose(&graph, &labels, &judges(&labels), 2).0 >= 0.999);
    }
}
