//! Counter-based random numbers: each draw is a function of (seed, step, purpose) alone, so that a
//! run gives the same numbers for any number of threads, on any device, and after a kill and
//! resume.

mod philox;

use crate::device::is_cpu;
use burn::tensor::{Device, Tensor, TensorData};
use cpcvae_kernels::random::{self, Stream};

/// The purpose of a draw. Two draws of the same step and purpose are the same numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum NoisePurpose {
    /// Initial weights.
    Weights = 1,
    /// The code z of q(z|x).
    Code = 2,
    /// The simulated features x-bar.
    Features = 3,
    /// The code z-bar of the simulated features.
    SimulatedCode = 4,
    /// Transform dimensions redrawn from the prior.
    Transform = 5,
    /// Binarisation of grey pixels.
    Binarise = 6,
    /// Codes of the prior.
    Prior = 7,
    /// Draws for evaluation and inference.
    Evaluation = 8,
    /// Flags, levels and counts of the simulated features.
    Levels = 9,
    /// The first direction of virtual adversarial training's power iteration.
    Direction = 10,
    /// The auxiliary variable a, and the code z1 that another model takes as its features.
    Auxiliary = 11,
    /// Noise on the encoder's input.
    Jitter = 12,
    /// Mixup coefficients.
    Mixing = 13,
}

/// A source of noise for one step of one run.
#[derive(Clone, Debug)]
pub struct Noise {
    seed: u64,
    step: u64,
    device: Device,
    same_rows: bool,
}

impl Noise {
    /// The noise of a step. Tensors are made on `device`.
    pub fn new(seed: u64, step: u64, device: &Device) -> Self {
        Self {
            seed,
            step,
            device: device.clone(),
            same_rows: false,
        }
    }

    /// The same noise for each row: the result for a row then does not depend on its position or on
    /// the rows beside it.
    pub(crate) fn same_for_all_rows(self) -> Self {
        Self {
            same_rows: true,
            ..self
        }
    }

    /// Independent noise for one of several draws at the same step.
    pub fn draw(&self, draw: usize) -> Self {
        // Steps stay below 2^40, so the bits above hold the number of the draw.
        Self {
            step: self.step + ((draw as u64) << 40),
            ..self.clone()
        }
    }

    /// Independent noise for one of the shards of a step's batch; the first has that of a batch in
    /// one piece.
    pub fn shard(&self, shard: usize) -> Self {
        // Draws stay below 2^16 in training.
        Self {
            step: self.step + ((shard as u64) << 56),
            ..self.clone()
        }
    }

    /// Standard normal numbers `[rows, columns]`.
    pub fn normal(&self, purpose: NoisePurpose, [rows, columns]: [usize; 2]) -> Tensor<2> {
        if self.same_rows && rows > 1 {
            return self.normal(purpose, [1, columns]).repeat_dim(0, rows);
        }
        let (stream, length) = (self.stream(purpose), rows * columns);
        if !is_cpu(&self.device) && length > 0 {
            return philox::normal(stream, length, &self.device).reshape([rows, columns]);
        }
        let mut values = vec![0.0; length];
        random::normal(stream, &mut values);
        Tensor::from_data(TensorData::new(values, [rows, columns]), &self.device)
    }

    /// Numbers `[rows, columns]`, uniform on [0, 1).
    pub fn uniform(&self, purpose: NoisePurpose, [rows, columns]: [usize; 2]) -> Tensor<2> {
        if self.same_rows && rows > 1 {
            return self.uniform(purpose, [1, columns]).repeat_dim(0, rows);
        }
        let (stream, length) = (self.stream(purpose), rows * columns);
        if !is_cpu(&self.device) && length > 0 {
            return philox::uniform(stream, length, &self.device).reshape([rows, columns]);
        }
        let mut values = vec![0.0; length];
        random::uniform(stream, &mut values);
        Tensor::from_data(TensorData::new(values, [rows, columns]), &self.device)
    }

    fn stream(&self, purpose: NoisePurpose) -> Stream {
        Stream {
            seed: self.seed,
            step: self.step,
            purpose: purpose as u32,
        }
    }
}
