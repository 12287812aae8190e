//! Random numbers, made on purpose: each draw is a function of (seed, step, purpose) alone, so
//! that a run gives the same numbers for any number of threads, on any device, and after a kill and
//! resume.

mod philox;

use crate::device::is_cpu;
use burn::tensor::{Device, Tensor, TensorData};
use cpcvae_kernels::random::{self, Stream};

/// What a draw is for. Two draws of the same step and purpose are the same numbers.
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
    /// Transform dimensions drawn afresh from the prior.
    Transform = 5,
    /// Pixels turned into black and white.
    Binarise = 6,
    /// Codes of the prior.
    Prior = 7,
    /// Draws for evaluation and inference.
    Evaluation = 8,
    /// Flags, levels and counts of the simulated features.
    Levels = 9,
    /// The first direction of a search for the worst change.
    Direction = 10,
    /// The auxiliary variable a, and the code z1 that another model takes as its features.
    Auxiliary = 11,
    /// Noise on what the encoder sees.
    Jitter = 12,
    /// Shares of two rows that are mixed.
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

    /// The same noise for each row: what is found for a row does then not depend on its place, nor
    /// on the rows beside it.
    pub fn same_for_all_rows(self) -> Self {
        Self {
            same_rows: true,
            ..self
        }
    }

    /// Independent noise for one of several draws at the same step.
    pub fn draw(&self, draw: usize) -> Self {
        // Steps stay below 2^40, so draws number the bits above.
        Self {
            step: self.step + ((draw as u64) << 40),
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
