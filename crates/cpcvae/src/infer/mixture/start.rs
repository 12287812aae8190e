//! Initialisation of a mixture by k-means++.

use super::Member;
use crate::infer::Codes;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Rounds of k-means after k-means++.
const ROUNDS: usize = 10;

/// The members in an order that depends only on the seed.
pub(super) fn shuffled(members: &[Member], seed: u64) -> Vec<Member> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut keyed: Vec<(u64, Member)> = members.iter().map(|m| (random.random(), *m)).collect();
    keyed.sort_by_key(|(key, _)| *key);
    keyed.into_iter().map(|(_, member)| member).collect()
}

/// Up to `count` cluster centres: each next one is a row drawn with probability proportional to its
/// squared distance from those before (k-means++, Arthur and Vassilvitskii 2007), followed by a few
/// rounds of k-means. Fewer if rows are identical.
pub(super) fn spread_out(
    codes: &Codes,
    members: &[Member],
    count: usize,
    random: &mut ChaCha8Rng,
) -> Vec<Vec<f64>> {
    let place = |row: usize| codes.mean.row(row).iter().map(|z| f64::from(*z)).collect();
    let mut places: Vec<Vec<f64>> = Vec::new();
    let mut chances: Vec<f64> = members.iter().map(|(_, weight)| *weight).collect();
    let mut nearest = vec![f64::INFINITY; members.len()];
    while places.len() < count {
        let total: f64 = chances.iter().sum();
        if !(total > 0.0 && total.is_finite()) {
            break;
        }
        let mut left = random.random::<f64>() * total;
        let passed = |chance: &f64| {
            left -= chance;
            left < 0.0
        };
        let drawn = chances.iter().position(passed);
        let drawn = drawn.unwrap_or_else(|| chances.iter().rposition(|c| *c > 0.0).unwrap_or(0));
        let new: Vec<f64> = place(members[drawn].0);
        for (n, (row, weight)) in members.iter().enumerate() {
            nearest[n] = nearest[n].min(apart(codes, *row, &new));
            chances[n] = weight * nearest[n];
        }
        places.push(new);
    }
    for _ in 0..ROUNDS {
        let mut sums = vec![(0.0, vec![0.0; codes.mean.columns]); places.len()];
        for (row, weight) in members {
            let (total, sum) = &mut sums[closest(codes, *row, &places)];
            *total += weight;
            let values = sum.iter_mut().zip(codes.mean.row(*row));
            values.for_each(|(sum, value)| *sum += weight * f64::from(*value));
        }
        for (place, (total, sum)) in places.iter_mut().zip(sums) {
            if total > 0.0 {
                *place = sum.iter().map(|sum| sum / total).collect();
            }
        }
    }
    places
}

/// Hard assignment of each member to the nearest centre, `[members, centres]`.
pub(super) fn nearest(codes: &Codes, members: &[Member], places: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let belongs = |(row, _): &Member| {
        let mut belongs = vec![0.0; places.len()];
        belongs[closest(codes, *row, places)] = 1.0;
        belongs
    };
    members.iter().map(belongs).collect()
}

fn closest(codes: &Codes, row: usize, places: &[Vec<f64>]) -> usize {
    let distances: Vec<f64> = places
        .iter()
        .map(|place| apart(codes, row, place))
        .collect();
    let smaller = |best, k| {
        if distances[k] < distances[best] {
            k
        } else {
            best
        }
    };
    (0..places.len()).fold(0, smaller)
}

/// Squared distance.
fn apart(codes: &Codes, row: usize, place: &[f64]) -> f64 {
    let pairs = codes.mean.row(row).iter().zip(place);
    pairs
        .map(|(z, place)| (f64::from(*z) - place).powi(2))
        .sum()
}
