//! Which pixels of a canvas an image shows, compared with a plain version.

use cpcvae_kernels::random::{self, Stream};
use cpcvae_kernels::transform::clear_unshown;

/// Whether the centre of a canvas pixel is in the image, by solving theta p = c in `f64`, and its
/// distance from the image's border.
fn plain(theta: &[f32], (height, width): (usize, usize), pixel: usize) -> (bool, f64) {
    let theta: Vec<f64> = theta.iter().map(|t| f64::from(*t)).collect();
    let centre = |i: usize, size: usize| (2.0 * i as f64 + 1.0) / size as f64 - 1.0;
    let x = centre(pixel % width, width) - theta[2];
    let y = centre(pixel / width, height) - theta[5];
    let determinant = theta[0] * theta[4] - theta[1] * theta[3];
    let across = (theta[4] * x - theta[1] * y) / determinant;
    let along = (theta[0] * y - theta[3] * x) / determinant;
    let farthest = across.abs().max(along.abs());
    (farthest <= 1.0, (farthest - 1.0).abs())
}

#[test]
fn gradients_outside_the_image_are_cleared_and_others_kept() {
    let rows = 40;
    let mut theta = vec![0.0; rows * 6];
    let stream = Stream {
        seed: 5,
        step: 0,
        purpose: 1,
    };
    random::normal(stream, &mut theta);
    for (maps, canvas) in [(1, (1, 1)), (3, (7, 5)), (2, (12, 12))] {
        let pixels = canvas.0 * canvas.1;
        let before: Vec<f32> = (1..=rows * maps * pixels).map(|i| i as f32).collect();
        let mut g = before.clone();
        clear_unshown(maps, canvas, &theta, &mut g);
        let mut shown = 0;
        for (i, (g, before)) in g.iter().zip(&before).enumerate() {
            let theta = &theta[i / (maps * pixels) * 6..][..6];
            let (is_shown, from_border) = plain(theta, canvas, i % pixels);
            // On the border, rounding decides.
            if from_border > 1e-4 {
                assert_eq!(*g, if is_shown { *before } else { 0.0 }, "{theta:?} {i}");
            }
            shown += usize::from(is_shown);
        }
        assert!(shown > 0 && shown < g.len(), "both kinds occur: {shown}");
    }
}

#[test]
fn a_map_without_inverse_shows_nothing_and_no_rows_are_no_work() {
    let mut g = [1.0; 4];
    clear_unshown(1, (2, 2), &[0.0; 6], &mut g);
    assert_eq!(g, [0.0; 4]);
    clear_unshown(1, (2, 2), &[], &mut []);
}
