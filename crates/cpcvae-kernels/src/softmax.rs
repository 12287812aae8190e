//! Log-softmax and cross-entropy.

use crate::isa::Isa;
use crate::math::{exp, ln};
use crate::parallel;

/// `log_probs = logits - ln sum exp logits` for each row; both `[n, classes]`.
///
/// # Panics
/// If the lengths differ, or are not multiples of the classes.
pub fn log_softmax(classes: usize, logits: &[f32], log_probs: &mut [f32]) {
    check(classes, &[logits, log_probs]);
    let isa = Isa::current();
    let piece = parallel::rows_per_piece(classes) * classes;
    let pieces = logits
        .chunks(piece.max(1))
        .zip(log_probs.chunks_mut(piece.max(1)));
    let name = "classes: log-probabilities";
    parallel::timed_for_each(name, 4 * logits.len(), pieces, |(logits, log_probs)| {
        log_softmax_rows(isa, classes, logits, log_probs);
    });
}

/// `g_logits = g - softmax(logits) sum g` for each row, from `log_probs` and their gradient `g`;
/// all `[n, classes]`.
///
/// # Panics
/// If the lengths differ, or the rows do not come out even.
pub fn log_softmax_backward(classes: usize, log_probs: &[f32], g: &[f32], g_logits: &mut [f32]) {
    check(classes, &[log_probs, g, g_logits]);
    let isa = Isa::current();
    let piece = (parallel::rows_per_piece(classes) * classes).max(1);
    let pieces = log_probs.chunks(piece).zip(g.chunks(piece));
    let pieces = pieces.zip(g_logits.chunks_mut(piece));
    let name = "classes: log-probabilities";
    parallel::timed_for_each(name, 4 * g.len(), pieces, |((log_probs, g), g_logits)| {
        log_softmax_backward_rows(isa, classes, log_probs, g, g_logits);
    });
}

/// `out[row] = -sum_k target[row][k] log_probs[row][k]`; `out [n]`, the others `[n, classes]`.
///
/// # Panics
/// If the lengths do not fit.
pub fn cross_entropy(classes: usize, target: &[f32], log_probs: &[f32], out: &mut [f32]) {
    check(classes, &[target, log_probs]);
    assert_eq!(out.len() * classes, target.len());
    let rows = target
        .chunks(classes.max(1))
        .zip(log_probs.chunks(classes.max(1)));
    for (out, (target, log_probs)) in out.iter_mut().zip(rows) {
        let terms = target.iter().zip(log_probs);
        // A class of probability zero costs nothing where its target is zero too.
        *out = -terms
            .map(|(t, l)| if *t == 0.0 { 0.0 } else { t * l })
            .sum::<f32>();
    }
}

/// `g_factor[row][k] = -g[row] factor[row][k]`: the gradient of [`cross_entropy`] with respect to
/// one of its two factors, from the other one.
///
/// # Panics
/// If the lengths do not fit.
pub fn cross_entropy_backward(classes: usize, g: &[f32], other: &[f32], g_factor: &mut [f32]) {
    check(classes, &[other, g_factor]);
    assert_eq!(g.len() * classes, other.len());
    let rows = other
        .chunks(classes.max(1))
        .zip(g_factor.chunks_mut(classes.max(1)));
    for (g, (other, g_factor)) in g.iter().zip(rows) {
        for (other, g_factor) in other.iter().zip(g_factor) {
            *g_factor = -g * other;
        }
    }
}

fn check(classes: usize, all: &[&[f32]]) {
    let length = all[0].len();
    assert!(all.iter().all(|values| values.len() == length));
    assert!(length == 0 || length.is_multiple_of(classes));
}

kernel! {
    fn log_softmax_rows<FMA>(classes: usize, logits: &[f32], log_probs: &mut [f32]) {
        for (logits, log_probs) in
            logits.chunks_exact(classes).zip(log_probs.chunks_exact_mut(classes))
        {
            let largest = logits.iter().fold(f32::NEG_INFINITY, |a, b| a.max(*b));
            let mut sum = 0.0;
            for (logit, shifted) in logits.iter().zip(&mut *log_probs) {
                *shifted = logit - largest;
                sum += exp::<FMA>(*shifted);
            }
            let log_sum = ln::<FMA>(sum);
            log_probs.iter_mut().for_each(|value| *value -= log_sum);
        }
    }
}

kernel! {
    fn log_softmax_backward_rows<FMA>(
        classes: usize, log_probs: &[f32], g: &[f32], g_logits: &mut [f32],
    ) {
        let rows = log_probs.chunks_exact(classes).zip(g.chunks_exact(classes));
        for ((log_probs, g), g_logits) in rows.zip(g_logits.chunks_exact_mut(classes)) {
            let sum: f32 = g.iter().sum();
            for ((log_prob, g), g_logit) in log_probs.iter().zip(g).zip(g_logits) {
                *g_logit = g - exp::<FMA>(*log_prob) * sum;
            }
        }
    }
}
