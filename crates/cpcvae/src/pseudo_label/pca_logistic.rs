//! A linear classifier of pixels: logistic regression on whitened principal components.
//!
//! HOG descriptors lose where exactly an edge is, and colours. Where images are aligned, as
//! portraits are, the pixels themselves predict better. There are many more of them than labels, so
//! the regression is on the components in which images differ most.

use super::cholesky::inverse_factor;
use super::labelled::{Classifier, Labelled};
use super::logistic::Logistic;
use super::pca::Components;
use crate::evenly::evenly;
use std::collections::HashSet;

/// The most components.
const MOST_COMPONENTS: usize = 150;
/// The most images that they are computed from, and numbers in them.
const MOST_IMAGES: usize = 2000;
const MOST_PIXELS: usize = 25_000_000;
/// Variance that is added to that of each component, as a share of their mean variance.
const JITTER: f64 = 1e-6;

/// A fitted classifier.
pub(crate) struct PcaLogistic {
    /// The same classifier as a function of the pixels.
    pub(crate) of_pixels: Logistic,
    /// Out-of-fold predictions for the labelled rows, `[labels, classes]`. Components know these
    /// rows, but not their labels.
    pub(crate) left_out: Vec<f32>,
}

impl PcaLogistic {
    /// Fits it to images `[n, width]`, some of which have the class given in `labels` (row, class).
    /// `None` if there are too few labels, or images that do not differ.
    ///
    /// # Panics
    /// If a row or class of a label is out of range.
    pub(crate) fn fit(
        images: &[f32],
        width: usize,
        labels: &[(u32, u32)],
        classes: usize,
    ) -> Option<Self> {
        let known: Vec<u32> = labels.iter().map(|(row, _)| *row).collect();
        let seen = of_components(&known, images.len() / width.max(1), width);
        let count = MOST_COMPONENTS
            .min(labels.len().saturating_sub(1))
            .min(seen.len().saturating_sub(1))
            .min(width);
        if count == 0 {
            return None;
        }
        let of_rows = |rows: &[u32]| -> Vec<f32> {
            let image = |row: &u32| images[*row as usize * width..][..width].to_vec();
            rows.iter().flat_map(image).collect()
        };
        let seen = of_rows(&seen);
        let components = Components::fit(&seen, width, count);
        let whitening = whitening(&components.coordinates(&seen), count)?;
        let features = whitened(&components.coordinates(&of_rows(&known)), &whitening, count);
        let labels: Vec<(u32, u32)> = (0..).zip(labels.iter().map(|(_, class)| *class)).collect();
        let data = Labelled {
            features: &features,
            columns: count,
            labels: &labels,
            classes,
        };
        let map = directions(&components, &whitening);
        Some(Self {
            of_pixels: Logistic::fit_all(data)
                .before(&map, &components.mean)
                .rounded(),
            left_out: Logistic::left_out(data),
        })
    }
}

/// The rows whose components are computed: labelled ones first, others at even distances.
fn of_components(known: &[u32], n: usize, width: usize) -> Vec<u32> {
    let most = (MOST_PIXELS / width.max(1)).clamp(2, MOST_IMAGES);
    let mut rows = evenly(known, most);
    let is_known: HashSet<u32> = known.iter().copied().collect();
    let others: Vec<u32> = (0..n as u32)
        .filter(|row| !is_known.contains(row))
        .collect();
    rows.extend(evenly(&others, most - rows.len()));
    rows
}

/// A lower triangular matrix `[count, count]` that maps coordinates to uncorrelated ones of equal
/// variance, such that rows have length 1 on average. The penalty of the regression depends on
/// lengths only, so it does not matter which of all such matrices it is.
fn whitening(coordinates: &[f32], count: usize) -> Option<Vec<f64>> {
    let n = (coordinates.len() / count) as f64;
    let mut covariance = vec![0.0; count * count];
    for row in coordinates.chunks_exact(count) {
        for (i, a) in row.iter().enumerate() {
            for (sum, b) in covariance[i * count..].iter_mut().zip(&row[..=i]) {
                *sum += f64::from(*a) * f64::from(*b) / n;
            }
        }
    }
    let diagonal = |covariance: &[f64]| (0..count).map(|i| covariance[i * count + i]).sum::<f64>();
    let variance = diagonal(&covariance) / count as f64;
    // A common scale, so that the factor's threshold does not depend on the units.
    if variance <= 0.0 || !variance.is_finite() {
        return None;
    }
    covariance.iter_mut().for_each(|value| *value /= variance);
    (0..count).for_each(|i| covariance[i * count + i] += JITTER);
    let mut lower = inverse_factor(covariance, count)?;
    let scale = 1.0 / (variance * count as f64).sqrt();
    lower.iter_mut().for_each(|value| *value *= scale);
    Some(lower)
}

fn whitened(coordinates: &[f32], whitening: &[f64], count: usize) -> Vec<f32> {
    let row = |row: &[f32]| -> Vec<f32> {
        let of_row = |weights: &[f64]| -> f32 {
            let pairs = weights.iter().zip(row);
            pairs.map(|(w, value)| w * f64::from(*value)).sum::<f64>() as f32
        };
        whitening.chunks_exact(count).map(of_row).collect()
    };
    coordinates.chunks_exact(count).flat_map(row).collect()
}

/// The map from centred pixels to whitened components, `[width, count]`.
fn directions(components: &Components, whitening: &[f64]) -> Vec<f64> {
    let width = components.mean.len();
    let count = components.directions.len() / width;
    let mut map = vec![0.0; width * count];
    for (to, weights) in whitening.chunks_exact(count).enumerate() {
        for (weight, direction) in weights[..=to]
            .iter()
            .zip(components.directions.chunks_exact(width))
        {
            for (pixel, value) in direction.iter().enumerate() {
                map[pixel * count + to] += weight * f64::from(*value);
            }
        }
    }
    map
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probabilities::largest;
    use cpcvae_kernels::random::{Stream, normal};

    const WIDTH: usize = 40;

    /// Noise along a few patterns; the class moves a weak pattern, a strong one does not depend on
    /// it.
    fn images(n: usize) -> (Vec<f32>, Vec<(u32, u32)>) {
        let mut draws = vec![0.0; n * (WIDTH + 1)];
        let stream = Stream {
            seed: 5,
            step: 0,
            purpose: 0,
        };
        normal(stream, &mut draws);
        let labels: Vec<(u32, u32)> = (0..n as u32).map(|row| (row, row % 2)).collect();
        let image = |(row, class): &(u32, u32)| {
            let draws = &draws[*row as usize * (WIDTH + 1)..][..=WIDTH];
            let (strong, noise) = (draws[WIDTH], &draws[..WIDTH]);
            let pixel = |(at, noise): (usize, &f32)| {
                let sign = if at % 2 == 0 { 1.0 } else { -1.0 };
                7.0 + 9.0 * strong + sign * (*class as f32 - 0.5) + 0.6 * noise
            };
            noise.iter().enumerate().map(pixel).collect::<Vec<f32>>()
        };
        (labels.iter().flat_map(image).collect(), labels)
    }

    #[test]
    fn a_weak_pattern_beside_a_strong_one_is_found() {
        let (images, labels) = images(400);
        let fitted = PcaLogistic::fit(&images, WIDTH, &labels[..40], 2).expect("fits");
        let right = |class_probs: &[f32], labels: &[(u32, u32)]| {
            let rows = class_probs.chunks_exact(2).zip(labels);
            let right = rows.filter(|(p, (_, class))| largest(p) == *class as usize);
            right.count() as f64 / labels.len() as f64
        };
        let new = fitted.of_pixels.class_probs(&images[40 * WIDTH..]);
        assert!(right(&new, &labels[40..]) > 0.9);
        assert!(right(&fitted.left_out, &labels[..40]) > 0.8);
    }

    #[test]
    fn whitened_rows_are_uncorrelated_and_of_length_one_on_average() {
        let (images, _) = images(300);
        let components = Components::fit(&images, WIDTH, 4);
        let coordinates = components.coordinates(&images);
        let rows = whitened(&coordinates, &whitening(&coordinates, 4).expect("fits"), 4);
        for i in 0..4 {
            for j in 0..4 {
                let products = rows.chunks_exact(4).map(|row| f64::from(row[i] * row[j]));
                let mean = products.sum::<f64>() / 300.0;
                let expected = if i == j { 0.25 } else { 0.0 };
                assert!((mean - expected).abs() < 1e-3, "{i} {j}: {mean}");
            }
        }
    }

    #[test]
    fn equal_images_and_a_single_label_have_no_classifier() {
        let flat = vec![0.5; 6 * WIDTH];
        assert!(PcaLogistic::fit(&flat, WIDTH, &[(0, 0), (1, 1), (2, 0)], 2).is_none());
        let (images, labels) = images(6);
        assert!(PcaLogistic::fit(&images, WIDTH, &labels[..1], 2).is_none());
    }
}
