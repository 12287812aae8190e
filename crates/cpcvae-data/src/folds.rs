//! Labelled rows dealt into cross-validation folds; and nested choices of few labels.

use crate::random::{RandomPurpose, generator};
use crate::{DataError, Dataset, Labels, Result};
use rand::seq::SliceRandom;

/// Labelled rows in folds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folds {
    /// The rows held out in each fold, in order.
    pub held_out: Vec<Vec<u32>>,
    /// Rows that are never held out: the only label of their class.
    pub kept: Vec<u32>,
}

impl Folds {
    /// Deals the given labelled rows into `count` folds of nearly equal size, or into as many as
    /// there are rows if these are fewer. Each class is spread over the folds as evenly as
    /// possible, so a class with fewer labels than folds is missing in some of them.
    ///
    /// A class with one label stays in training, since a model that never saw a class cannot
    /// name it. `repeat` numbers independent ways of dealing.
    pub fn deal(
        data: &Dataset,
        rows: &[u32],
        count: usize,
        seed: u64,
        repeat: u64,
    ) -> Result<Folds> {
        let (order, kept) = shuffled(data, rows, seed, RandomPurpose::Folds, repeat);
        if count < 2 || order.len() < 2 {
            return Err(DataError::Split(format!(
                "{count} folds of {} labelled rows that can be held out ({} more are the only \
                 label of their class); there must be at least two folds and two such rows",
                order.len(),
                kept.len()
            )));
        }
        let count = count.min(order.len());
        let mut held_out = vec![Vec::new(); count];
        // Class after class, so that each class goes to every fold once before it goes to one
        // twice.
        for (place, row) in order.into_iter().enumerate() {
            held_out[place % count].push(row);
        }
        held_out.iter_mut().for_each(|fold| fold.sort_unstable());
        Ok(Folds { held_out, kept })
    }
}

/// `count` of the given labelled rows, with classes in proportion but at least one row of each
/// while `count` suffices. With the same seed, a larger count gives the same rows and more.
pub fn choose_labels(data: &Dataset, rows: &[u32], count: usize, seed: u64) -> Vec<u32> {
    let (order, single) = shuffled(data, rows, seed, RandomPurpose::ChooseLabels, 0);
    let mut classes: Vec<Vec<u32>> = Vec::new();
    let mut last = None;
    for row in single.into_iter().chain(order) {
        let class = data.labels.class_of(row);
        if last != Some(class) {
            classes.push(Vec::new());
            last = Some(class);
        }
        if let Some(rows) = classes.last_mut() {
            rows.push(row);
        }
    }
    // The first rows of all classes come before the second of any; then in proportion.
    let mut placed: Vec<(f64, u32)> = Vec::new();
    for rows in &classes {
        let size = rows.len() as f64;
        let of_class = rows.iter().enumerate();
        placed.extend(of_class.map(|(i, &row)| (if i == 0 { -1.0 } else { i as f64 / size }, row)));
    }
    placed.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut chosen: Vec<u32> = placed.iter().take(count).map(|&(_, row)| row).collect();
    chosen.sort_unstable();
    chosen
}

/// The rows class after class, each class in random order; separately, the rows that are alone in
/// their class.
fn shuffled(
    data: &Dataset,
    rows: &[u32],
    seed: u64,
    purpose: RandomPurpose,
    index: u64,
) -> (Vec<u32>, Vec<u32>) {
    let mut order = rows.to_vec();
    order.sort_unstable();
    order.shuffle(&mut generator(seed, purpose, index));
    if !matches!(data.labels, Labels::Classes { .. }) {
        return (order, Vec::new());
    }
    let mut sizes = vec![0; data.class_names().len()];
    let class = |row: &u32| data.labels.class_of(*row);
    for class in order.iter().filter_map(class) {
        sizes[class as usize] += 1;
    }
    order.sort_by_key(class);
    let is_alone = |row: &u32| class(row).is_some_and(|class| sizes[class as usize] == 1);
    order.into_iter().partition(|row| !is_alone(row))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Layout, Matrix};

    /// Rows of the given classes, in that order.
    fn data(classes: &[u32]) -> Dataset {
        let names = (0..=classes.iter().copied().max().unwrap_or(0)).map(|c| c.to_string());
        Dataset::new(
            "d",
            Matrix::new(classes.len(), 1, vec![0.0; classes.len()]).unwrap(),
            Layout::Columns(vec!["x".into()]),
            Labels::Classes {
                names: names.collect(),
                of_row: classes.iter().map(|&class| Some(class)).collect(),
            },
        )
        .unwrap()
    }

    fn all(data: &Dataset) -> Vec<u32> {
        (0..data.len() as u32).collect()
    }

    #[test]
    fn every_row_is_held_out_once_and_classes_are_spread() {
        let data = data(&[0; 20].iter().chain(&[1; 10]).copied().collect::<Vec<_>>());
        let folds = Folds::deal(&data, &all(&data), 5, 3, 0).unwrap();
        let mut seen = folds.held_out.concat();
        seen.sort_unstable();
        assert_eq!(seen, all(&data));
        for fold in &folds.held_out {
            let ones = fold.iter().filter(|&&row| row >= 20).count();
            assert_eq!((fold.len(), ones), (6, 2));
        }
        assert_ne!(folds, Folds::deal(&data, &all(&data), 5, 3, 1).unwrap());
        assert_eq!(folds, Folds::deal(&data, &all(&data), 5, 3, 0).unwrap());
    }

    #[test]
    fn rare_classes_never_leave_training_altogether() {
        let data = data(&[0, 0, 0, 0, 0, 0, 1, 1, 2]);
        let folds = Folds::deal(&data, &all(&data), 5, 0, 0).unwrap();
        assert_eq!(folds.kept, [8], "the only row of class 2");
        for fold in &folds.held_out {
            assert!(!(fold.contains(&6) && fold.contains(&7)), "{folds:?}");
        }
    }

    #[test]
    fn few_rows_make_few_folds() {
        let data = data(&[0, 0, 1, 1]);
        let folds = Folds::deal(&data, &[0, 1, 3], 5, 0, 0).unwrap();
        assert_eq!((folds.held_out.len(), folds.kept), (2, vec![3]));
        let message = Folds::deal(&data, &[0, 3], 5, 0, 0)
            .unwrap_err()
            .to_string();
        assert!(message.contains("at least two folds"), "{message}");
    }

    #[test]
    fn fewer_labels_are_nested_and_cover_the_classes() {
        let data = data(
            &[0; 30]
                .iter()
                .chain(&[1; 10])
                .chain(&[2])
                .copied()
                .collect::<Vec<_>>(),
        );
        let few = choose_labels(&data, &all(&data), 3, 7);
        let mut classes: Vec<_> = few.iter().map(|&row| data.labels.class_of(row)).collect();
        classes.sort_unstable();
        assert_eq!(classes, [Some(0), Some(1), Some(2)]);
        let more = choose_labels(&data, &all(&data), 20, 7);
        assert!(few.iter().all(|row| more.contains(row)));
        let ones = more.iter().filter(|&&row| (30..40).contains(&row)).count();
        assert!(
            (4..=6).contains(&ones),
            "{ones} of 20, where 5 are in proportion"
        );
        assert_eq!(choose_labels(&data, &all(&data), 99, 7), all(&data));
    }

    #[test]
    fn continuous_labels_are_dealt_and_chosen_too() {
        let mut data = data(&[0; 9]);
        data.labels = Labels::Values {
            names: vec!["y".into()],
            of_row: vec![Some(vec![1.0]); 9],
            offsets: Vec::new(),
        };
        let folds = Folds::deal(&data, &all(&data), 3, 0, 0).unwrap();
        assert!(folds.held_out.iter().all(|fold| fold.len() == 3));
        assert_eq!(choose_labels(&data, &all(&data), 4, 0).len(), 4);
    }
}
