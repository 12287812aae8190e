//! Batch normalisation: which statistics normalise which rows.
//!
//! - **In training** (on a device with autodiff) a batch is normalised by its own mean and
//!   variance. Labelled and unlabelled rows go through a network together and share statistics;
//!   simulated features x-bar, and adversarially perturbed rows, go through separately and have
//!   their own.
//! - **Otherwise** rows are normalised by running averages, so that the output for a row does not
//!   depend on the rows beside it.
//! - **Running averages** are updated with the first pass of each step, which is the one of real
//!   rows. Later passes of the step are ignored: early in training, x-bar does not look like real
//!   rows.

use crate::op::Compute;
use crate::op::batch_norm::{normalise, statistics};
use crate::op::residual::BlockHalf;
use burn::module::{Module, Param, ParamId};
use burn::tensor::{Tensor, TensorData};
use std::sync::{Arc, Mutex};

/// The weight of a new batch in the running averages, once there are enough of them: until then all
/// batches have the same weight, so that the initial averages do not count.
const NEW_BATCH: f32 = 0.05;

/// Slope below zero of the rectifier in the wide residual networks of Oliver et al. (2018).
pub const LEAK: f32 = 0.1;

/// `leaky(scale (x - mean) / sd + shift)`, channels last.
#[derive(Module, Debug)]
pub struct BatchNorm {
    /// `[channels]`
    scale: Param<Tensor<1>>,
    /// `[channels]`
    shift: Param<Tensor<1>>,
    /// Running mean and variance, `[2, channels]`, and how many batches went into them, `[1]`. They
    /// have no gradient, but are saved with the parameters.
    running: Param<Tensor<2>>,
    batches: Param<Tensor<1>>,
    #[module(skip)]
    leak: f32,
    #[module(skip)]
    noted: Noted,
    #[module(skip)]
    compute: Compute,
}

/// The statistics of the first batch since the averages were last updated.
type Noted = Arc<Mutex<Option<Tensor<2>>>>;

impl BatchNorm {
    /// Scale 1, shift 0; `leak` is the rectifier's slope below zero.
    pub fn new(channels: usize, leak: f32, compute: &Compute) -> Self {
        let device = compute.device();
        let plain = device.clone().without_autodiff();
        let unit = [vec![0.0; channels], vec![1.0; channels]].concat();
        let running = Tensor::from_data(TensorData::new(unit, [2, channels]), &plain);
        Self {
            scale: Param::from_tensor(Tensor::ones([channels], device)),
            shift: Param::from_tensor(Tensor::zeros([channels], device)),
            running: Param::initialized(ParamId::new(), running),
            batches: Param::initialized(ParamId::new(), Tensor::zeros([1], &plain)),
            leak,
            noted: Noted::default(),
            compute: compute.clone(),
        }
    }

    /// `x [rows, height, width, channels]` to the same shape.
    pub fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        let training = x.is_autodiff();
        let used = if training {
            let of_batch = statistics(x.clone());
            self.note(of_batch.clone());
            of_batch
        } else {
            self.running.val()
        };
        let (scale, shift) = (self.scale.val(), self.shift.val());
        normalise(&self.compute, x, used, training, scale, shift, self.leak)
    }

    /// The normalisation and the convolution after it, for a block that is one operation.
    pub(super) fn before(&self, weight: Tensor<4>) -> BlockHalf {
        BlockHalf {
            scale: self.scale.val(),
            shift: self.shift.val(),
            weight,
        }
    }

    /// Stores the statistics `[2, channels]` of the step's first batch.
    pub(super) fn note(&self, of_batch: Tensor<2>) {
        self.lock().get_or_insert(of_batch);
    }

    /// `x [rows, channels]` to the same shape.
    pub(crate) fn forward_rows(&self, x: Tensor<2>) -> Tensor<2> {
        let [rows, channels] = x.dims();
        let y = self.forward(x.reshape([rows, 1, 1, channels]));
        y.reshape([rows, channels])
    }

    /// Updates the running averages with the step's first batch.
    pub fn update_running_statistics(&mut self) {
        let Some(new) = self.lock().take() else {
            return;
        };
        let batches = self.batches.val().into_scalar::<f32>() + 1.0;
        let weight = (1.0 / batches).max(NEW_BATCH);
        let renew = |running: Tensor<2>| running.clone() + (new - running).mul_scalar(weight);
        self.running = self.running.clone().map(renew);
        self.batches = self.batches.clone().map(|count| count.add_scalar(1.0));
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Tensor<2>>> {
        self.noted
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::Precision;
    use burn::tensor::Device;

    fn image(values: [f32; 4], device: &Device) -> Tensor<4> {
        Tensor::from_data(TensorData::new(values.to_vec(), [4, 1, 1, 1]), device)
    }

    fn running(norm: &BatchNorm) -> Vec<f32> {
        let values = norm.running.val().into_data();
        values.try_into_vec().expect("f32")
    }

    #[test]
    fn the_first_batch_of_a_step_enters_the_averages() {
        let device = Device::flex().autodiff();
        let mut norm = BatchNorm::new(1, LEAK, &Compute::new(&device, Precision::F32));
        // Mean 2.5 and variance 1.25; later passes of the same step are ignored.
        norm.forward(image([1.0, 2.0, 3.0, 4.0], &device));
        norm.forward(image([100.0, 0.0, 0.0, 0.0], &device));
        norm.update_running_statistics();
        assert_eq!(running(&norm), [2.5, 1.25]);
        // Without a new batch, nothing changes.
        norm.update_running_statistics();
        assert_eq!(running(&norm), [2.5, 1.25]);
        // The second batch has the same weight as the first: mean 0.5, variance 0.25.
        norm.forward(image([0.0, 1.0, 0.0, 1.0], &device));
        norm.update_running_statistics();
        assert_eq!(running(&norm), [1.5, 0.75]);
    }

    #[test]
    fn answers_depend_on_the_averages_and_not_on_the_batch() {
        let device = Device::flex().autodiff();
        let mut norm = BatchNorm::new(1, LEAK, &Compute::new(&device, Precision::F32));
        norm.forward(image([1.0, 2.0, 3.0, 4.0], &device));
        norm.update_running_statistics();
        let plain = Device::flex();
        let frozen = norm.valid();
        let first = |values: [f32; 4]| {
            let y = frozen.forward(image(values, &plain)).into_data();
            y.try_into_vec::<f32>().expect("f32")[0]
        };
        let answer = first([4.0, 0.0, 0.0, 0.0]);
        assert_eq!(answer, first([4.0, 50.0, -7.0, 1.0]));
        assert!((answer - 1.5 / (1.25f32 + 1e-5).sqrt()).abs() < 1e-5);
        // Inference does not update the averages.
        norm.update_running_statistics();
        assert_eq!(running(&norm), [2.5, 1.25]);
    }
}
