//! Products of small matrices, of which there is one for each point of a patch.

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

/// The right factor: its rows, of which [`COLUMNS`] numbers are used, start every `row_step`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Right<'a> {
    pub words: &'a [f32],
    pub row_step: usize,
}

/// `to [rows, COLUMNS] = left [rows, depth] right [depth, COLUMNS]`, or that added to it. The factors are
/// words, what comes out is numbers.
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
            // SAFETY: that there is enough of both factors was checked above.
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

/// As many rows as fit the registers: all their sums are kept there.
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
            // SAFETY: the left factor has a row `i` and a column `k`.
            let place = i * left.row_step + k * left.depth_step;
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
