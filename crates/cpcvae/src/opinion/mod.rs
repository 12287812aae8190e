//! What a few labels suggest for all rows, before and beside a network.
//!
//! Above all, labels spread over the graph of nearest neighbours. Rows that lie near each other in
//! a dense region mostly share their class, so a few labels say something of all rows (Zhou et al.
//! 2004, "Learning with local and global consistency"; with the scales of Zelnik-Manor and Perona
//! 2004 and class masses as Zhu et al. 2003).

pub(crate) mod cholesky;
mod conjugate_gradient;
mod edges;
mod first;
mod forest;
mod labelled;
mod links;
mod logistic;
mod lowest;
mod principal;
mod propagate;
mod reach;
mod ridge;
mod view;
mod vote;

pub use edges::{EDGES, edges};
pub use first::first_opinion;
pub use forest::forest;
pub use logistic::logistic;
pub use propagate::{Propagation, propagate};
pub use view::View;
pub use vote::vote;

use std::borrow::Cow;

/// Features with 0 for missing cells (NaN), as an encoder sees them: distances need numbers.
fn whole(features: &[f32]) -> Cow<'_, [f32]> {
    if !features.iter().any(|value| value.is_nan()) {
        return Cow::Borrowed(features);
    }
    let known = |value: &f32| if value.is_nan() { 0.0 } else { *value };
    features.iter().map(known).collect()
}

/// The place of the largest, the first of equals.
fn largest<T: PartialOrd>(row: &[T]) -> usize {
    (0..row.len()).fold(0, |best, k| if row[k] > row[best] { k } else { best })
}
