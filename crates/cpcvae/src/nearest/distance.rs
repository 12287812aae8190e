//! Distances of rows to the kept ones, by their known cells.

use super::NearestRows;
use cpcvae_data::Matrix;
use cpcvae_kernels::neighbours::nearest;
use rayon::prelude::*;

/// The distance of a row is the mean over this many neighbours.
const COMPARED: usize = 5;
/// Cells that are added up in parallel, so that the compiler can use vector instructions.
const LANES: usize = 8;

impl NearestRows {
    /// Percentile rank of the distance of each of `rows [rows, columns]`: of 100 training rows, how
    /// many are at least as far from the others. Only known cells count: a row is compared with
    /// training rows of which as many cells are hidden.
    pub fn percentiles(&self, rows: &Matrix) -> Vec<f32> {
        self.usual
            .percentiles(&self.nearness(rows, None), rows, &self.places)
    }

    /// Minus the mean distance of each row to the nearest kept ones by its known cells. `own` gives
    /// the numbers of the rows themselves among the kept ones, which are left out.
    pub(super) fn nearness(&self, rows: &Matrix, own: Option<&[u32]>) -> Vec<f32> {
        let width = rows.columns.max(1);
        let (mut found, mut whole) = (vec![0.0; rows.rows], Vec::new());
        for (row, found) in found.iter_mut().enumerate() {
            match rows.row(row).iter().any(|value| value.is_nan()) {
                true => *found = f32::NAN,
                false => whole.push(row),
            }
        }
        let with_gaps = found.par_iter_mut().enumerate();
        let with_gaps = with_gaps.filter(|(_, found)| found.is_nan());
        with_gaps.for_each(|(row, found)| {
            let own = own.map_or(usize::MAX, |own| own[row] as usize);
            *found = -self.distance_of_known(rows.row(row), own);
        });
        let queries: Vec<f32> = whole
            .iter()
            .flat_map(|row| &rows.values[row * width..][..width])
            .copied()
            .collect();
        if !whole.is_empty() {
            // A row is the nearest to itself.
            let count = COMPARED + usize::from(own.is_some());
            let near = nearest(width, &queries, &self.zero_filled, count);
            let each = near.rows.chunks_exact(near.count);
            let each = each.zip(near.distances.chunks_exact(near.count));
            for (row, (others, distances)) in whole.into_iter().zip(each) {
                let own = own.map_or(u32::MAX, |own| own[row]);
                let others = others.iter().zip(distances);
                let others = others.filter(|(other, _)| **other != own);
                let distances: Vec<f32> = others.map(|(_, d)| *d).take(COMPARED).collect();
                found[row] = -mean(&distances);
            }
        }
        found
    }

    /// The mean distance of a row with missing cells to the nearest kept ones; cells that these
    /// lack count as their column's mean.
    fn distance_of_known(&self, row: &[f32], own: usize) -> f32 {
        let known: Vec<f32> = row
            .iter()
            .map(|v| f32::from(u8::from(!v.is_nan())))
            .collect();
        let row: Vec<f32> = row
            .iter()
            .map(|v| if v.is_nan() { 0.0 } else { *v })
            .collect();
        // In increasing order.
        let mut nearest = [f32::INFINITY; COMPARED];
        for (number, other) in self.zero_filled.chunks_exact(row.len()).enumerate() {
            let square = square(&row, other, &known);
            if square < nearest[COMPARED - 1] && number != own {
                let place = nearest.partition_point(|other| *other <= square);
                nearest.copy_within(place..COMPARED - 1, place + 1);
                nearest[place] = square;
            }
        }
        let there = nearest.iter().filter(|square| square.is_finite());
        mean(&there.map(|square| square.sqrt()).collect::<Vec<f32>>())
    }
}

/// The squared distance over known cells: `known` is 1 for these, 0 for the others.
fn square(a: &[f32], b: &[f32], known: &[f32]) -> f32 {
    let of_cell = |place: usize| known[place] * (a[place] - b[place]).powi(2);
    let whole = a.len() - a.len() % LANES;
    let mut sums = [0.0; LANES];
    let lanes = a[..whole].chunks_exact(LANES);
    let lanes = lanes
        .zip(b.chunks_exact(LANES))
        .zip(known.chunks_exact(LANES));
    for ((a, b), known) in lanes {
        for lane in 0..LANES {
            sums[lane] += known[lane] * (a[lane] - b[lane]).powi(2);
        }
    }
    sums.iter().sum::<f32>() + (whole..a.len()).map(of_cell).sum::<f32>()
}

fn mean(distances: &[f32]) -> f32 {
    distances.iter().sum::<f32>() / distances.len().max(1) as f32
}
