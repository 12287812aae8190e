//! Mixup: rows mixed of two, with their classes mixed alike (Zhang et al. 2018).
//!
//! Between rows the predictor then changes evenly from one's class to the other's. Where rows are
//! few and columns many it could otherwise say anything there, which is where new rows lie.

use super::{Examples, Prediction};
use crate::model::Vae;
use crate::noise::{Noise, NoisePurpose};
use burn::tensor::Tensor;

/// Mean cross-entropy of the predictions for mixed rows, with noise of standard deviation
/// `input_noise` on what the encoder sees of them: `[1]`. The pseudo-labels
/// `pseudo_labels [unlabelled, classes]` stand for the classes of rows without a label.
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
    // Not the noise of the rows themselves.
    let noise = noise.draw(1);
    let (z, _) = model
        .encode_through(mixed(batch.features.clone(), &share), input_noise, &noise)
        .sample_kl(noise.normal(NoisePurpose::Code, [rows, model.code()]));
    let prediction = Prediction::new(model.predict(z), batch.classes);
    prediction.loss(mixed(classes, &share)).mean()
}

/// Each of `rows [rows, columns]` mixed with the one opposite, of which it has `share [rows, 1]`
/// itself. Rows of a batch are drawn at random, so that the one opposite is as good as any.
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
