//! The choice of label propagation's alpha by leave-one-out cross-validation.

use super::conjugate_gradient::{TOLERANCE, solve};
use super::knn_graph::KnnGraph;

/// Candidates, in increasing order.
const ALPHAS: [f64; 4] = [0.9, 0.99, 0.999, 0.9999];
/// The most labels that are left out, one at a time.
const MOST_LABELS: usize = 40;

/// The alpha with the most correct leave-one-out predictions at `left_out` (indices into `labels`),
/// and these predictions, `[left out, classes]`. Of two equally good alphas the larger one: where
/// labels are few, only a large alpha propagates them to all rows.
pub(super) fn choose(
    graph: &KnnGraph,
    labels: &[(u32, u32)],
    judges: &[usize],
    classes: usize,
) -> (f64, Vec<f64>) {
    let mut best = (ALPHAS[0], Vec::new());
    let mut most = 0;
    for alpha in ALPHAS {
        let beliefs = left_out(graph, alpha, labels, judges, classes);
        let found = found_again(&beliefs, labels, judges, classes);
        if found < most {
            // A still larger alpha takes longest to solve and would not help.
            break;
        }
        most = found;
        best = (alpha, beliefs);
    }
    best
}

/// How many of the left-out labels have their own class as the single most probable one.
fn found_again(beliefs: &[f64], labels: &[(u32, u32)], judges: &[usize], classes: usize) -> usize {
    let is_found = |(belief, judge): &(&[f64], &usize)| {
        let class = labels[**judge].1 as usize;
        (0..classes).all(|k| k == class || belief[k] < belief[class])
    };
    let rows = beliefs.chunks_exact(classes).zip(judges);
    rows.filter(is_found).count()
}

/// Indices of the labels that are left out: all, or every n-th of a longer list.
pub(super) fn judges(labels: &[(u32, u32)]) -> Vec<usize> {
    let step = labels.len().div_ceil(MOST_LABELS).max(1);
    (0..labels.len()).step_by(step).collect()
}

/// Leave-one-out predictions, `[left out, classes]`, not normalised.
///
/// The solution is linear in the labels, so leaving one out is subtracting the solution for it
/// alone: no system has to be solved twice.
fn left_out(
    graph: &KnnGraph,
    alpha: f64,
    labels: &[(u32, u32)],
    judges: &[usize],
    classes: usize,
) -> Vec<f64> {
    // A column for each class with all its labels, and one for each left-out label alone.
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

    let of_judge = |(place, judge): (usize, &usize)| -> Vec<f64> {
        let (row, class) = labels[*judge];
        let own = classes + place;
        let beliefs = &beliefs[row as usize * columns..][..columns];
        let belief = |k: usize| {
            let is_own = f64::from(u8::from(k == class as usize));
            let arrived = beliefs[k] - is_own * beliefs[own];
            let mass = masses[k] - is_own * masses[own];
            // Without another label of its class no mass can arrive, and values below the solver's
            // tolerance are rounding error.
            if mass > 1e-9 * masses[k] && arrived > TOLERANCE * beliefs[own] {
                counts[k] * arrived / mass
            } else {
                0.0
            }
        };
        (0..classes).map(belief).collect()
    };
    judges.iter().enumerate().flat_map(of_judge).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpcvae_kernels::neighbours::nearest_others;

    /// Two long parallel chains, each with labels at one end and in the middle.
    fn chains() -> (Vec<f32>, Vec<(u32, u32)>) {
        let points = (0..400).flat_map(|i| [(i / 2) as f32 * 0.1, (i % 2) as f32 * 1.5]);
        (points.collect(), vec![(0, 0), (200, 0), (1, 1), (201, 1)])
    }

    #[test]
    fn leaving_out_is_solving_without() {
        let (points, labels) = chains();
        let graph = KnnGraph::between(&nearest_others(2, &points, 6), 400);
        for alpha in [0.9, 0.99, 0.999] {
            let beliefs = left_out(&graph, alpha, &labels, &[0, 1, 2, 3], 2);
            let fast = found_again(&beliefs, &labels, &[0, 1, 2, 3], 2);
            let slow = (0..labels.len()).filter(|left_out| {
                let mut others = labels.clone();
                let (row, class) = others.remove(*left_out);
                let beliefs = super::super::propagate::beliefs(&graph, alpha, &others, 2);
                let row = &beliefs[row as usize * 2..][..2];
                // The class masses follow all four labels, as in the fast version.
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
