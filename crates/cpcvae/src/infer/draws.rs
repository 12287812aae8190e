//! Random numbers for the tests of statistics.

use cpcvae_kernels::random::{Stream, uniform};

/// A seeded sequence of numbers.
pub struct Draws {
    seed: u64,
    step: u64,
}

impl Draws {
    /// The sequence of a seed.
    pub fn new(seed: u64) -> Self {
        Self { seed, step: 0 }
    }

    /// Uniform on [0, 1).
    pub fn uniform(&mut self) -> f64 {
        let mut value = [0.0];
        let stream = Stream {
            seed: self.seed,
            step: self.step,
            purpose: 99,
        };
        uniform(stream, &mut value);
        self.step += 1;
        f64::from(value[0])
    }

    /// A category with these probabilities.
    pub fn category(&mut self, probabilities: &[f64]) -> usize {
        let mut left = self.uniform();
        for (category, probability) in probabilities.iter().enumerate() {
            left -= probability;
            if left < 0.0 {
                return category;
            }
        }
        probabilities.len() - 1
    }
}
