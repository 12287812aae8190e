//! Decision forests for classification and regression.
//!
//! A leaf holds the mean target of its rows: class frequencies, or numbers. A split is the purer,
//! the larger the sum over its sides of squared target sums divided by the number of rows: Gini
//! impurity for classes, variance reduction for numbers.

use rand::seq::index::sample;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

const TREES: u64 = 300;

/// The training targets: a vector of numbers for each label.
pub(crate) trait Targets: Copy + Sync {
    /// Its length.
    fn outputs(&self) -> usize;
    /// Whether two targets are equal.
    fn is_same(&self, a: usize, b: usize) -> bool;
    /// Adds a target to `sums [outputs]`; returns the increase of their squared norm.
    fn add(&self, label: usize, sums: &mut [f64]) -> f64;
    /// Subtracts it again; returns the decrease of the squared norm.
    fn take(&self, label: usize, sums: &mut [f64]) -> f64;
    /// Adds a target times `share` to a leaf `[outputs]`.
    fn add_share(&self, label: usize, share: f32, leaf: &mut [f32]);
}

/// One class for each label, one-hot.
#[derive(Clone, Copy)]
pub(super) struct ClassTargets<'a> {
    /// (row, class)
    pub(super) labels: &'a [(u32, u32)],
    pub(super) classes: usize,
}

impl ClassTargets<'_> {
    fn class(&self, label: usize) -> usize {
        self.labels[label].1 as usize
    }
}

impl Targets for ClassTargets<'_> {
    fn outputs(&self) -> usize {
        self.classes
    }

    fn is_same(&self, a: usize, b: usize) -> bool {
        self.class(a) == self.class(b)
    }

    fn add(&self, label: usize, sums: &mut [f64]) -> f64 {
        let sum = &mut sums[self.class(label)];
        *sum += 1.0;
        2.0 * *sum - 1.0
    }

    fn take(&self, label: usize, sums: &mut [f64]) -> f64 {
        let sum = &mut sums[self.class(label)];
        *sum -= 1.0;
        2.0 * *sum + 1.0
    }

    fn add_share(&self, label: usize, share: f32, leaf: &mut [f32]) {
        leaf[self.class(label)] += share;
    }
}

/// Rows and their targets.
#[derive(Clone, Copy)]
pub(crate) struct Known<'a, T> {
    /// `[rows, columns]`
    pub(crate) features: &'a [f32],
    pub(crate) columns: usize,
    /// The row of each label.
    pub(crate) rows: &'a [u32],
    pub(crate) targets: T,
}

/// How trees are grown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Growth {
    pub(crate) splits: Splits,
    /// Columns considered by each split.
    pub(crate) asked: usize,
}

/// Where trees split.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Splits {
    /// All labels, thresholds at random: extremely randomised trees.
    Random,
    /// Labels drawn with replacement, the best thresholds: a random forest.
    Best,
}

/// A grown forest.
#[derive(Clone, Debug)]
pub(crate) struct Trees {
    trees: Vec<Tree>,
    columns: usize,
    outputs: usize,
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
    /// The mean target.
    Leaf(Vec<f32>),
}

impl Trees {
    /// Fits it to the labels whose indices are in `used`, at least one.
    pub(crate) fn grow<T: Targets>(known: Known<'_, T>, used: &[usize], growth: Growth) -> Self {
        let tree = |seed| {
            let mut grower = Grower {
                known,
                growth,
                random: ChaCha8Rng::seed_from_u64(seed),
                nodes: Vec::new(),
            };
            let places = match growth.splits {
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
            columns: known.columns,
            outputs: known.targets.outputs(),
        }
    }

    /// The nodes of each tree, its root last.
    pub(crate) fn trees(&self) -> impl Iterator<Item = &[Node]> {
        self.trees.iter().map(|tree| &tree.0[..])
    }

    /// The weight of each tree.
    pub(crate) fn share(&self) -> f32 {
        1.0 / TREES as f32
    }

    /// The mean prediction of the trees for a row, `[outputs]`.
    pub(crate) fn mean(&self, row: &[f32]) -> Vec<f32> {
        let mut mean = vec![0.0; self.outputs];
        for tree in &self.trees {
            let leaf = mean.iter_mut().zip(tree.leaf(row));
            leaf.for_each(|(sum, share)| *sum += share / TREES as f32);
        }
        mean
    }

    /// Columns of a row.
    pub(crate) fn columns(&self) -> usize {
        self.columns
    }
}

impl Tree {
    fn leaf(&self, row: &[f32]) -> &[f32] {
        let mut at = self.0.len() - 1;
        loop {
            match &self.0[at] {
                Node::Leaf(mean) => return mean,
                Node::Split {
                    column,
                    threshold,
                    to,
                } => at = to[usize::from(row[*column] >= *threshold)],
            }
        }
    }
}

struct Grower<'a, T> {
    known: Known<'a, T>,
    growth: Growth,
    random: ChaCha8Rng,
    nodes: Vec<Node>,
}

impl<T: Targets> Grower<'_, T> {
    /// Grows the tree of these labels and returns the index of its root, the last node.
    fn grow(&mut self, places: Vec<usize>) -> usize {
        let node = match self.split(&places) {
            None => Node::Leaf(self.leaf(&places)),
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

    /// Of some columns, each split at random or at its best threshold, the purest split. `None` if
    /// no column has two values.
    fn split(&mut self, places: &[usize]) -> Option<(usize, f32)> {
        let first = *places.first()?;
        let targets = self.known.targets;
        if places.iter().all(|place| targets.is_same(*place, first)) {
            return None;
        }
        let columns = self.known.columns;
        let mut best: Option<(f64, usize, f32)> = None;
        let mut tried = 0;
        for column in sample(&mut self.random, columns, columns) {
            let values = places.iter().map(|place| self.value(*place, column));
            let (low, high) = values.fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), v| {
                (low.min(v), high.max(v))
            });
            if low >= high {
                // Constant in this node.
                continue;
            }
            let (purity, threshold) = match self.growth.splits {
                Splits::Random => {
                    // Above the lowest value, so that neither side is empty.
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
            if tried == self.growth.asked {
                break;
            }
        }
        best.map(|(_, column, threshold)| (column, threshold))
    }

    /// The sum of the purity of both sides; larger is purer.
    fn purity(&self, places: &[usize], column: usize, threshold: f32) -> f64 {
        let outputs = self.known.targets.outputs();
        let mut sums = [vec![0.0; outputs], vec![0.0; outputs]];
        let mut rows = [0u32; 2];
        for place in places {
            let side = usize::from(self.value(*place, column) >= threshold);
            self.known.targets.add(*place, &mut sums[side]);
            rows[side] += 1;
        }
        let of_side = |(sums, rows): (&Vec<f64>, u32)| {
            sums.iter().map(|sum| sum * sum).sum::<f64>() / f64::from(rows.max(1))
        };
        sums.iter().zip(rows).map(of_side).sum()
    }

    /// The purest threshold of a column that has at least two values, and its purity: rows move to
    /// the other side one by one in the order of their values.
    fn best_threshold(&self, places: &[usize], column: usize) -> (f64, f32) {
        let targets = self.known.targets;
        let mut sorted: Vec<(f32, usize)> = places
            .iter()
            .map(|place| (self.value(*place, column), *place))
            .collect();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let [mut below, mut above] = [vec![0.0; targets.outputs()], vec![0.0; targets.outputs()]];
        let mut squares = [0.0, 0.0];
        for (_, place) in &sorted {
            squares[1] += targets.add(*place, &mut above);
        }
        let mut best = (f64::NEG_INFINITY, sorted[0].0.next_up());
        for (rows, pair) in (1..).zip(sorted.windows(2)) {
            let ((value, place), (next, _)) = (pair[0], pair[1]);
            squares[0] += targets.add(place, &mut below);
            squares[1] -= targets.take(place, &mut above);
            let purity =
                squares[0] / f64::from(rows) + squares[1] / (sorted.len() as f64 - f64::from(rows));
            if next > value && purity > best.0 {
                // The midpoint, but never the lower value itself.
                best = (purity, (value + 0.5 * (next - value)).max(value.next_up()));
            }
        }
        best
    }

    fn value(&self, place: usize, column: usize) -> f32 {
        self.known.features[self.known.rows[place] as usize * self.known.columns + column]
    }

    fn leaf(&self, places: &[usize]) -> Vec<f32> {
        let mut leaf = vec![0.0; self.known.targets.outputs()];
        for place in places {
            let share = 1.0 / places.len() as f32;
            self.known.targets.add_share(*place, share, &mut leaf);
        }
        leaf
    }
}
