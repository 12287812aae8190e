//! Ridge regression, linear and with an RBF kernel (the mean of a Gaussian process).
//!
//! Width and penalty minimise the leave-one-out squared error, which comes with the solution.

use super::{Continuous, Regressor};
use crate::pseudo_label::cholesky::inverse;
use crate::pseudo_label::kernel::{Kernel, median_square};
use crate::pseudo_label::ridge::solve;

/// With more labels, this many of them are used: the cost is cubic.
const MOST_LABELS: usize = 500;
/// Penalties tried, relative to the mean diagonal of the kernel matrix.
const PENALTIES: [f64; 7] = [1e-4, 1e-3, 1e-2, 1e-1, 0.3, 1.0, 10.0];
/// Widths of the RBF kernel tried, as multiples of the labelled rows' median squared distance.
const WIDTHS: [f64; 4] = [0.5, 1.0, 4.0, 16.0];

/// A fitted regression.
#[derive(Clone, Debug)]
pub(crate) struct Fit {
    pub(crate) kernel: Kernel,
    columns: usize,
    /// The labelled rows, `[labels, columns]`.
    pub(crate) rows: Vec<f32>,
    /// `[outputs]`
    pub(crate) mean: Vec<f64>,
    /// `[labels, outputs]`
    pub(crate) coefficients: Vec<f64>,
}

impl Fit {
    /// The best of these kernels, given the median squared distance between labelled rows.
    fn best(data: Continuous<'_>, used: &[usize], kernels: impl Fn(f64) -> Vec<Kernel>) -> Self {
        let step = used.len().div_ceil(MOST_LABELS).max(1);
        let used: Vec<usize> = used.iter().copied().step_by(step).collect();
        let (n, outputs) = (used.len(), data.outputs);
        let rows: Vec<f32> = used.iter().flat_map(|at| data.row(*at)).copied().collect();
        let value = |i: usize, k: usize| f64::from(data.value(used[i])[k]);
        let mean: Vec<f64> = (0..outputs)
            .map(|k| (0..n).map(|i| value(i, k)).sum::<f64>() / n as f64)
            .collect();
        let mut best: Option<(f64, Self)> = None;
        for kernel in kernels(median_square(&rows, data.columns)) {
            let alike = kernel.between(&rows, data.columns);
            let diagonal = (0..n).map(|i| alike[i * n + i]).sum::<f64>() / n as f64;
            for penalty in PENALTIES {
                let mut matrix = alike.clone();
                (0..n).for_each(|i| matrix[i * n + i] += penalty * diagonal);
                let Some(inverse) = inverse(matrix, n) else {
                    continue;
                };
                let target = |i: usize, k: usize| value(i, k) - mean[k];
                let (coefficients, left_out) = solve(&inverse, [n, outputs], target);
                let errors = (0..n * outputs)
                    .map(|at| (left_out[at] - target(at / outputs, at % outputs)).powi(2));
                let error: f64 = errors.sum();
                if best.as_ref().is_none_or(|(least, _)| error < *least) {
                    let fit = Self {
                        kernel,
                        columns: data.columns,
                        rows: rows.clone(),
                        mean: mean.clone(),
                        coefficients,
                    };
                    best = Some((error, fit));
                }
            }
        }
        // With a penalty every kernel matrix is positive definite, except for rows of huge values:
        // then the mean is predicted.
        best.map_or_else(
            || Self {
                kernel: Kernel::Linear,
                columns: data.columns,
                rows: Vec::new(),
                mean,
                coefficients: Vec::new(),
            },
            |(_, fit)| fit,
        )
    }

    fn predict_row(&self, row: &[f32]) -> Vec<f32> {
        let mut said = self.mean.clone();
        let known = self.rows.chunks_exact(self.columns);
        for (known, coefficients) in known.zip(self.coefficients.chunks_exact(said.len())) {
            let alike = self.kernel.of(row, known);
            let sums = said.iter_mut().zip(coefficients);
            sums.for_each(|(sum, coefficient)| *sum += alike * coefficient);
        }
        said.into_iter().map(|value| value as f32).collect()
    }
}

/// Linear ridge regression.
#[derive(Clone, Debug)]
pub(super) struct Ridge(pub(super) Fit);

impl Regressor for Ridge {
    fn fit(data: Continuous<'_>, used: &[usize]) -> Self {
        Self(Fit::best(data, used, |_| vec![Kernel::Linear]))
    }

    fn predict_row(&self, row: &[f32]) -> Vec<f32> {
        self.0.predict_row(row)
    }
}

/// Ridge regression on an RBF kernel.
#[derive(Clone, Debug)]
pub(super) struct KernelRidge(pub(super) Fit);

impl Regressor for KernelRidge {
    fn fit(data: Continuous<'_>, used: &[usize]) -> Self {
        Self(Fit::best(data, used, |median| {
            WIDTHS.map(|width| Kernel::Rbf(width * median)).to_vec()
        }))
    }

    fn predict_row(&self, row: &[f32]) -> Vec<f32> {
        self.0.predict_row(row)
    }
}
