//! Packs weights for the forward product and, transposed, for the input gradient in one pass: an
//! update changes all of them, and they do not fit in the caches.

use super::packing::{DEPTH, PackedRight, RIGHT_PAIR, SIDE, Tile};
use super::tile_words::Source;
use super::vector_words;
use crate::parallel;

/// Sides of the square of weights that is read at once: two tiles of either layout.
const SQUARE: usize = RIGHT_PAIR * SIDE;
const _: () = assert!(SQUARE == DEPTH);

/// The tiles of the forward layout, which threads share.
struct Shared(*mut Tile);

// SAFETY: `pack` writes each tile from one thread only.
unsafe impl Sync for Shared {}

/// Packs `w [k, n]` into `forward [k, n]` and, transposed, into `backward [n, k]`, replacing their
/// content.
///
/// # Panics
/// If the length does not fit the shape, or [`vector_words`] are not supported.
pub(super) fn pack(
    forward: &mut PackedRight,
    backward: &mut PackedRight,
    [k, n]: [usize; 2],
    w: &[f32],
) {
    assert_eq!(w.len(), k * n);
    assert!(vector_words::is_supported());
    let down = Source {
        lines: n,
        depth: k,
        values: w,
    };
    let across = Source {
        lines: k,
        depth: n,
        values: w,
    };
    let forward = Shared(forward.tiles_for(n, k).as_mut_ptr());
    let backward = backward.tiles_for(k, n);
    let (strips, squares) = (k.div_ceil(SQUARE), n.div_ceil(SQUARE));
    let of_strips = backward.chunks_mut((RIGHT_PAIR * squares).max(1));
    parallel::for_each(w.len(), of_strips.enumerate(), |(strip, backward)| {
        let forward = &forward;
        for square in 0..squares {
            for half in 0..RIGHT_PAIR {
                let [top, left] = [strip * SQUARE, square * SQUARE];
                let place = (square * strips + strip) * RIGHT_PAIR + half;
                // SAFETY: the layout has `squares * strips` pairs of tiles, and only this strip
                // writes those of its own number.
                let words = unsafe { &mut (*forward.0.add(place)).words };
                let column = left + half * SIDE;
                if column < n {
                    // SAFETY: supported, and the place lies within the weights.
                    unsafe { vector_words::words(down, true, false, [column, top], words) };
                } else {
                    *words = Tile::ZERO.words;
                }
                let words = &mut backward[square * RIGHT_PAIR + half].words;
                let row = top + half * SIDE;
                if row < k {
                    // SAFETY: as above.
                    unsafe { vector_words::words(across, false, true, [row, left], words) };
                } else {
                    *words = Tile::ZERO.words;
                }
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_tiles_as_packing_each_way() {
        if !vector_words::is_supported() {
            eprintln!("skipped: this machine has no AVX-512 BF16");
            return;
        }
        let [mut forward, mut backward, mut one_way] = [(); 3].map(|_| PackedRight::default());
        // Larger ones first, so that memory of earlier tiles is reused.
        for (k, n) in [(300, 500), (33, 47), (32, 64), (17, 16), (1, 1), (31, 200)] {
            let value = |i: usize| (i * 31 % 1009) as f32 * 0.37 - 100.0;
            let w: Vec<f32> = (0..k * n).map(value).collect();
            pack(&mut forward, &mut backward, [k, n], &w);
            one_way.pack(k, n, &w, false);
            assert_eq!((forward.depth(), forward.columns()), (k, n));
            assert!(forward.tiles() == one_way.tiles(), "{k} x {n} forward");
            one_way.pack(n, k, &w, true);
            assert_eq!((backward.depth(), backward.columns()), (n, k));
            assert!(backward.tiles() == one_way.tiles(), "{k} x {n} backward");
        }
    }
}
