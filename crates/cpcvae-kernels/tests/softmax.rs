//! Log-probabilities and cross-entropies against plain definitions in `f64`.

use cpcvae_kernels::isa::Isa;
use cpcvae_kernels::random::{self, Stream};
use cpcvae_kernels::softmax::{
    cross_entropy, cross_entropy_backward, log_softmax, log_softmax_backward,
};

fn normals(purpose: u32, count: usize) -> Vec<f32> {
    let stream = Stream {
        seed: 5,
        step: 0,
        purpose,
    };
    let mut out = vec![0.0; count];
    random::normal(stream, &mut out);
    out
}

fn assert_close(actual: f32, expected: f64) {
    let difference = (f64::from(actual) - expected).abs();
    assert!(
        difference < 1e-5 * expected.abs().max(1.0),
        "{actual} {expected}"
    );
}

#[test]
fn log_probabilities() {
    for isa in Isa::supported() {
        for (rows, classes) in [(0, 3), (1, 1), (5, 2), (33, 10), (17, 31), (900, 100)] {
            let logits: Vec<f32> = normals(1, rows * classes).iter().map(|v| 9.0 * v).collect();
            let g = normals(2, rows * classes);
            let (mut out, mut g_logits) = (vec![f32::NAN; g.len()], vec![f32::NAN; g.len()]);
            isa.run(|| {
                log_softmax(classes, &logits, &mut out);
                log_softmax_backward(classes, &out, &g, &mut g_logits);
            });
            for row in 0..rows {
                let part = row * classes..(row + 1) * classes;
                let sum: f64 = logits[part.clone()]
                    .iter()
                    .map(|l| f64::from(*l).exp())
                    .sum();
                let g_sum: f64 = g[part.clone()].iter().map(|g| f64::from(*g)).sum();
                for at in part {
                    let log_prob = f64::from(logits[at]) - sum.ln();
                    assert_close(out[at], log_prob);
                    assert_close(g_logits[at], f64::from(g[at]) - log_prob.exp() * g_sum);
                }
            }
        }
    }
}

#[test]
fn cross_entropies() {
    for (rows, classes) in [(0, 3), (1, 1), (5, 2), (33, 10)] {
        let (target, log_probs) = (normals(1, rows * classes), normals(2, rows * classes));
        let g = normals(3, rows);
        let mut out = vec![f32::NAN; rows];
        let mut slope = vec![f32::NAN; target.len()];
        cross_entropy(classes, &target, &log_probs, &mut out);
        cross_entropy_backward(classes, &g, &target, &mut slope);
        for row in 0..rows {
            let part = row * classes..(row + 1) * classes;
            let terms = target[part.clone()].iter().zip(&log_probs[part.clone()]);
            let sum: f64 = terms.map(|(t, l)| f64::from(*t) * f64::from(*l)).sum();
            assert_close(out[row], -sum);
            for at in part {
                assert_eq!(slope[at], -g[row] * target[at]);
            }
        }
    }
}

#[test]
fn an_impossible_class_that_nobody_wants_costs_nothing() {
    let mut log_probs = [0.0; 2];
    log_softmax(2, &[0.0, f32::NEG_INFINITY], &mut log_probs);
    assert_eq!(log_probs, [0.0, f32::NEG_INFINITY]);
    let mut out = [f32::NAN];
    cross_entropy(2, &[1.0, 0.0], &log_probs, &mut out);
    assert_eq!(out, [0.0]);
}
