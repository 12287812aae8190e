//! The Fréchet distance between two sets of rows: the squared distance of two normal
//! distributions with their means and covariances (Dowson and Landau 1982; Heusel et al. 2017 for
//! samples of a generator).

use cpcvae_data::Matrix;

/// Mean and covariance of rows.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Moments {
    mean: Vec<f64>,
    /// `[n, n]`
    covariance: Vec<f64>,
}

impl Moments {
    /// Moments of weighted rows. `None` for fewer than two rows.
    pub(super) fn of(rows: &Matrix, weights: &[f64]) -> Option<Self> {
        let n = rows.columns;
        let total: f64 = weights.iter().sum();
        let squares: f64 = weights.iter().map(|w| (w / total).powi(2)).sum();
        // 1 - 1/rows for equal weights.
        let freedom = 1.0 - squares;
        if rows.rows < 2 || !(total > 0.0 && freedom > 1e-9) {
            return None;
        }
        let mut mean = vec![0.0; n];
        for (row, weight) in weights.iter().enumerate() {
            let values = mean.iter_mut().zip(rows.row(row));
            values.for_each(|(sum, value)| *sum += weight / total * f64::from(*value));
        }
        let mut covariance = vec![0.0; n * n];
        for (row, weight) in weights.iter().enumerate() {
            let values = rows.row(row).iter().zip(&mean);
            let off: Vec<f64> = values.map(|(v, mean)| f64::from(*v) - mean).collect();
            for (line, a) in covariance.chunks_exact_mut(n).zip(&off) {
                let scaled = weight / total / freedom * a;
                line.iter_mut()
                    .zip(&off)
                    .for_each(|(s, b)| *s += scaled * b);
            }
        }
        Some(Self { mean, covariance })
    }
}

/// |m1 - m2|^2 + tr(S1 + S2 - 2 (S1^1/2 S2 S1^1/2)^1/2).
pub(super) fn frechet(a: &Moments, b: &Moments) -> f64 {
    let n = a.mean.len();
    let means = a.mean.iter().zip(&b.mean);
    let apart: f64 = means.map(|(a, b)| (a - b).powi(2)).sum();
    let trace = |matrix: &[f64]| (0..n).map(|i| matrix[i * n + i]).sum::<f64>();
    let root = square_root(&a.covariance, n);
    let inner = product(&product(&root, &b.covariance, n), &root, n);
    let (values, _) = eigen(inner, n);
    let both: f64 = values.iter().map(|value| value.max(0.0).sqrt()).sum();
    // Rounding may give a slightly negative result.
    (apart + trace(&a.covariance) + trace(&b.covariance) - 2.0 * both).max(0.0)
}

/// The symmetric square root of a positive semidefinite `[n, n]`.
fn square_root(matrix: &[f64], n: usize) -> Vec<f64> {
    let (values, vectors) = eigen(matrix.to_vec(), n);
    let roots: Vec<f64> = values.iter().map(|value| value.max(0.0).sqrt()).collect();
    let mut root = vec![0.0; n * n];
    // Column k of `vectors` belongs to value k.
    for i in 0..n {
        for j in 0..=i {
            let terms = (0..n).map(|k| vectors[i * n + k] * roots[k] * vectors[j * n + k]);
            let sum: f64 = terms.sum();
            (root[i * n + j], root[j * n + i]) = (sum, sum);
        }
    }
    root
}

fn product(a: &[f64], b: &[f64], n: usize) -> Vec<f64> {
    let mut c = vec![0.0; n * n];
    for (line, a) in c.chunks_exact_mut(n).zip(a.chunks_exact(n)) {
        for (factor, b) in a.iter().zip(b.chunks_exact(n)) {
            line.iter_mut().zip(b).for_each(|(c, b)| *c += factor * b);
        }
    }
    c
}

/// Eigenvalues and eigenvectors (in columns) of a symmetric `[n, n]` matrix, by Jacobi rotations:
/// slow for large matrices, but accurate and short for those of a hidden layer.
fn eigen(mut a: Vec<f64>, n: usize) -> (Vec<f64>, Vec<f64>) {
    const SWEEPS: usize = 50;
    let mut vectors = vec![0.0; n * n];
    (0..n).for_each(|i| vectors[i * n + i] = 1.0);
    let size: f64 = a.iter().map(|value| value * value).sum();
    for _ in 0..SWEEPS {
        let beside = |i: usize| (0..i).map(|j| a[i * n + j].powi(2)).sum::<f64>();
        if (0..n).map(beside).sum::<f64>() <= 1e-24 * size {
            break;
        }
        for p in 0..n {
            for q in p + 1..n {
                let off = a[p * n + q];
                if off == 0.0 {
                    continue;
                }
                let theta = (a[q * n + q] - a[p * n + p]) / (2.0 * off);
                let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                let c = 1.0 / (t * t + 1.0).sqrt();
                let s = t * c;
                let turn = |x: &mut f64, y: &mut f64| {
                    (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
                };
                let (head, tail) = a.split_at_mut(q * n);
                let lines = head[p * n..(p + 1) * n].iter_mut().zip(&mut tail[..n]);
                lines.for_each(|(x, y)| turn(x, y));
                for line in a.chunks_exact_mut(n).chain(vectors.chunks_exact_mut(n)) {
                    let (head, tail) = line.split_at_mut(q);
                    turn(&mut head[p], &mut tail[0]);
                }
            }
        }
    }
    ((0..n).map(|i| a[i * n + i]).collect(), vectors)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(mean: &[f64], covariance: &[f64]) -> Moments {
        Moments {
            mean: mean.to_vec(),
            covariance: covariance.to_vec(),
        }
    }

    /// For covariances with the same eigenvectors, it is the sum of the squared differences of
    /// means and of standard deviations.
    #[test]
    fn it_has_its_closed_form() {
        let a = moments(&[1.0, 2.0], &[4.0, 0.0, 0.0, 9.0]);
        let b = moments(&[0.0, 4.0], &[1.0, 0.0, 0.0, 25.0]);
        assert!((frechet(&a, &b) - (1.0 + 4.0 + 1.0 + 4.0)).abs() < 1e-9);
        // The same, rotated: axes (0.8, 0.6) and (-0.6, 0.8).
        let turned = |x: f64, y: f64| {
            let (c, s) = (0.8, 0.6);
            let across = c * s * (x - y);
            [c * c * x + s * s * y, across, across, s * s * x + c * c * y]
        };
        let a = moments(&[0.0, 0.0], &turned(4.0, 9.0));
        let b = moments(&[0.0, 0.0], &turned(1.0, 25.0));
        assert!((frechet(&a, &b) - 5.0).abs() < 1e-9);
    }

    /// 2 tr (S1 S2)^1/2 of two 2 x 2 matrices is 2 sqrt(tr(S1 S2) + 2 sqrt(det S1 det S2)).
    #[test]
    fn covariances_need_not_share_their_axes() {
        let a = moments(&[0.0; 2], &[2.0, 0.5, 0.5, 1.0]);
        let b = moments(&[0.0; 2], &[1.0, -0.3, -0.3, 3.0]);
        let of_product = 2.0 * 1.0 + 2.0 * 0.5 * -0.3 + 1.0 * 3.0;
        let root: f64 = of_product + 2.0 * (1.75f64 * 2.91).sqrt();
        let expected = 3.0 + 4.0 - 2.0 * root.sqrt();
        let found = frechet(&a, &b);
        assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
        assert!((found - frechet(&b, &a)).abs() < 1e-9);
    }

    #[test]
    fn the_same_rows_are_no_distance_apart() {
        let values: Vec<f32> = (0..60).map(|i| ((i * i * 7) % 23) as f32).collect();
        let rows = Matrix::new(20, 3, values).expect("fits");
        let one = Moments::of(&rows, &[1.0; 20]).expect("rows");
        assert!(frechet(&one, &one) < 1e-6);
        // A weight of two equals repeating the row, except for the correction by the number of
        // rows.
        let first = Moments::of(&rows, &[[0.0; 10], [3.0; 10]].concat()).expect("rows");
        let half = rows.select(&(10..20).collect::<Vec<u32>>());
        let second = Moments::of(&half, &[1.0; 10]).expect("rows");
        assert!(frechet(&first, &second) < 1e-6);
        assert_eq!(Moments::of(&rows, &[0.0; 20]), None);
        assert_eq!(Moments::of(&rows.select(&[0]), &[1.0]), None);
    }

    #[test]
    fn a_layer_that_is_always_zero_is_no_obstacle() {
        let rows = Matrix::new(3, 2, vec![0.0, 1.0, 0.0, 2.0, 0.0, 3.0]).expect("fits");
        let flat = Moments::of(&rows, &[1.0; 3]).expect("rows");
        let other = moments(&[0.0, 2.0], &[0.0, 0.0, 0.0, 4.0]);
        assert!((frechet(&flat, &other) - 1.0).abs() < 1e-9);
    }
}
