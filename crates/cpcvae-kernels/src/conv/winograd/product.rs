//! Products of small matrices, one for each point of a patch.

use super::lanes::{LANES, Lanes, Simd, Work};

/// Columns of a product.
pub(super) const COLUMNS: usize = 2 * LANES;

/// The left factor: its word in row `i` and column `k` is `words[i * row_step + k *
/// depth_step]`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Left<'a> {
    pub words: &'a [f32],
    pub row_step: usize,
    pub depth_step: usize,
}

/// The right factor: its rows start every `row_step`, and [`COLUMNS`] numbers of each are used.
#[derive(Clone, Copy, Debug)]
pub(super) struct Right<'a> {
    pub words: &'a [f32],
    pub row_step: usize,
}

/// `to [rows, COLUMNS] = left [rows, depth] right [depth, COLUMNS]`, or added to it. The factors
/// are words, the results are numbers.
#[derive(Debug)]
pub(super) struct Product<'a> {
    pub depth: usize,
    pub left: Left<'a>,
    pub right: Right<'a>,
    pub adds: bool,
    pub to: &'a mut [f32],
}

impl Work for Product<'_> {
    /// # Panics
    /// If a factor is too short.
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self {
            depth,
            left,
            right,
            adds,
            to,
        } = self;
        let to = to.as_chunks_mut::<COLUMNS>().0;
        let (Some(rows), Some(depths)) = (to.len().checked_sub(1), depth.checked_sub(1)) else {
            panic!("a product of nothing");
        };
        assert!(rows * left.row_step + depths * left.depth_step < left.words.len());
        assert!(depths * right.row_step + COLUMNS <= right.words.len());
        for (block, to) in to.chunks_mut(S::ROWS).enumerate() {
            let left = Left {
                words: &left.words[block * S::ROWS * left.row_step..],
                ..left
            };
            // SAFETY: the lengths of both factors were checked above.
            unsafe {
                match to.len() {
                    1 => rows_of::<S, 1>(simd, depth, left, right, adds, to),
                    2 => rows_of::<S, 2>(simd, depth, left, right, adds, to),
                    3 => rows_of::<S, 3>(simd, depth, left, right, adds, to),
                    4 => rows_of::<S, 4>(simd, depth, left, right, adds, to),
                    5 => rows_of::<S, 5>(simd, depth, left, right, adds, to),
                    6 => rows_of::<S, 6>(simd, depth, left, right, adds, to),
                    7 => rows_of::<S, 7>(simd, depth, left, right, adds, to),
                    _ => rows_of::<S, 8>(simd, depth, left, right, adds, to),
                }
            }
        }
    }
}

/// As many rows as fit into the registers, where all their sums are kept.
///
/// # Safety
/// The left factor has `N` rows and `depth` columns, the right one `depth` rows.
#[inline(always)]
unsafe fn rows_of<S: Simd, const N: usize>(
    simd: S,
    depth: usize,
    left: Left,
    right: Right,
    adds: bool,
    to: &mut [[f32; COLUMNS]],
) {
    let mut sums = [[simd.all(0.0); 2]; N];
    for k in 0..depth {
        // SAFETY: the right factor has a row `k`.
        let row = unsafe { right.words.get_unchecked(k * right.row_step..) };
        // SAFETY: of COLUMNS numbers, which are two times LANES.
        let [first, second] = unsafe { &*row.as_ptr().cast::<[[f32; LANES]; 2]>() };
        let (first, second) = (simd.load(first), simd.load(second));
        for (i, sums) in sums.iter_mut().enumerate() {
            let place = i * left.row_step + k * left.depth_step;
            // SAFETY: the left factor has a row `i` and a column `k`.
            let word = simd.all(unsafe { *left.words.get_unchecked(place) });
            sums[0] = simd.multiply_add(word, first, sums[0]);
            sums[1] = simd.multiply_add(word, second, sums[1]);
        }
    }
    for (sums, to) in sums.iter().zip(to) {
        for (sum, to) in sums.iter().zip(to.as_chunks_mut().0) {
            let sum = if adds { *sum + simd.load(to) } else { *sum };
            sum.store(to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::lanes::{pairs, run};
    use super::*;
    use crate::conv::block::ConvEngine;
    use crate::isa::Isa;
    use crate::product::Precision;

    /// Whole numbers, so that all sums are exact; also in bfloat16, two to a word.
    fn words(engine: ConvEngine, count: usize, factor: usize) -> (Vec<f32>, Vec<[f32; 2]>) {
        let number = |i: usize| (i * factor % 17) as f32 - 8.0;
        let both: Vec<[f32; 2]> = (0..count).map(|i| [number(i), number(i + 5)]).collect();
        if pairs(engine) {
            let word = |[first, second]: &[f32; 2]| {
                f32::from_bits(first.to_bits() >> 16 | second.to_bits() & 0xffff_0000)
            };
            return (both.iter().map(word).collect(), both);
        }
        let first = both.iter().map(|both| both[0]).collect();
        (first, both.iter().map(|both| [both[0], 0.0]).collect())
    }

    #[test]
    fn are_what_plain_loops_give() {
        let precisions = [Precision::F32, Precision::Bf16];
        let isas = Isa::supported()
            .into_iter()
            .filter(|isa| *isa != Isa::Portable);
        let engines =
            isas.flat_map(|isa| precisions.map(|precision| ConvEngine { precision, isa }));
        for engine in engines {
            for (rows, depth) in [
                (1, 1),
                (2, 3),
                (3, 1),
                (7, 5),
                (8, 16),
                (9, 2),
                (17, 33),
                (64, 8),
            ] {
                for (row_step, depth_step, right_step) in
                    [(depth, 1, 32), (1, rows, 48), (2 * depth, 2, 40)]
                {
                    let left_length = (rows - 1) * row_step + (depth - 1) * depth_step + 1;
                    let (left, left_numbers) = words(engine, left_length, 7);
                    let right_length = (depth - 1) * right_step + COLUMNS;
                    let (right, right_numbers) = words(engine, right_length, 11);
                    for adds in [false, true] {
                        let mut to = vec![3.0; rows * COLUMNS];
                        let product = Product {
                            depth,
                            left: Left {
                                words: &left,
                                row_step,
                                depth_step,
                            },
                            right: Right {
                                words: &right,
                                row_step: right_step,
                            },
                            adds,
                            to: &mut to,
                        };
                        run(engine, product);
                        for (place, found) in to.iter().enumerate() {
                            let (i, j) = (place / COLUMNS, place % COLUMNS);
                            let terms = (0..depth).map(|k| {
                                let a = left_numbers[i * row_step + k * depth_step];
                                let b = right_numbers[k * right_step + j];
                                a[0] * b[0] + a[1] * b[1]
                            });
                            let expected = terms.sum::<f32>() + if adds { 3.0 } else { 0.0 };
                            assert_eq!(*found, expected, "{engine:?} {rows} x {depth}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "left.words.len()")]
    fn a_short_factor_is_refused() {
        let engine = ConvEngine {
            precision: Precision::F32,
            isa: Isa::supported()[0],
        };
        let (left, right) = (vec![0.0; 9], vec![0.0; 5 * COLUMNS]);
        let product = Product {
            depth: 5,
            left: Left {
                words: &left,
                row_step: 5,
                depth_step: 1,
            },
            right: Right {
                words: &right,
                row_step: COLUMNS,
            },
            adds: false,
            to: &mut vec![0.0; 2 * COLUMNS],
        };
        run(engine, product);
    }
}
