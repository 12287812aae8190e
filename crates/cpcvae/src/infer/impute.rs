//! Missing cells filled in: a row goes to its code and back until the filled cells agree with
//! the model (pseudo-Gibbs, Rezende et al. 2014).

use super::{Inference, no_generative_part, to_vec};
use crate::error::Result;
use crate::model::Model;
use crate::noise::Purpose;
use cpcvae_data::Matrix;

/// What missing cells are filled with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filling {
    /// The model's mean given the observed cells: the code is the mean of q(z|x), and the
    /// decoder's mean fills the cells. Best guesses, which vary less than real cells do.
    Mean,
    /// One draw given the observed cells: the code is drawn from q(z|x) and the cells from
    /// p(x|z), every time. The number tells draws of the same row apart.
    Draw(usize),
}

impl Inference {
    /// Prepared features `[rows, features]` with every NaN filled in; other cells are returned
    /// bit by bit as they are.
    ///
    /// A model that knows of missing cells encodes the row with its gaps first; for any other they
    /// start at 0, the training mean of a standardised column. Then they are replaced `iterations`
    /// times. With draws the chain tends to the model's conditional distribution as far as q(z|x) is
    /// the true posterior; with means it tends to a fixed point near the conditional mean, which for
    /// conditionals of several modes need not be one of them. Counts never exceed the largest of the
    /// training rows.
    pub fn impute(&self, features: &Matrix, filling: Filling, iterations: usize) -> Result<Matrix> {
        if matches!(self.model, Model::Classifier(_)) {
            return Err(no_generative_part());
        }
        let mut filled = match self.shape().row {
            Some(_) => features.clone(),
            None => features.clone().with_missing_as(0.0),
        };
        let most = match &self.shape().row {
            Some(row) => row.most(),
            None => vec![f32::INFINITY; features.columns],
        };
        for iteration in 0..iterations {
            let mut made = Vec::with_capacity(filled.values.len());
            self.for_chunks(&filled, |x, noise| {
                let posterior = self.posterior(x.clone());
                let [rows, code] = posterior.mean().dims();
                made.extend(to_vec(match filling {
                    Filling::Mean => self.decode(posterior.mean(), x).mean(),
                    Filling::Draw(draw) => {
                        let noise = noise.draw(draw * iterations + iteration + 1);
                        let z_noise = noise.normal(Purpose::Evaluation, [rows, code]);
                        let (z, _) = posterior.sample_kl(z_noise);
                        self.decode(z, x).draw(&noise)
                    }
                }));
            });
            for (place, cell) in filled.values.iter_mut().enumerate() {
                if features.values[place].is_nan() {
                    *cell = made[place].min(most[place % most.len()]);
                }
            }
        }
        Ok(filled)
    }
}
