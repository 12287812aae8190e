//! L-BFGS: the minimum of a smooth convex function (Liu and Nocedal 1989).

use std::collections::VecDeque;

/// Past steps used to approximate the curvature.
const MEMORY: usize = 10;
const MOST_STEPS: usize = 300;
/// Stops at a gradient smaller than at the start by this factor.
const TOLERANCE: f64 = 1e-5;
/// The most halvings of a step in the line search; beyond, only rounding is left.
const MOST_HALVINGS: usize = 30;

/// A point near the minimum, starting from `start`. The function returns its value at a point and
/// adds its gradient there to zeros.
pub(super) fn minimise(start: Vec<f64>, function: impl Fn(&[f64], &mut [f64]) -> f64) -> Vec<f64> {
    let at = |point: &[f64]| {
        let mut slope = vec![0.0; point.len()];
        let value = function(point, &mut slope);
        (value, slope)
    };
    let mut point = start;
    let (mut value, mut slope) = at(&point);
    let goal = TOLERANCE * dot(&slope, &slope).sqrt();
    // (change of the point, change of the gradient)
    let mut past: VecDeque<(Vec<f64>, Vec<f64>)> = VecDeque::new();
    for _ in 0..MOST_STEPS {
        if dot(&slope, &slope).sqrt() <= goal {
            break;
        }
        let direction = downhill(&slope, &past);
        let descent = dot(&slope, &direction);
        // Without past steps the scale is unknown.
        let mut length = match past.is_empty() {
            true => 1.0 / dot(&slope, &slope).sqrt().max(1.0),
            false => 1.0,
        };
        let found = (0..MOST_HALVINGS).find_map(|_| {
            let steps = point.iter().zip(&direction);
            let next: Vec<f64> = steps.map(|(p, d)| p + length * d).collect();
            let (lower, next_slope) = at(&next);
            let enough = lower <= value + 1e-4 * length * descent;
            length *= 0.5;
            enough.then_some((next, lower, next_slope))
        });
        let Some((next, lower, next_slope)) = found else {
            break;
        };
        let moved = difference(&next, &point);
        let turned = difference(&next_slope, &slope);
        if dot(&moved, &turned) > 1e-12 * dot(&turned, &turned) {
            past.push_back((moved, turned));
            if past.len() > MEMORY {
                past.pop_front();
            }
        }
        (point, value, slope) = (next, lower, next_slope);
    }
    point
}

/// The search direction: minus the gradient times the approximate inverse Hessian.
fn downhill(slope: &[f64], past: &VecDeque<(Vec<f64>, Vec<f64>)>) -> Vec<f64> {
    let mut direction: Vec<f64> = slope.iter().map(|s| -s).collect();
    let mut shares = Vec::with_capacity(past.len());
    for (moved, turned) in past.iter().rev() {
        let share = dot(moved, &direction) / dot(moved, turned);
        add(&mut direction, turned, -share);
        shares.push(share);
    }
    if let Some((moved, turned)) = past.back() {
        let scale = dot(moved, turned) / dot(turned, turned);
        direction.iter_mut().for_each(|d| *d *= scale);
    }
    for ((moved, turned), share) in past.iter().zip(shares.into_iter().rev()) {
        let other = dot(turned, &direction) / dot(moved, turned);
        add(&mut direction, moved, share - other);
    }
    direction
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

fn add(a: &mut [f64], b: &[f64], factor: f64) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a += factor * b);
}

#[cfg(test)]
mod tests {
    use super::minimise;

    #[test]
    fn the_bottom_of_a_long_valley_is_found() {
        // sum of c_i (x_i - i)^2 + (x_i - i)^4, curvatures from 1 to 10,000.
        let curvature = |i: usize| 10f64.powi(i as i32);
        let found = minimise(vec![0.0; 5], |x, slope| {
            let mut value = 0.0;
            for i in 0..5 {
                let off = x[i] - i as f64;
                value += curvature(i) * off.powi(2) + off.powi(4);
                slope[i] += 2.0 * curvature(i) * off + 4.0 * off.powi(3);
            }
            value
        });
        for (i, x) in found.iter().enumerate() {
            assert!((x - i as f64).abs() < 1e-2, "{found:?}");
        }
    }
}
