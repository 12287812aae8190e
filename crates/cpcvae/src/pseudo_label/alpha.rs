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
    held_out: &[usize],
    classes: usize,
) -> (f64, Vec<f64>) {
    let mut best = (ALPHAS[0], Vec::new());
    let mut most = 0;
    for alpha in ALPHAS {
        let class_probs = leave_one_out(graph, alpha, labels, held_out, classes);
        let count = correct(&class_probs, labels, held_out, classes);
        if count < most {
            // A still larger alpha takes longest to solve and would not help.
            break;
        }
        most = count;
        best = (alpha, class_probs);
    }
    best
}

/// How many of the left-out labels have their own class as the single most probable one.
fn correct(
    class_probs: &[f64],
    labels: &[(u32, u32)],
    held_out: &[usize],
    classes: usize,
) -> usize {
    let is_correct = |(row_probs, label): &(&[f64], &usize)| {
        let class = labels[**label].1 as usize;
        (0..classes).all(|k| k == class || row_probs[k] < row_probs[class])
    };
    let rows = class_probs.chunks_exact(classes).zip(held_out);
    rows.filter(is_correct).count()
}

/// Indices of the labels that are left out: all, or every n-th of a longer list.
pub(super) fn held_out(labels: &[(u32, u32)]) -> Vec<usize> {
    let step = labels.len().div_ceil(MOST_LABELS).max(1);
    (0..labels.len()).step_by(step).collect()
}

/// Leave-one-out predictions, `[left out, classes]`, not normalised.
///
/// The solution is linear in the labels, so leaving one out is subtracting the solution for it
/// alone: no system has to be solved twice.
fn leave_one_out(
    graph: &KnnGraph,
    alpha: f64,
    labels: &[(u32, u32)],
    held_out: &[usize],
    classes: usize,
) -> Vec<f64> {
    // A column for each class with all its labels, and one for each left-out label alone.
    let columns = classes + held_out.len();
    let mut right = vec![0.0; graph.rows() * columns];
    for (row, class) in labels {
        right[*row as usize * columns + *class as usize] = 1.0;
    }
    for (column, label) in held_out.iter().enumerate() {
        right[labels[*label].0 as usize * columns + classes + column] = 1.0;
    }
    let mut class_probs = solve(graph, alpha, columns, right);
    graph.divide_by_degrees(columns, &mut class_probs);
    let mut masses = vec![0.0; columns];
    for row in class_probs.chunks_exact(columns) {
        masses.iter_mut().zip(row).for_each(|(mass, b)| *mass += b);
    }
    let mut counts = vec![0.0; classes];
    labels
        .iter()
        .for_each(|(_, class)| counts[*class as usize] += 1.0);

    let of_label = |(column, label): (usize, &usize)| -> Vec<f64> {
        let (row, class) = labels[*label];
        let own = classes + column;
        let class_probs = &class_probs[row as usize * columns..][..columns];
        let row_probs = |k: usize| {
            let is_own = f64::from(u8::from(k == class as usize));
            let arrived = class_probs[k] - is_own * class_probs[own];
            let mass = masses[k] - is_own * masses[own];
            // Without another label of its class no mass can arrive, and values below the solver's
            // tolerance are rounding error.
            if mass > 1e-9 * masses[k] && arrived > TOLERANCE * class_probs[own] {
                counts[k] * arrived / mass
            } else {
                0.0
            }
        };
        (0..classes).map(row_probs).collect()
    };
    held_out.iter().enumerate().flat_map(of_label).collect()
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
            let class_probs = leave_one_out(&graph, alpha, &labels, &[0, 1, 2, 3], 2);
            let fast = correct(&class_probs, &labels, &[0, 1, 2, 3], 2);
            let slow = (0..labels.len()).filter(|left_out| {
                let mut others = labels.clone();
                let (row, class) = others.remove(*left_out);
                let class_probs = super::super::propagate::class_probs(&graph, alpha, &others, 2);
                let row = &class_probs[row as usize * 2..][..2];
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
        assert!(choose(&graph, &labels, &held_out(&labels), 2).0 >= 0.999);
    }
}
