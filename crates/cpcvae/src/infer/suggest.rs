//! Selection of rows to label: uncertain, typical, and different from each other.

use cpcvae_data::Matrix;

/// Candidates for diversity, for each requested row.
const POOL: usize = 10;

/// Chooses up to `count` rows, the best first.
///
/// `worth` is the expected information of a row's label (see [`entropy`]; a caller multiplies it by
/// how typical the row is, so that uncertain outliers do not fill the list). Of the rows of highest
/// worth, ten for each requested one, the best comes first; then always the row with the largest
/// product of worth and distance in `codes [rows, dimensions]` to the nearest one chosen so far
/// (greedy k-centre).
pub fn suggest(worth: &[f64], codes: &Matrix, count: usize) -> Vec<usize> {
    let mut pool: Vec<usize> = (0..codes.rows.min(worth.len()))
        .filter(|&row| worth[row].is_finite())
        .collect();
    pool.sort_by(|a, b| worth[*b].total_cmp(&worth[*a]));
    pool.truncate(count.saturating_mul(POOL));
    let mut nearest = vec![f64::INFINITY; pool.len()];
    let mut chosen = Vec::new();
    while chosen.len() < count && !pool.is_empty() {
        let gain = |place: usize| match chosen.is_empty() {
            true => worth[pool[place]],
            false => worth[pool[place]] * nearest[place],
        };
        let best = (0..pool.len()).fold(0, |best, place| {
            if gain(place) > gain(best) {
                place
            } else {
                best
            }
        });
        let row = pool.swap_remove(best);
        nearest.swap_remove(best);
        for (place, other) in pool.iter().enumerate() {
            let apart = distance(codes.row(row), codes.row(*other));
            nearest[place] = nearest[place].min(apart);
        }
        chosen.push(row);
    }
    chosen
}

fn distance(a: &[f32], b: &[f32]) -> f64 {
    let squares = a.iter().zip(b).map(|(a, b)| f64::from(a - b).powi(2));
    squares.sum::<f64>().sqrt()
}

/// Entropy of a row's class probabilities in nats: 0 for a certain class, log of the number of
/// classes for uniform ones.
pub fn entropy(probabilities: &[f32]) -> f64 {
    let terms = probabilities.iter().map(|p| f64::from(*p));
    -terms.filter(|p| *p > 0.0).map(|p| p * p.ln()).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(values: &[f32]) -> Matrix {
        Matrix::new(values.len(), 1, values.to_vec()).expect("fits")
    }

    #[test]
    fn rows_of_high_worth_that_lie_apart_come_first() {
        // Rows 0 and 1 are nearly the same; row 2 is worth a little less but is elsewhere.
        let chosen = suggest(&[1.0, 0.99, 0.8, 0.0], &codes(&[0.0, 0.01, 5.0, 50.0]), 3);
        assert_eq!(chosen, [0, 2, 1]);
    }

    #[test]
    fn no_more_rows_than_there_are() {
        assert_eq!(suggest(&[0.5, f64::NAN], &codes(&[0.0, 1.0]), 9), [0]);
        assert!(suggest(&[], &codes(&[]), 3).is_empty());
    }

    #[test]
    fn entropy_is_zero_when_sure() {
        assert_eq!(entropy(&[1.0, 0.0]), 0.0);
        assert!((entropy(&[0.25; 4]) - 4f64.ln()).abs() < 1e-9);
    }
}
