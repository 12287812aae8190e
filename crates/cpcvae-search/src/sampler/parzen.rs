//! The Parzen estimator of Optuna: a mixture with a kernel for each trial and one for the whole
//! space, each kernel a product over parameters.

use super::truncated::{log_density, log_mass, quantile};
use crate::{Distribution, Parameter};
use rand::{Rng, RngExt};

/// This many of the newest trials have the same weight; older ones have less.
const NEWEST: usize = 25;

/// Kernels of one parameter, in the order of the trials, with the prior's kernel last.
#[derive(Clone, Debug)]
enum Kernels {
    /// Truncated normals, of logarithms where `log`.
    Numbers {
        kernels: Vec<(f64, f64)>,
        low: f64,
        high: f64,
        log: bool,
        /// Half a step for whole numbers; 0 for others.
        half: f64,
    },
    /// Probabilities of choices.
    Choices(Vec<Vec<f64>>),
}

/// The mixture.
#[derive(Clone, Debug)]
pub(super) struct Parzen {
    weights: Vec<f64>,
    parameters: Vec<Kernels>,
}

impl Parzen {
    /// From the parameters of trials: `seen[trial][parameter]`, oldest first.
    pub(super) fn new(parameters: &[&Parameter], seen: &[Vec<f64>]) -> Self {
        let mut weights = weights(seen.len());
        weights.push(1.0);
        let total: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= total);
        let kernels = parameters.iter().enumerate().map(|(place, parameter)| {
            let values: Vec<f64> = seen.iter().map(|trial| trial[place]).collect();
            Kernels::new(&parameter.distribution, &values)
        });
        Self {
            weights,
            parameters: kernels.collect(),
        }
    }

    /// A draw.
    pub(super) fn draw(&self, random: &mut impl Rng) -> Vec<f64> {
        let chosen = choose(&self.weights, random.random());
        let parameters = self.parameters.iter();
        parameters
            .map(|kernels| kernels.draw(chosen, random.random()))
            .collect()
    }

    /// The logarithm of the density at a point.
    pub(super) fn log_density(&self, point: &[f64]) -> f64 {
        let logs = self.weights.iter().enumerate().map(|(kernel, weight)| {
            let parameters = self.parameters.iter().zip(point);
            let sum: f64 = parameters
                .map(|(kernels, value)| kernels.log_density(kernel, *value))
                .sum();
            weight.ln() + sum
        });
        let logs: Vec<f64> = logs.collect();
        let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        match most.is_finite() {
            true => most + logs.iter().map(|log| (log - most).exp()).sum::<f64>().ln(),
            false => most,
        }
    }
}

impl Kernels {
    fn new(distribution: &Distribution, seen: &[f64]) -> Self {
        match distribution {
            Distribution::Choice(choices) => Self::Choices(of_choices(choices.len(), seen)),
            Distribution::Float { low, high, log } => Self::numbers(*low, *high, *log, 0.0, seen),
            Distribution::Int { low, high, log } => {
                Self::numbers(*low as f64, *high as f64, *log, 0.5, seen)
            }
        }
    }

    fn numbers(low: f64, high: f64, log: bool, half: f64, seen: &[f64]) -> Self {
        let inner = |value: f64| if log { value.ln() } else { value };
        let (low, high) = (inner(low - half), inner(high + half));
        let means: Vec<f64> = seen.iter().map(|value| inner(*value)).collect();
        let mut kernels = with_deviations(&means, low, high);
        kernels.push(((low + high) / 2.0, high - low));
        Self::Numbers {
            kernels,
            low,
            high,
            log,
            half,
        }
    }

    fn draw(&self, kernel: usize, u: f64) -> f64 {
        match self {
            Self::Choices(kernels) => choose(&kernels[kernel], u) as f64,
            Self::Numbers {
                kernels,
                low,
                high,
                log,
                half,
            } => {
                let (mean, deviation) = kernels[kernel];
                let inner = quantile(u, mean, deviation, *low, *high);
                let outer = |inner: f64| if *log { inner.exp() } else { inner };
                // Clamped again, against rounding of logarithms.
                let (from, to) = (outer(*low) + half, outer(*high) - half);
                match *half > 0.0 {
                    true => outer(inner).round().clamp(from.round(), to.round()),
                    false => outer(inner).clamp(from, to),
                }
            }
        }
    }

    fn log_density(&self, kernel: usize, value: f64) -> f64 {
        match self {
            Self::Choices(kernels) => kernels[kernel][value as usize].ln(),
            Self::Numbers {
                kernels,
                low,
                high,
                log,
                half,
            } => {
                let (mean, deviation) = kernels[kernel];
                let inner = |value: f64| if *log { value.ln() } else { value };
                if *half == 0.0 {
                    return log_density(inner(value), mean, deviation, *low, *high);
                }
                let place = |value: f64| (inner(value) - mean) / deviation;
                log_mass(place(value - half), place(value + half))
                    - log_mass((low - mean) / deviation, (high - mean) / deviation)
            }
        }
    }
}

/// The newest have weight 1, older ones less, the oldest 1 / count.
fn weights(count: usize) -> Vec<f64> {
    let older = count.saturating_sub(NEWEST);
    let first = 1.0 / count.max(1) as f64;
    let ramp = (0..older).map(|place| match older {
        1 => first,
        _ => first + (1.0 - first) * place as f64 / (older - 1) as f64,
    });
    ramp.chain(std::iter::repeat_n(1.0, count - older))
        .collect()
}

/// The width of each is the larger distance to a neighbour, within bounds.
fn with_deviations(means: &[f64], low: f64, high: f64) -> Vec<(f64, f64)> {
    let mut order: Vec<usize> = (0..means.len()).collect();
    order.sort_by(|a, b| means[*a].total_cmp(&means[*b]));
    let widest = high - low;
    let narrowest = widest / (means.len() as f64 + 2.0).min(100.0);
    let mut kernels: Vec<(f64, f64)> = means.iter().map(|mean| (*mean, 0.0)).collect();
    let last = means.len().saturating_sub(1);
    for (rank, place) in order.iter().enumerate() {
        let own = means[*place];
        let left = rank.checked_sub(1).map(|left| own - means[order[left]]);
        let right = order.get(rank + 1).map(|right| means[*right] - own);
        let deviation = match (left, right) {
            // With two or more, the ends of the space are not neighbours.
            (Some(left), None) if last > 0 => left,
            (None, Some(right)) if last > 0 => right,
            (left, right) => left.unwrap_or(own - low).max(right.unwrap_or(high - own)),
        };
        kernels[*place].1 = deviation.clamp(narrowest, widest);
    }
    kernels
}

fn of_choices(choices: usize, seen: &[f64]) -> Vec<Vec<f64>> {
    if seen.is_empty() {
        return vec![vec![1.0 / choices as f64; choices]];
    }
    let prior = 1.0 / (seen.len() + 1) as f64;
    let total = 1.0 + prior * choices as f64;
    let of = |value: &f64| {
        let mut kernel = vec![prior / total; choices];
        kernel[*value as usize] += 1.0 / total;
        kernel
    };
    let mut kernels: Vec<Vec<f64>> = seen.iter().map(of).collect();
    kernels.push(vec![1.0 / choices as f64; choices]);
    kernels
}

/// The index at which the cumulated weight exceeds `u`.
fn choose(weights: &[f64], u: f64) -> usize {
    let mut sum = 0.0;
    let place = weights.iter().position(|weight| {
        sum += weight;
        u < sum
    });
    place.unwrap_or(weights.len() - 1)
}
