//! Forests for continuous labels.

use super::{Continuous, Regressor};
use crate::pseudo_label::trees::{Growth, Known, Splits, Targets, Trees};

/// A split of a random forest considers one in this many columns.
const SHARE_OF_COLUMNS: usize = 3;

/// Labels `[labels, outputs]`.
#[derive(Clone, Copy)]
struct Values<'a> {
    values: &'a [f32],
    outputs: usize,
}

impl<'a> Values<'a> {
    fn of(&self, label: usize) -> &'a [f32] {
        &self.values[label * self.outputs..][..self.outputs]
    }
}

impl Targets for Values<'_> {
    fn outputs(&self) -> usize {
        self.outputs
    }

    fn is_same(&self, a: usize, b: usize) -> bool {
        self.of(a) == self.of(b)
    }

    fn add(&self, label: usize, sums: &mut [f64]) -> f64 {
        let change = |(sum, value): (&mut f64, &f32)| {
            let before = *sum;
            *sum += f64::from(*value);
            *sum * *sum - before * before
        };
        sums.iter_mut().zip(self.of(label)).map(change).sum()
    }

    fn take(&self, label: usize, sums: &mut [f64]) -> f64 {
        let change = |(sum, value): (&mut f64, &f32)| {
            let before = *sum;
            *sum -= f64::from(*value);
            before * before - *sum * *sum
        };
        sums.iter_mut().zip(self.of(label)).map(change).sum()
    }

    fn add_share(&self, label: usize, share: f32, leaf: &mut [f32]) {
        let values = leaf.iter_mut().zip(self.of(label));
        values.for_each(|(sum, value)| *sum += share * value);
    }
}

fn grow(data: Continuous<'_>, used: &[usize], growth: Growth) -> Trees {
    let rows: Vec<u32> = (0..data.labels() as u32).collect();
    let known = Known {
        features: data.features,
        columns: data.columns,
        rows: &rows,
        targets: Values {
            values: data.values,
            outputs: data.outputs,
        },
    };
    Trees::grow(known, used, growth)
}

/// Extremely randomised trees; splits consider all columns.
#[derive(Clone, Debug)]
pub(super) struct ExtraTrees(pub(super) Trees);

impl Regressor for ExtraTrees {
    fn fit(data: Continuous<'_>, used: &[usize]) -> Self {
        let growth = Growth {
            splits: Splits::Random,
            asked: data.columns,
        };
        Self(grow(data, used, growth))
    }

    fn predict_row(&self, row: &[f32]) -> Vec<f32> {
        self.0.mean(row)
    }
}

/// A random forest; splits consider a third of the columns.
#[derive(Clone, Debug)]
pub(super) struct RandomForest(pub(super) Trees);

impl Regressor for RandomForest {
    fn fit(data: Continuous<'_>, used: &[usize]) -> Self {
        let growth = Growth {
            splits: Splits::Best,
            asked: data.columns.div_ceil(SHARE_OF_COLUMNS),
        };
        Self(grow(data, used, growth))
    }

    fn predict_row(&self, row: &[f32]) -> Vec<f32> {
        self.0.mean(row)
    }
}
