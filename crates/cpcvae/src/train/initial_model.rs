//! The initial model of a training.

use super::{TrainPlan, TrainingData};
use crate::evenly::evenly;
use crate::model::Model;
use crate::op::Compute;
use serde::{Deserialize, Serialize};

/// The initial output of the decoder of images.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DecoderStart {
    /// The mean and standard deviation of each pixel over the training rows.
    #[default]
    Data,
    /// Raw outputs around zero: every pixel is grey.
    Zero,
}

/// Rows for estimating the mean and standard deviation of each pixel: more would change little.
const ROWS: usize = 5000;

/// A fresh model. The decoder of images is initialised with the mean and spread of each pixel.
pub(super) fn fresh(plan: &TrainPlan, data: &TrainingData, compute: &Compute) -> Model {
    let model = Model::new(&plan.shape, plan.seed, compute);
    if plan.shape.image.is_none() || plan.decoder_start == DecoderStart::Zero {
        return model;
    }
    let split = &data.split;
    let all = [split.unlabelled.as_slice(), &split.labelled].concat();
    let rows = data.rows.features.gather(&evenly(&all, ROWS));
    let (mut sum, mut squares) = (vec![0.0; rows.columns], vec![0.0; rows.columns]);
    for row in rows.values.chunks_exact(rows.columns.max(1)) {
        for ((value, sum), squares) in row.iter().zip(&mut sum).zip(&mut squares) {
            let value = f64::from(*value);
            *sum += value;
            *squares += value * value;
        }
    }
    let count = rows.rows.max(1) as f64;
    let mean: Vec<f32> = sum.iter().map(|sum| (sum / count) as f32).collect();
    let deviation = |(sum, squares): (&f64, &f64)| {
        let mean = sum / count;
        (squares / count - mean * mean).max(0.0).sqrt() as f32
    };
    let deviation: Vec<f32> = sum.iter().zip(&squares).map(deviation).collect();
    model.start_from(&mean, &deviation)
}
