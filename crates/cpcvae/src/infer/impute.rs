//! Imputation of missing cells by decoding codes that explain a row's known cells.

use super::generative::Generative;
use super::{Inference, to_vec};
use crate::error::Result;
use crate::model::Vae;
use crate::noise::{Noise, NoisePurpose};
use burn::module::Module;
use burn::tensor::Tensor;
use cpcvae_data::Matrix;

/// Iterations of an imputation, unless another number is given.
pub const IMPUTE_ITERATIONS: usize = 30;
/// Proposals around the most probable code.
const CODES: usize = 30;
/// Initial step size of the search for it, in units of the prior; it decreases towards the end.
const STEP: f64 = 0.2;

/// The values of imputed cells.
///
/// ```
/// use cpcvae::prelude::*;
/// assert_ne!(Filling::Mean, Filling::Draw(0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filling {
    /// The model's mean given the known cells, which varies less than real cells do.
    Mean,
    /// One draw given the known cells: a code, then cells from p(x|z). The number distinguishes
    /// draws for the same row.
    Draw(usize),
}

impl Inference {
    /// Prepared features `[rows, features]` with every NaN imputed; other cells are returned bit by
    /// bit. Counts never exceed the largest of the training rows.
    ///
    /// For a VAE, the most probable code given the known cells is found in `iterations` steps, and
    /// rows decoded from codes around it are averaged (or drawn), weighted by how well they explain
    /// the known cells: the encoder's guesses for missing cells do not count. Models with a class
    /// among their latent variables alternate between encoding and decoding `iterations` times
    /// instead (pseudo-Gibbs, Rezende et al. 2014).
    pub fn impute(&self, features: &Matrix, filling: Filling, iterations: usize) -> Result<Matrix> {
        Ok(match self.generative()? {
            Generative::Vae(vae) if self.scores_known_cells() => {
                self.fill_by_code(vae, features, filling, iterations)
            }
            model => self.fill_in_turns(model, features, filling, iterations),
        })
    }

    /// Whether the likelihood can leave cells out; those of pixels cannot.
    fn scores_known_cells(&self) -> bool {
        self.shape.row.is_some() || self.shape.likelihood.is_for_tables()
    }

    fn fill_by_code(
        &self,
        vae: &Vae,
        features: &Matrix,
        filling: Filling,
        iterations: usize,
    ) -> Matrix {
        let mut made = Vec::with_capacity(features.values.len());
        self.for_chunks(features, |x, noise| {
            let noise = match filling {
                Filling::Mean => noise,
                Filling::Draw(draw) => noise.draw(draw * CODES),
            };
            let codes = self.codes_of_known(vae, x, iterations);
            made.extend(to_vec(codes.fill(vae, filling, &noise)));
        });
        let mut filled = features.clone();
        self.put(features, &made, &mut filled);
        filled
    }

    /// The codes that explain the known cells of `x [rows, features]`.
    fn codes_of_known(&self, vae: &Vae, x: Tensor<2>, iterations: usize) -> CodesOfKnown {
        let missing = x.clone().is_nan();
        // A model that supports missing cells encodes the row with its missing cells; for any other
        // they start at 0, the training mean of a standardised column.
        let first = match self.shape.row {
            Some(_) => x.clone(),
            None => x.clone().mask_fill(missing.clone(), 0.0),
        };
        let centre = most_probable_code(vae, vae.encode(first).mean(), x.clone(), iterations);
        let whole = x
            .clone()
            .mask_where(missing, vae.decode(centre.clone()).mean());
        CodesOfKnown {
            spread: vae.encode(whole).sigma(),
            centre,
            x,
        }
    }

    fn fill_in_turns(
        &self,
        model: Generative<'_>,
        features: &Matrix,
        filling: Filling,
        iterations: usize,
    ) -> Matrix {
        let mut filled = match self.shape.row {
            Some(_) => features.clone(),
            None => features.clone().with_missing_as(0.0),
        };
        for iteration in 0..iterations {
            let mut made = Vec::with_capacity(filled.values.len());
            self.for_chunks(&filled, |x, noise| {
                let posterior = model.posterior(x.clone());
                let [rows, code] = posterior.mean().dims();
                made.extend(to_vec(match filling {
                    Filling::Mean => model.decode(posterior.mean(), x).mean(),
                    Filling::Draw(draw) => {
                        let noise = noise.draw(draw * iterations + iteration + 1);
                        let z_noise = noise.normal(NoisePurpose::Evaluation, [rows, code]);
                        let (z, _) = posterior.sample_kl(z_noise);
                        model.decode(z, x).draw(&noise)
                    }
                }));
            });
            self.put(features, &made, &mut filled);
        }
        filled
    }

    /// Copies generated values to the cells that are missing in `features`.
    fn put(&self, features: &Matrix, made: &[f32], filled: &mut Matrix) {
        let most = match &self.shape.row {
            Some(row) => row.most(),
            None => vec![f32::INFINITY; features.columns],
        };
        for (place, cell) in filled.values.iter_mut().enumerate() {
            if features.values[place].is_nan() {
                *cell = made[place].min(most[place % most.len()]);
            }
        }
    }
}

/// The code z that maximises log p(known cells of x | z) + log p(z), by Adam from `z [rows, code]`.
fn most_probable_code(vae: &Vae, z: Tensor<2>, x: Tensor<2>, iterations: usize) -> Tensor<2> {
    // Only the code is optimised.
    let decoder = vae.clone().train().no_grad();
    let x = x.autodiff();
    let (mut z, mut mean, mut square) = (z.clone(), z.zeros_like(), z.zeros_like());
    for iteration in 0..iterations {
        let at = z.clone().autodiff().require_grad();
        let known = decoder.decode(at.clone()).log_prob_of_known(x.clone());
        let cost = at.clone().square().sum().mul_scalar(0.5) - known.sum();
        let Some(gradient) = at.grad(&cost.backward()) else {
            break; // a decoder without inputs: all codes are alike
        };
        mean = mean.mul_scalar(0.9) + gradient.clone().mul_scalar(0.1);
        square = square.mul_scalar(0.99) + gradient.square().mul_scalar(0.01);
        let unbiased = |moment: &Tensor<2>, rate: f64| {
            moment
                .clone()
                .div_scalar(1.0 - rate.powi(iteration as i32 + 1))
        };
        let step = STEP * (1.0 - iteration as f64 / iterations as f64);
        let direction = unbiased(&mean, 0.9) / unbiased(&square, 0.99).sqrt().add_scalar(1e-8);
        z = z - direction.mul_scalar(step);
    }
    z
}

/// Codes around the most probable one, for rows `x [rows, features]` with missing cells.
struct CodesOfKnown {
    /// `[rows, code]`
    centre: Tensor<2>,
    /// Standard deviations of the proposals, those of q(z|x) at the imputed row: `[rows, code]`.
    spread: Tensor<2>,
    x: Tensor<2>,
}

impl CodesOfKnown {
    /// Decoded rows `[rows, features]`: the mean over proposals with importance weights p(known
    /// cells|z) p(z) / proposal(z), or a draw at one proposal chosen by these weights.
    fn fill(&self, vae: &Vae, filling: Filling, noise: &Noise) -> Tensor<2> {
        let shape @ [rows, _] = self.centre.dims();
        let (mut weights, mut decoded) = (Vec::new(), Vec::new());
        for draw in 0..CODES {
            let noise = noise.draw(draw);
            let unit = noise.normal(NoisePurpose::Evaluation, shape);
            let z = self.centre.clone() + self.spread.clone() * unit.clone();
            let likelihood = vae.decode(z.clone());
            // Up to a constant that all proposals of a row have in common.
            let prior_over_proposal = (unit.square() - z.square()).sum_dim(1).mul_scalar(0.5);
            let known = likelihood.log_prob_of_known(self.x.clone());
            weights.push(known.reshape([rows, 1]) + prior_over_proposal);
            decoded.push(match filling {
                Filling::Mean => likelihood.mean(),
                Filling::Draw(_) => likelihood.draw(&noise),
            });
        }
        let weights: Tensor<2> = Tensor::cat(weights, 1);
        let shares = match filling {
            Filling::Mean => burn::tensor::activation::softmax(weights, 1),
            // The argmax of log-weights plus Gumbel noise is a draw by the weights.
            Filling::Draw(_) => {
                let uniform = noise.uniform(NoisePurpose::Levels, [rows, CODES]);
                let gumbel = uniform.clamp(1e-9, 1.0 - 1e-7).log().neg().log().neg();
                let noisy = weights + gumbel;
                let top = noisy.clone().max_dim(1);
                let is_top = noisy.equal(top.repeat_dim(1, CODES)).float();
                is_top.clone() / is_top.sum_dim(1)
            }
        };
        let share = |draw: usize| shares.clone().slice([0..rows, draw..draw + 1]);
        let parts = decoded.into_iter().enumerate();
        parts
            .map(|(draw, decoded)| decoded * share(draw))
            .reduce(|sum, part| sum + part)
            .expect("there is a draw")
    }
}
