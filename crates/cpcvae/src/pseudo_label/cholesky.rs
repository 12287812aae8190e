//! Small symmetric positive definite matrices: their factor and their inverse.

/// L in the lower triangle with L L' = `matrix [n, n]`, of which only the lower triangle is read;
/// zeros above. `None` where the matrix is not positive definite.
pub(crate) fn factor(mut matrix: Vec<f64>, n: usize) -> Option<Vec<f64>> {
    for i in 0..n {
        for j in 0..=i {
            let (above, row) = (&matrix[j * n..j * n + j], &matrix[i * n..i * n + j]);
            let products = row.iter().zip(above).map(|(a, b)| a * b);
            let rest = matrix[i * n + j] - products.sum::<f64>();
            if i > j {
                matrix[i * n + j] = rest / matrix[j * n + j];
            } else if rest > 1e-12 {
                matrix[i * n + i] = rest.sqrt();
            } else {
                return None;
            }
        }
        matrix[i * n + i + 1..(i + 1) * n].fill(0.0);
    }
    Some(matrix)
}

/// The inverse of L, lower triangular, for L L' = `matrix [n, n]`; `None` where the matrix is not
/// positive definite.
pub(crate) fn inverse_factor(matrix: Vec<f64>, n: usize) -> Option<Vec<f64>> {
    let matrix = factor(matrix, n)?;
    // Row by row: column j of it below the diagonal.
    let mut lower = vec![0.0; n * n];
    for j in 0..n {
        lower[j * n + j] = 1.0 / matrix[j * n + j];
        for i in j + 1..n {
            let products = (j..i).map(|k| matrix[i * n + k] * lower[k * n + j]);
            lower[i * n + j] = -products.sum::<f64>() / matrix[i * n + i];
        }
    }
    Some(lower)
}

/// The inverse of `matrix [n, n]`; `None` where it is not positive definite.
pub(crate) fn inverse(matrix: Vec<f64>, n: usize) -> Option<Vec<f64>> {
    let lower = inverse_factor(matrix, n)?;
    let mut inverse = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let sum = (i..n).map(|k| lower[k * n + i] * lower[k * n + j]).sum();
            (inverse[i * n + j], inverse[j * n + i]) = (sum, sum);
        }
    }
    Some(inverse)
}

#[cfg(test)]
mod tests {
    use super::inverse;

    #[test]
    fn a_matrix_times_its_inverse_is_one() {
        let matrix = [4.0, 2.0, 0.6, 2.0, 5.0, 1.0, 0.6, 1.0, 3.0];
        let inverse = inverse(matrix.to_vec(), 3).unwrap();
        for i in 0..3 {
            for j in 0..3 {
                let value: f64 = (0..3).map(|k| matrix[i * 3 + k] * inverse[k * 3 + j]).sum();
                let expected = f64::from(u8::from(i == j));
                assert!((value - expected).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn what_is_not_positive_definite_has_none() {
        assert!(inverse(vec![1.0, 2.0, 2.0, 1.0], 2).is_none());
    }
}
