//! Exact nearest neighbours of each row among all rows, by blocked matrix products.

use crate::product::product_f32;
use crate::timing::timed;
use rayon::prelude::*;

/// Rows whose neighbours are searched at once.
const QUERIES: usize = 256;
/// Rows they are compared with at once: a block of squared distances has 4 MiB.
const OTHERS: usize = 4096;

/// The nearest neighbours of rows, nearest first.
#[derive(Clone, Debug, PartialEq)]
pub struct Neighbours {
    /// Neighbours of each row.
    pub count: usize,
    /// `[rows, count]` row numbers.
    pub rows: Vec<u32>,
    /// `[rows, count]` Euclidean distances.
    pub distances: Vec<f32>,
}

/// The `count` nearest rows of each query, by Euclidean distance; fewer if there are not as many.
/// `queries [n, width]`, `others [m, width]`. Ties go to the earlier row.
///
/// # Panics
/// If the lengths are not multiples of the width, or a query has a row number to leave out but
/// there are not as many rows as queries.
pub fn nearest(width: usize, queries: &[f32], others: &[f32], count: usize) -> Neighbours {
    search(width, queries, others, count, false)
}

/// The `count` nearest other rows of each row of `rows [n, width]`.
///
/// # Panics
/// If the length is not a multiple of the width.
pub fn nearest_others(width: usize, rows: &[f32], count: usize) -> Neighbours {
    search(width, rows, rows, count, true)
}

fn search(
    width: usize,
    queries: &[f32],
    others: &[f32],
    count: usize,
    same_rows: bool,
) -> Neighbours {
    assert!(width > 0 && queries.len().is_multiple_of(width));
    assert!(others.len().is_multiple_of(width));
    let candidates = (others.len() / width).saturating_sub(usize::from(same_rows));
    let count = count.min(candidates);
    let rows = queries.len() / width;
    let mut found = Neighbours {
        count,
        rows: vec![0; rows * count],
        distances: vec![0.0; rows * count],
    };
    if count == 0 {
        return found;
    }
    // |q - o|^2 = |q|^2 - 2 q o + |o|^2 loses precision where rows are far from the origin.
    let centre = column_means(width, others);
    let others_centred = centred(others, &centre);
    let queries_centred = if same_rows {
        None
    } else {
        Some(centred(queries, &centre))
    };
    let queries_centred = queries_centred.as_ref().unwrap_or(&others_centred);
    let norms = squared_norms(width, &others_centred);

    let mut products = vec![0.0; QUERIES * OTHERS];
    let blocks = queries_centred.chunks(QUERIES * width);
    for (block, some) in blocks.enumerate() {
        let first = block * QUERIES;
        let here = some.len() / width;
        let mut nearest = vec![Nearest::new(count); here];
        for (other_block, some_others) in others_centred.chunks(OTHERS * width).enumerate() {
            let there = some_others.len() / width;
            let offset = other_block * OTHERS;
            let products = &mut products[..here * there];
            timed("neighbours: products", 0.0, || {
                let shape = [here, width, there];
                product_f32(shape, (some, false), (some_others, true), products);
            });
            let norms = &norms[offset..offset + there];
            let of_queries = nearest.par_iter_mut().zip(products.par_chunks(there));
            of_queries
                .enumerate()
                .for_each(|(query, (nearest, products))| {
                    let itself = if same_rows { first + query } else { usize::MAX };
                    for (other, (norm, product)) in norms.iter().zip(products).enumerate() {
                        // The query's own norm is the same for all, so it is left out.
                        let distance = norm - 2.0 * product;
                        if distance < nearest.bound && offset + other != itself {
                            nearest.insert(distance, (offset + other) as u32);
                        }
                    }
                });
        }
        let slots = found.rows[first * count..(first + here) * count].chunks_mut(count);
        let slots = slots.zip(found.distances[first * count..].chunks_mut(count));
        for ((query, nearest), (rows, distances)) in nearest.into_iter().enumerate().zip(slots) {
            let query = &some[query * width..][..width];
            nearest.exact(query, &others_centred, rows, distances);
        }
    }
    found
}

/// The nearest so far, in ascending order.
#[derive(Clone, Debug)]
struct Nearest {
    found: Vec<(f32, u32)>,
    count: usize,
    /// Only smaller distances are inserted.
    bound: f32,
}

impl Nearest {
    fn new(count: usize) -> Self {
        Self {
            found: Vec::with_capacity(count + 1),
            count,
            bound: f32::INFINITY,
        }
    }

    fn insert(&mut self, distance: f32, row: u32) {
        let place = self.found.partition_point(|(other, _)| *other <= distance);
        self.found.insert(place, (distance, row));
        if self.found.len() > self.count {
            self.found.pop();
        }
        if self.found.len() == self.count {
            self.bound = self.found[self.count - 1].0;
        }
    }

    /// Writes rows and distances, computed again without cancellation.
    fn exact(&self, query: &[f32], others: &[f32], rows: &mut [u32], distances: &mut [f32]) {
        let width = query.len();
        let mut exact: Vec<(f32, u32)> = self
            .found
            .iter()
            .map(|(_, row)| {
                let other = &others[*row as usize * width..][..width];
                let squares = query.iter().zip(other).map(|(a, b)| (a - b) * (a - b));
                (squares.sum::<f32>().sqrt(), *row)
            })
            .collect();
        exact.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for ((row, distance), (exact_distance, exact_row)) in
            rows.iter_mut().zip(distances).zip(exact)
        {
            (*row, *distance) = (exact_row, exact_distance);
        }
    }
}

fn column_means(width: usize, rows: &[f32]) -> Vec<f32> {
    let mut sums = vec![0.0f64; width];
    for row in rows.chunks_exact(width) {
        for (sum, value) in sums.iter_mut().zip(row) {
            *sum += f64::from(*value);
        }
    }
    let count = (rows.len() / width).max(1) as f64;
    sums.iter().map(|sum| (sum / count) as f32).collect()
}

fn centred(rows: &[f32], centre: &[f32]) -> Vec<f32> {
    let rows = rows.chunks_exact(centre.len());
    rows.flat_map(|row| row.iter().zip(centre).map(|(value, mean)| value - mean))
        .collect()
}

fn squared_norms(width: usize, rows: &[f32]) -> Vec<f32> {
    rows.chunks_exact(width)
        .map(|row| row.iter().map(|value| value * value).sum())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Stream, normal};

    /// Every distance, sorted.
    fn plain(width: usize, queries: &[f32], others: &[f32], count: usize, same: bool) -> Vec<u32> {
        let mut found = Vec::new();
        for (q, query) in queries.chunks_exact(width).enumerate() {
            let mut all: Vec<(f32, u32)> = others
                .chunks_exact(width)
                .enumerate()
                .filter(|(o, _)| !(same && *o == q))
                .map(|(o, other)| {
                    let squares = query.iter().zip(other).map(|(a, b)| (a - b) * (a - b));
                    (squares.sum::<f32>(), o as u32)
                })
                .collect();
            all.sort_by(|a, b| a.0.total_cmp(&b.0));
            found.extend(all.iter().take(count).map(|(_, row)| *row));
        }
        found
    }

    #[test]
    fn blocks_find_what_a_full_search_finds() {
        for (rows, width, count) in [(1, 3, 2), (2, 1, 1), (17, 5, 3), (300, 7, 10), (4200, 3, 5)] {
            let mut values = vec![0.0; rows * width];
            let stream = Stream {
                seed: rows as u64,
                step: 0,
                purpose: 0,
            };
            normal(stream, &mut values);
            // Far from the origin, where products alone would cancel.
            values.iter_mut().for_each(|value| *value += 50.0);
            let found = nearest_others(width, &values, count);
            assert_eq!(found.count, count.min(rows - 1));
            assert_eq!(
                found.rows,
                plain(width, &values, &values, found.count, true)
            );
            let queries = &values[..width * rows.min(9)];
            let found = nearest(width, queries, &values, count);
            assert_eq!(
                found.rows,
                plain(width, queries, &values, found.count, false)
            );
            assert!(
                found
                    .distances
                    .iter()
                    .step_by(found.count)
                    .all(|d| *d == 0.0)
            );
        }
    }

    #[test]
    fn one_row_has_no_neighbours() {
        assert_eq!(nearest_others(2, &[1.0, 2.0], 3).count, 0);
    }
}
