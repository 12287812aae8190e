//! Where the codes of training rows lie: a normal distribution for each class.
//!
//! Codes of the prior need not look like codes of rows: a model that was trained for minutes, or
//! that predicts first and describes second, leaves parts of the prior empty, and what is decoded
//! there is unlike any row. Samples are therefore drawn from where the codes lie, by a distribution
//! fitted after training (ex-post density estimation, Ghosh et al. 2020): the mixture over classes
//! of normal distributions with the mean and covariance of the aggregate posterior
//! `sum_n p(class | x_n) q(z | x_n)`.

use super::{Codes, Inference};
use crate::error::Result;
use crate::model::{Model, Target};
use crate::pseudo_label::cholesky::factor;
use cpcvae_data::{Matrix, Rows};

/// Rows that belong to a class with less than this probability are left out of it.
const HARDLY: f32 = 1e-3;
/// Added to variances, so that a code that never varies is no obstacle.
const LEAST_VARIANCE: f64 = 1e-6;

/// Normal distributions of the codes of each class, or of all rows where there are no classes.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedCodes {
    /// Dimensions of the code.
    pub code: usize,
    /// Share of the rows in each class, `[classes]`.
    pub shares: Vec<f32>,
    /// `[classes, code]`
    pub means: Vec<f32>,
    /// Lower triangles L with L L' the covariance, `[classes, code, code]`.
    pub factors: Vec<f32>,
}

impl FittedCodes {
    /// From the codes of rows and how much each row belongs to each class, `[rows, classes]`.
    ///
    /// The covariance of a class with few rows is drawn towards that within all classes, which
    /// counts as much as the code has dimensions. Nothing where codes are no numbers, or too large for
    /// their covariance to be computed, as after training that went astray.
    pub fn fit(codes: &Codes, belongs: &Matrix) -> Option<Self> {
        let (code, classes) = (codes.mean.columns, belongs.columns);
        let moments: Vec<Moments> = (0..classes)
            .map(|class| Moments::of(codes, |row| belongs.row(row)[class]))
            .collect();
        let all: f64 = moments.iter().map(|one| one.weight).sum();
        let mut within = vec![0.0; code * code];
        for one in &moments {
            add(&mut within, &one.scatter, 1.0 / all.max(1.0));
        }
        let mut fitted = Self {
            code,
            shares: Vec::new(),
            means: Vec::new(),
            factors: Vec::new(),
        };
        for one in &moments {
            let rows = one.weight + code as f64;
            let mut covariance = vec![0.0; code * code];
            add(&mut covariance, &one.scatter, 1.0 / rows);
            add(&mut covariance, &within, code as f64 / rows);
            (0..code).for_each(|i| covariance[i * code + i] += LEAST_VARIANCE);
            let lower = factor(covariance, code)?;
            fitted.shares.push((one.weight / all.max(1e-12)) as f32);
            fitted.means.extend(one.mean.iter().map(|m| *m as f32));
            fitted.factors.extend(lower.iter().map(|l| *l as f32));
        }
        Some(fitted)
    }

    /// Turns standard normal numbers `[code]` into a code of the class: mean + L e.
    pub fn place(&self, class: usize, normal: &mut [f32]) {
        let code = self.code;
        let mean = &self.means[class * code..][..code];
        let lower = &self.factors[class * code * code..][..code * code];
        // From the last on, so that the numbers still needed are not overwritten.
        for i in (0..code).rev() {
            let products = lower[i * code..=i * code + i].iter().zip(&normal[..=i]);
            normal[i] = mean[i] + products.map(|(l, e)| l * e).sum::<f32>();
        }
    }

    /// The class that a uniform number falls to, by the shares.
    pub fn class_at(&self, uniform: f32) -> usize {
        let mut so_far = 0.0;
        let past = |share: &f32| {
            so_far += share;
            so_far > uniform
        };
        let last = self.shares.len() - 1;
        self.shares.iter().position(past).unwrap_or(last)
    }
}

/// Weighted sums over the rows of a class.
struct Moments {
    weight: f64,
    mean: Vec<f64>,
    /// Sum over rows of what they are off the mean, times itself, and of their own variances;
    /// the lower triangle of `[code, code]`.
    scatter: Vec<f64>,
}

impl Moments {
    fn of(codes: &Codes, weight_of: impl Fn(usize) -> f32) -> Self {
        let code = codes.mean.columns;
        let rows: Vec<(usize, f64)> = (0..codes.mean.rows)
            .map(|row| (row, weight_of(row)))
            .filter(|(_, weight)| *weight >= HARDLY)
            .map(|(row, weight)| (row, f64::from(weight)))
            .collect();
        let weight: f64 = rows.iter().map(|(_, weight)| weight).sum();
        let mut mean = vec![0.0; code];
        for (row, share) in &rows {
            let values = codes.mean.row(*row).iter();
            let sums = mean.iter_mut().zip(values);
            sums.for_each(|(sum, value)| *sum += share / weight * f64::from(*value));
        }
        let mut scatter = vec![0.0; code * code];
        let mut off = vec![0.0; code];
        for (row, share) in &rows {
            let values = codes.mean.row(*row).iter().zip(&mean);
            let offs = off.iter_mut().zip(values);
            offs.for_each(|(off, (value, mean))| *off = f64::from(*value) - mean);
            for i in 0..code {
                let line = &mut scatter[i * code..=i * code + i];
                let scaled = share * off[i];
                line.iter_mut()
                    .zip(&off)
                    .for_each(|(s, o)| *s += scaled * o);
                scatter[i * code + i] += share * f64::from(codes.sigma.row(*row)[i]).powi(2);
            }
        }
        Self {
            weight,
            mean,
            scatter,
        }
    }
}

fn add(sum: &mut [f64], more: &[f64], times: f64) {
    sum.iter_mut().zip(more).for_each(|(s, m)| *s += times * m);
}

impl Inference {
    /// Where codes of these prepared rows lie. A row belongs to its class where that is known, and
    /// otherwise to each class as much as the model says. Nothing for models other than a VAE with
    /// the prior N(0, I).
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
        Ok(FittedCodes::fit(&self.encode(features)?, &belongs))
    }
}

#[cfg(test)]
mod tests {
    use super::super::draws::Draws;
    use super::*;

    fn matrix(columns: usize, values: Vec<f32>) -> Matrix {
        Matrix::new(values.len() / columns, columns, values).expect("whole rows")
    }

    /// A sum of uniforms is near enough to a normal number.
    fn normal(draws: &mut Draws) -> f32 {
        ((0..12).map(|_| draws.uniform()).sum::<f64>() - 6.0) as f32
    }

    /// Means, covariances and shares of two classes come back from what they were made of, and
    /// from codes drawn of the fit.
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
        let fitted = FittedCodes::fit(&codes, &matrix(2, belongs)).expect("fits");
        assert!((fitted.shares[0] - 0.25).abs() < 1e-6);
        assert_eq!((fitted.class_at(0.2), fitted.class_at(0.3)), (0, 1));
        assert_eq!(fitted.class_at(1.0), 1);
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

    /// One row, or none, has no covariance of its own.
    #[test]
    fn a_class_with_few_rows_has_the_covariance_within_classes() {
        let mean = matrix(2, vec![1.0, 1.0, 3.0, 1.0, 7.0, 9.0]);
        let sigma = matrix(2, vec![0.0; 6]);
        let belongs = matrix(
            3,
            [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]].concat(),
        );
        let fitted = FittedCodes::fit(&Codes { mean, sigma }, &belongs).expect("fits");
        let mut code = [0.0, 0.0];
        fitted.place(1, &mut code);
        assert_eq!(code, [7.0, 9.0]);
        // Within classes the first dimension has variance 2/3; of one row two parts in three.
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
        assert_eq!(FittedCodes::fit(&Codes { mean, sigma }, &belongs), None);
    }
}
