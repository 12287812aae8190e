//! Mixup: convex combinations of two rows and of their classes (Zhang et al. 2018).
//!
//! Between two rows, the prediction then changes linearly from one's class to the other's. With few
//! rows and many columns it would otherwise be arbitrary there, which is where new rows are.

use super::{Examples, Prediction};
use crate::model::Vae;
use crate::noise::{Noise, NoisePurpose};
use burn::tensor::Tensor;

/// Mean cross-entropy of the predictions for mixed rows, with noise of standard deviation
/// `input_noise` on the encoder's input: `[1]`. For unlabelled rows, `pseudo_labels [unlabelled,
/// classes]` are used as classes.
pub(super) fn cost(
    model: &Vae,
    batch: &Examples,
    pseudo_labels: &Tensor<2>,
    input_noise: f64,
    noise: &Noise,
) -> Tensor<1> {
    let rows = batch.rows();
    let share = noise.uniform(NoisePurpose::Mixing, [rows, 1]);
    let classes = Tensor::cat(vec![batch.labels.clone(), pseudo_labels.clone()], 0);
    // Different noise from that of the unmixed rows.
    let noise = noise.draw(1);
    let (z, _) = model
        .encode_with_noise(mixed(batch.features.clone(), &share), input_noise, &noise)
        .sample_kl(noise.normal(NoisePurpose::Code, [rows, model.code()]));
    let prediction = Prediction::new(model.predict(z), batch.classes);
    prediction.loss(mixed(classes, &share)).mean()
}

/// Each of `rows [rows, columns]` mixed with the row at the opposite end, with weight `share [rows,
/// 1]` for itself. The rows of a batch are in random order, so this is a random partner.
fn mixed(rows: Tensor<2>, share: &Tensor<2>) -> Tensor<2> {
    let opposite = rows.clone().flip([0]);
    opposite.clone() + (rows - opposite) * share.clone()
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::{Device, TensorData};

    #[test]
    fn a_share_of_one_is_the_row_and_of_none_the_one_opposite() {
        let device = Device::default();
        let tensor = |values: Vec<f32>, shape: [usize; 2]| {
            Tensor::<2>::from_data(TensorData::new(values, shape), &device)
        };
        let rows = tensor(vec![1.0, 0.0, 0.2, 0.8, 0.0, 1.0], [3, 2]);
        let made = mixed(rows, &tensor(vec![1.0, 0.5, 0.25], [3, 1]));
        let values = made.into_data().try_to_vec::<f32>().expect("f32");
        assert_eq!(values, [1.0, 0.0, 0.2, 0.8, 0.75, 0.25]);
    }
}
