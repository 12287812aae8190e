//! A mixture of normal distributions for each class, fitted to the codes of training rows.
//!
//! Codes drawn from the prior need not look like codes of rows: a model that was trained for
//! minutes, or mainly to predict, leaves parts of the prior empty, and codes there are decoded to
//! rows unlike any real one. Samples are therefore drawn from a distribution that is fitted after
//! training (ex-post density estimation, Ghosh et al. 2020) to the aggregate posterior `sum_n
//! p(class | x_n) q(z | x_n)` of each class.

use super::mixture::{Member, Moments, fit, pooled};
use super::{Codes, Inference};
use crate::error::Result;
use crate::model::{Model, Target};
use cpcvae_data::{Matrix, Rows};
use rayon::prelude::*;

/// Rows with less than this probability of a class are left out of its mixture.
const SMALLEST_WEIGHT: f32 = 1e-3;

/// Mixtures of the codes of each class, or of all rows where there are no classes.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedCodes {
    /// Dimensions of the code.
    pub code: usize,
    /// The number of components of each class, `[classes]`; components are ordered by class.
    pub components: Vec<usize>,
    /// Share of all rows in each component, `[components]`.
    pub shares: Vec<f32>,
    /// `[components, code]`
    pub means: Vec<f32>,
    /// Lower triangles L with L L' the covariance, `[components, code, code]`.
    pub factors: Vec<f32>,
}

impl FittedCodes {
    /// Fits it to the codes of rows and their class probabilities, `[rows, classes]`.
    ///
    /// The number of components is chosen on held-out rows, which depend on the `seed`; a class
    /// with few rows has one. The covariance of a class is shrunk towards that within all classes,
    /// which counts as many rows as the code has dimensions. `None` if codes are not finite, or too
    /// large for a covariance, as after diverged training.
    pub fn fit(codes: &Codes, belongs: &Matrix, seed: u64) -> Option<Self> {
        let (code, classes) = (codes.mean.columns, belongs.columns);
        let members_of = |class: usize| -> Vec<Member> {
            let weights = (0..codes.mean.rows).map(|row| (row, belongs.row(row)[class]));
            let near = weights.filter(|(_, weight)| *weight >= SMALLEST_WEIGHT);
            near.map(|(row, weight)| (row, f64::from(weight))).collect()
        };
        let members: Vec<Vec<Member>> = (0..classes).map(members_of).collect();
        let of_members = |members: &Vec<Member>| Moments::of(codes, members.iter().copied());
        let moments: Vec<Moments> = members.iter().map(of_members).collect();
        let within = pooled(&moments, code);
        let mixtures: Option<Vec<_>> = members
            .par_iter()
            .map(|members| fit(codes, members, &within, seed))
            .collect();
        let all: f64 = moments.iter().map(|one| one.weight).sum();
        let mut fitted = Self {
            code,
            components: Vec::new(),
            shares: Vec::new(),
            means: Vec::new(),
            factors: Vec::new(),
        };
        for (mixture, of_class) in mixtures?.iter().zip(&moments) {
            fitted.components.push(mixture.len());
            let class_share = of_class.weight / all.max(1e-12);
            for one in mixture {
                fitted.shares.push((one.share * class_share) as f32);
                fitted.means.extend(one.mean.iter().map(|m| *m as f32));
                fitted.factors.extend(one.lower.iter().map(|l| *l as f32));
            }
        }
        Some(fitted)
    }

    /// Transforms standard normal numbers `[code]` to a code of a component: mean + L e.
    pub fn place(&self, component: usize, normal: &mut [f32]) {
        let code = self.code;
        let mean = &self.means[component * code..][..code];
        let lower = &self.factors[component * code * code..][..code * code];
        // Backwards, so that numbers still needed are not overwritten.
        for i in (0..code).rev() {
            let products = lower[i * code..=i * code + i].iter().zip(&normal[..=i]);
            normal[i] = mean[i] + products.map(|(l, e)| l * e).sum::<f32>();
        }
    }

    /// The component of a uniform number, by the shares: of the class, or of any.
    pub(crate) fn component_at(&self, class: Option<usize>, uniform: f32) -> usize {
        let range = match class {
            Some(class) => {
                let before = self.components[..class].iter().sum();
                before..before + self.components[class]
            }
            None => 0..self.shares.len(),
        };
        let shares = &self.shares[range.clone()];
        let mut left = uniform * shares.iter().sum::<f32>();
        let past = |share: &f32| {
            left -= share;
            left < 0.0
        };
        let place = shares.iter().position(past);
        range.start + place.unwrap_or(shares.len() - 1)
    }
}

impl Inference {
    /// Fits it to the codes of these prepared rows. A row belongs to its class if that is known,
    /// and otherwise to each class by its predicted probability. `None` for models other than a VAE
    /// with the prior N(0, I).
    pub fn fit_codes(
        &self,
        features: &dyn Rows,
        known: &[Option<u32>],
    ) -> Result<Option<FittedCodes>> {
        if !matches!(self.model, Model::Vae(_)) || features.rows() == 0 {
            return Ok(None);
        }
        let belongs = match self.shape.target {
            Target::Classes(_) => {
                let mut belongs = self.predict(features, 0)?;
                let rows = belongs.values.chunks_exact_mut(belongs.columns);
                for (row, known) in rows.zip(known) {
                    if let Some(class) = known {
                        row.fill(0.0);
                        row[*class as usize] = 1.0;
                    }
                }
                belongs
            }
            _ => Matrix::new(features.rows(), 1, vec![1.0; features.rows()])?,
        };
        Ok(FittedCodes::fit(
            &self.encode(features)?,
            &belongs,
            self.seed,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::super::draws::Draws;
    use super::*;

    fn matrix(columns: usize, values: Vec<f32>) -> Matrix {
        Matrix::new(values.len() / columns, columns, values).expect("whole rows")
    }

    /// A sum of uniforms is close enough to a normal number.
    fn normal(draws: &mut Draws) -> f32 {
        ((0..12).map(|_| draws.uniform()).sum::<f64>() - 6.0) as f32
    }

    /// Means, covariances and shares of two classes are recovered from data drawn from them, and
    /// from codes drawn from the fit.
    #[test]
    fn what_codes_were_made_of_is_found_and_drawn() {
        let mut draws = Draws::new(3);
        let (mut means, mut belongs) = (Vec::new(), Vec::new());
        let rows = 20_000;
        for row in 0..rows {
            let (a, b) = (normal(&mut draws), normal(&mut draws));
            // Covariance [4, 1.2; 1.2, 0.36 + 0.64] in the first class, a quarter of the rows.
            if row % 4 == 0 {
                means.extend([5.0 + 2.0 * a, -1.0 + 0.6 * a + 0.8 * b]);
                belongs.extend([1.0, 0.0]);
            } else {
                means.extend([a, b]);
                belongs.extend([0.0, 1.0]);
            }
        }
        let sigma = [0.5, 0.1].repeat(rows);
        let codes = Codes {
            mean: matrix(2, means),
            sigma: matrix(2, sigma),
        };
        let fitted = FittedCodes::fit(&codes, &matrix(2, belongs), 0).expect("fits");
        assert!((fitted.shares[0] - 0.25).abs() < 1e-6);
        assert_eq!(fitted.components, [1, 1], "normal codes need one component");
        let any = |uniform| fitted.component_at(None, uniform);
        assert_eq!((any(0.2), any(0.3), any(1.0)), (0, 1, 1));
        let of_second = |uniform| fitted.component_at(Some(1), uniform);
        assert_eq!((of_second(0.0), of_second(1.0)), (1, 1));
        let drawn: Vec<[f32; 2]> = (0..rows)
            .map(|_| {
                let mut code = [normal(&mut draws), normal(&mut draws)];
                fitted.place(0, &mut code);
                code
            })
            .collect();
        let mean = |f: &dyn Fn(&[f32; 2]) -> f32| drawn.iter().map(f).sum::<f32>() / rows as f32;
        let near = |found: f32, expected: f32| {
            assert!((found - expected).abs() < 0.1, "{found}, not {expected}");
        };
        near(mean(&|z| z[0]), 5.0);
        near(mean(&|z| z[1]), -1.0);
        near(mean(&|z| (z[0] - 5.0).powi(2)), 4.0 + 0.25);
        near(mean(&|z| (z[1] + 1.0).powi(2)), 1.0 + 0.01);
        near(mean(&|z| (z[0] - 5.0) * (z[1] + 1.0)), 1.2);
    }

    /// A single row has no covariance of its own.
    #[test]
    fn a_class_with_few_rows_has_the_covariance_within_classes() {
        let mean = matrix(2, vec![1.0, 1.0, 3.0, 1.0, 7.0, 9.0]);
        let sigma = matrix(2, vec![0.0; 6]);
        let belongs = matrix(
            3,
            [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]].concat(),
        );
        let fitted = FittedCodes::fit(&Codes { mean, sigma }, &belongs, 0).expect("fits");
        let mut code = [0.0, 0.0];
        fitted.place(1, &mut code);
        assert_eq!(code, [7.0, 9.0]);
        // Within classes the first dimension has variance 2/3; for one row it is weighted by two
        // thirds.
        let spread = fitted.factors[4];
        assert!(
            (spread - (2.0f32 / 3.0 * 2.0 / 3.0).sqrt()).abs() < 1e-4,
            "{spread}"
        );
        let mut code = [1.0, 1.0];
        fitted.place(2, &mut code);
        assert!(code.iter().all(|z| z.is_finite()), "no rows: {code:?}");
        assert_eq!(fitted.shares[2], 0.0);
    }

    #[test]
    fn codes_that_are_no_numbers_have_no_fit() {
        let mean = matrix(2, vec![1.0, f32::NAN, 3.0, 1.0]);
        let sigma = matrix(2, vec![1.0; 4]);
        let belongs = matrix(1, vec![1.0; 2]);
        assert_eq!(FittedCodes::fit(&Codes { mean, sigma }, &belongs, 0), None);
    }
}
