//! Adam (Kingma and Ba 2015) as PyTorch computes it.

use crate::isa::Isa;
use crate::parallel;

/// The settings of one update.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamStep {
    /// Size of the step.
    pub learning_rate: f32,
    /// Decay of the running mean of the gradient.
    pub beta1: f32,
    /// Decay of the running mean of its square.
    pub beta2: f32,
    /// Added to the root of the second moment.
    pub epsilon: f32,
    /// Number of this update, from 1.
    pub step: u64,
}

/// Moves `param` against `grad` and updates the two moments; all slices have one length.
///
/// # Panics
/// If the lengths differ or `step.step` is 0.
pub fn update(
    step: &AdamStep,
    param: &mut [f32],
    grad: &[f32],
    first: &mut [f32],
    second: &mut [f32],
) {
    /// Elements in one piece of work.
    const PIECE: usize = 16 * 1024;
    let n = param.len();
    assert!(grad.len() == n && first.len() == n && second.len() == n);
    assert!(step.step > 0, "steps count from 1");
    let isa = Isa::current();
    let coefficients = Coefficients::new(step);
    let pieces = param.chunks_mut(PIECE).zip(grad.chunks(PIECE));
    let pieces = pieces
        .zip(first.chunks_mut(PIECE))
        .zip(second.chunks_mut(PIECE));
    parallel::timed_for_each("Adam", n, pieces, |(((param, grad), first), second)| {
        update_piece(isa, coefficients, param, grad, first, second);
    });
}

/// Precomputed coefficients of the loop, with the bias corrections in `f64`.
#[derive(Clone, Copy)]
struct Coefficients {
    gain1: f32,
    beta2: f32,
    gain2: f32,
    inverse_root_correction: f32,
    epsilon: f32,
    rate: f32,
}

impl Coefficients {
    fn new(step: &AdamStep) -> Self {
        let [beta1, beta2] = [step.beta1, step.beta2].map(f64::from);
        let exponent = step.step as f64;
        let correction1 = 1.0 - beta1.powf(exponent);
        let correction2 = 1.0 - beta2.powf(exponent);
        Self {
            gain1: (1.0 - beta1) as f32,
            beta2: step.beta2,
            gain2: (1.0 - beta2) as f32,
            inverse_root_correction: (1.0 / correction2.sqrt()) as f32,
            epsilon: step.epsilon,
            rate: (f64::from(step.learning_rate) / correction1) as f32,
        }
    }
}

kernel! {
    fn update_piece<FMA>(
        c: Coefficients, param: &mut [f32], grad: &[f32], first: &mut [f32], second: &mut [f32],
    ) {
        let moments = first.iter_mut().zip(second);
        for ((param, grad), (first, second)) in param.iter_mut().zip(grad).zip(moments) {
            let g = *grad;
            *first += c.gain1 * (g - *first);
            *second = c.beta2 * *second + c.gain2 * (g * g);
            *param -= c.rate * *first / (second.sqrt() * c.inverse_root_correction + c.epsilon);
        }
    }
}
