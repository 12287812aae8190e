//! Classifiers from the labelled rows alone: extremely randomised trees (Geurts et al. 2006) and a
//! random forest (Breiman 2001).
//!
//! Trees ask one column at a time, so that columns which say nothing, or are on other scales, do
//! no harm: where distances between rows are no guide, they often are.

use super::labelled::{Classifier, Labelled};
use super::whole;
use rand::seq::index::sample;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

const TREES: u64 = 300;

/// Probabilities of the classes, `[rows, classes]`, for `features [rows, width]` of which some
/// rows have the class given in `labels` (row, class), by a forest grown on these. A missing cell
/// (NaN) counts as 0.
///
/// # Panics
/// If a row or class of a label is out of range.
pub fn forest(features: &[f32], width: usize, labels: &[(u32, u32)], classes: usize) -> Vec<f32> {
    let features = &whole(features)[..];
    let data = Labelled {
        features,
        columns: width,
        labels,
        classes,
    };
    Forest::fit_all(data).beliefs(features)
}

/// A grown forest.
#[derive(Clone, Debug)]
pub(crate) struct Forest {
    trees: Vec<Tree>,
    columns: usize,
    classes: usize,
}

/// Nodes, the root last.
#[derive(Clone, Debug)]
struct Tree(Vec<Node>);

/// A node of a tree.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    /// Below the threshold to the first node, otherwise to the second.
    Split {
        column: usize,
        threshold: f32,
        to: [usize; 2],
    },
    /// Shares of the classes.
    Leaf(Vec<f32>),
}

/// Where trees split.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Splits {
    /// All labels, thresholds at random: extremely randomised trees.
    Random,
    /// Labels drawn with replacement, the best thresholds: a random forest.
    Best,
}

impl Forest {
    /// The nodes of each tree, its root last.
    pub(crate) fn trees(&self) -> impl Iterator<Item = &[Node]> {
        self.trees.iter().map(|tree| &tree.0[..])
    }

    /// How much each tree counts.
    pub(crate) fn share(&self) -> f32 {
        1.0 / TREES as f32
    }

    fn grow(data: Labelled<'_>, used: &[usize], splits: Splits) -> Self {
        let tree = |seed| {
            let mut grower = Grower {
                data,
                splits,
                random: ChaCha8Rng::seed_from_u64(seed),
                nodes: Vec::new(),
            };
            let places = match splits {
                Splits::Random => used.to_vec(),
                Splits::Best => {
                    let random = &mut grower.random;
                    let draw = |_| used[random.random_range(0..used.len())];
                    (0..used.len()).map(draw).collect()
                }
            };
            grower.grow(places);
            Tree(grower.nodes)
        };
        Self {
            trees: (0..TREES).into_par_iter().map(tree).collect(),
            columns: data.columns,
            classes: data.classes,
        }
    }
}

/// A random forest.
#[derive(Clone, Debug)]
pub(super) struct RandomForest(pub(super) Forest);

impl Classifier for RandomForest {
    fn fit(data: Labelled<'_>, used: &[usize]) -> Self {
        Self(Forest::grow(data, used, Splits::Best))
    }

    fn belief(&self, row: &[f32]) -> Vec<f32> {
        self.0.belief(row)
    }

    fn columns(&self) -> usize {
        self.0.columns
    }
}

impl Classifier for Forest {
    fn fit(data: Labelled<'_>, used: &[usize]) -> Self {
        Self::grow(data, used, Splits::Random)
    }

    fn belief(&self, row: &[f32]) -> Vec<f32> {
        let mut belief = vec![0.0; self.classes];
        for tree in &self.trees {
            let shares = belief.iter_mut().zip(tree.leaf(row));
            shares.for_each(|(sum, share)| *sum += share / TREES as f32);
        }
        belief
    }

    fn columns(&self) -> usize {
        self.columns
    }
}

impl Tree {
    fn leaf(&self, row: &[f32]) -> &[f32] {
        let mut at = self.0.len() - 1;
        loop {
            match &self.0[at] {
                Node::Leaf(shares) => return shares,
                Node::Split {
                    column,
                    threshold,
                    to,
                } => at = to[usize::from(row[*column] >= *threshold)],
            }
        }
    }
}

struct Grower<'a> {
    data: Labelled<'a>,
    splits: Splits,
    random: ChaCha8Rng,
    nodes: Vec<Node>,
}

impl Grower<'_> {
    /// Grows the tree of these labels and returns its node, which is the last one.
    fn grow(&mut self, places: Vec<usize>) -> usize {
        let node = match self.split(&places) {
            None => Node::Leaf(self.shares(&places)),
            Some((column, threshold)) => {
                let (low, high): (Vec<usize>, Vec<usize>) = places
                    .into_iter()
                    .partition(|place| self.value(*place, column) < threshold);
                let to = [self.grow(low), self.grow(high)];
                Node::Split {
                    column,
                    threshold,
                    to,
                }
            }
        };
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// Of as many columns as the root of their number, each split at random, the one that
    /// separates the classes best. `None` where there is nothing to separate.
    fn split(&mut self, places: &[usize]) -> Option<(usize, f32)> {
        let class = |place: &usize| self.data.labels[*place].1;
        let first = places.first().map(class)?;
        if places.iter().all(|place| class(place) == first) {
            return None;
        }
        let columns = self.data.columns;
        let wanted = (columns as f64).sqrt().ceil() as usize;
        let mut best: Option<(f64, usize, f32)> = None;
        let mut tried = 0;
        for column in sample(&mut self.random, columns, columns) {
            let values = places.iter().map(|place| self.value(*place, column));
            let (low, high) = values.fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), v| {
                (low.min(v), high.max(v))
            });
            if low >= high {
                // All alike here.
                continue;
            }
            let (purity, threshold) = match self.splits {
                Splits::Random => {
                    // Above the lowest, so that neither side is empty.
                    let at = high - (high - low) * self.random.random::<f32>();
                    let threshold = at.max(low.next_up());
                    (self.purity(places, column, threshold), threshold)
                }
                Splits::Best => self.best_threshold(places, column),
            };
            if best.is_none_or(|(most, ..)| purity > most) {
                best = Some((purity, column, threshold));
            }
            tried += 1;
            if tried == wanted {
                break;
            }
        }
        best.map(|(_, column, threshold)| (column, threshold))
    }

    /// Gini's: for each side the sum of squared counts over its rows; larger is purer.
    fn purity(&self, places: &[usize], column: usize, threshold: f32) -> f64 {
        let mut counts = [vec![0u32; self.data.classes], vec![0; self.data.classes]];
        for place in places {
            let side = usize::from(self.value(*place, column) >= threshold);
            counts[side][self.data.labels[*place].1 as usize] += 1;
        }
        let of_side = |counts: &Vec<u32>| {
            let squares: f64 = counts.iter().map(|n| f64::from(*n).powi(2)).sum();
            squares / f64::from(counts.iter().sum::<u32>().max(1))
        };
        counts.iter().map(of_side).sum()
    }

    /// The purest threshold of a column that has at least two values, and its purity: rows change
    /// sides one by one in the order of their values.
    fn best_threshold(&self, places: &[usize], column: usize) -> (f64, f32) {
        let class = |place: usize| self.data.labels[place].1 as usize;
        let mut sorted: Vec<(f32, usize)> = places
            .iter()
            .map(|place| (self.value(*place, column), class(*place)))
            .collect();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut counts = [
            vec![0.0f64; self.data.classes],
            vec![0.0; self.data.classes],
        ];
        sorted
            .iter()
            .for_each(|(_, class)| counts[1][*class] += 1.0);
        let mut squares = [0.0, counts[1].iter().map(|n| n * n).sum::<f64>()];
        let mut best = (f64::NEG_INFINITY, sorted[0].0.next_up());
        for (below, pair) in (1..).zip(sorted.windows(2)) {
            let ((value, class), (next, _)) = (pair[0], pair[1]);
            squares[0] += 2.0 * counts[0][class] + 1.0;
            squares[1] -= 2.0 * counts[1][class] - 1.0;
            counts[0][class] += 1.0;
            counts[1][class] -= 1.0;
            let purity = squares[0] / f64::from(below)
                + squares[1] / (sorted.len() as f64 - f64::from(below));
            if next > value && purity > best.0 {
                // Half-way, but never the lower value itself.
                best = (purity, (value + 0.5 * (next - value)).max(value.next_up()));
            }
        }
        best
    }

    fn value(&self, place: usize, column: usize) -> f32 {
        self.data.row(self.data.labels[place].0)[column]
    }

    fn shares(&self, places: &[usize]) -> Vec<f32> {
        let mut shares = vec![0.0; self.data.classes];
        for place in places {
            shares[self.data.labels[*place].1 as usize] += 1.0 / places.len() as f32;
        }
        shares
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probabilities::largest;
    use cpcvae_kernels::random::{Stream, uniform};

    /// The class is which half of column 0 a row is in; nine more columns say nothing.
    fn rows(rows: usize) -> (Vec<f32>, Vec<(u32, u32)>) {
        let mut features = vec![0.0; rows * 10];
        let stream = Stream {
            seed: 3,
            step: 0,
            purpose: 0,
        };
        uniform(stream, &mut features);
        let class = |row: u32| (row, u32::from(features[row as usize * 10] > 0.5));
        let labels = (0..rows as u32).map(class).collect();
        (features, labels)
    }

    fn labelled<'a>(features: &'a [f32], labels: &'a [(u32, u32)]) -> Labelled<'a> {
        Labelled {
            features,
            columns: 10,
            labels,
            classes: 2,
        }
    }

    #[test]
    fn labels_are_known_by_heart_and_new_rows_mostly() {
        let (features, labels) = rows(500);
        let data = labelled(&features, &labels[..100]);
        let forest = Forest::fit_all(data);
        let beliefs = forest.beliefs(&features);
        let is_right = |row: &usize| largest(&beliefs[row * 2..][..2]) == labels[*row].1 as usize;
        assert!((0..100).all(|row| is_right(&row)));
        let right = (100..500).filter(is_right).count();
        assert!(right > 360, "{right} of 400");
        let sums = beliefs.chunks_exact(2).map(|b| b[0] + b[1]);
        assert!(sums.into_iter().all(|sum| (sum - 1.0).abs() < 1e-4));
    }

    #[test]
    fn labels_are_found_again_only_where_columns_tell() {
        let (features, labels) = rows(100);
        let found = |labels: &[(u32, u32)]| {
            let left_out = Forest::left_out(labelled(&features, labels));
            let rows = left_out.chunks_exact(2).zip(labels);
            rows.filter(|(belief, (_, class))| largest(belief) == *class as usize)
                .count()
        };
        assert!(found(&labels) > 80);
        let at_random: Vec<(u32, u32)> = (0..100).map(|row| (row, row / 3 % 2)).collect();
        let found = found(&at_random);
        assert!((25..75).contains(&found), "{found}");
    }

    #[test]
    fn rows_that_are_all_alike_share_a_leaf() {
        let features = vec![1.0; 40];
        let labels = [(0, 0), (1, 1), (2, 1), (3, 1)];
        let forest = Forest::fit_all(labelled(&features, &labels));
        let belief = forest.belief(&features[..10]);
        assert!((belief[0] - 0.25).abs() < 1e-3 && (belief[1] - 0.75).abs() < 1e-3);
    }
}
