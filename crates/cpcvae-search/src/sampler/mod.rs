//! The choice of the next trial.

mod grid;
mod parzen;
mod tpe;
mod truncated;

pub(crate) use grid::grid_density;
pub use tpe::Tpe;

use super::{Space, Trial};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;

/// How the next trial is chosen. All samplers depend on the seed, the trial's number and, for TPE,
/// on the trials so far; on nothing else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sampler {
    /// At random.
    Random,
    /// Sobol' points with Owen's scrambling, which cover the space evenly.
    QuasiRandom,
    /// The tree-structured Parzen estimator of Bergstra et al. 2011 as in Optuna 5: where good
    /// trials are dense and others are not.
    #[default]
    Tpe,
}

/// The number of points of the Sobol' sequence.
const SOBOL_POINTS: u32 = 1 << 16;

impl Sampler {
    /// The parameters of the next trial. Those in `fixed` have the given values, if possible.
    pub fn propose(
        self,
        space: &Space,
        trials: &[Trial],
        seed: u64,
        fixed: &BTreeMap<String, f64>,
    ) -> BTreeMap<String, f64> {
        let number = trials.len() as u64;
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(number);
        let tpe = Tpe::default();
        let learns = self == Self::Tpe && tpe.has_enough(trials);
        // Drawn jointly, so that dependencies between parameters are modelled.
        let mut params = match learns {
            true => tpe.joint(space, trials, &mut random),
            false => BTreeMap::new(),
        };
        params.extend(fixed.clone());
        let mut active = BTreeMap::new();
        for (place, parameter) in space.parameters.iter().enumerate() {
            if !space.is_active(parameter, &active) {
                continue;
            }
            let known = params.get(&parameter.name).copied();
            let known = known.filter(|value| parameter.distribution.contains(*value));
            let value = match (known, self) {
                (Some(value), _) => value,
                (None, Self::Tpe) if learns => tpe.alone(parameter, trials, &mut random),
                (None, Self::QuasiRandom) => {
                    let index = (number as u32) % SOBOL_POINTS;
                    let share = sobol_burley::sample(index, place as u32, seed as u32);
                    parameter.distribution.at(f64::from(share))
                }
                (None, _) => parameter.distribution.at(random.random::<f64>()),
            };
            active.insert(parameter.name.clone(), value);
        }
        active
    }
}
