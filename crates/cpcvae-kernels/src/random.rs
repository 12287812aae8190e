//! Counter-based random numbers: element `i` of a stream is a pure function of the stream and `i`.
//!
//! The generator is Philox4x32-10 (Salmon et al., SC 2011). Streams that differ in seed, step or
//! purpose are independent, so a run can be resumed, and noise can be drawn on any thread.

use crate::isa::Isa;
use crate::math::{ln, sin_cos_turns};
use crate::parallel;

/// Identifies a stream of random numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    /// Seed of the run.
    pub seed: u64,
    /// Training step (or any other count).
    pub step: u64,
    /// Distinguishes the draws of one step.
    pub purpose: u32,
}

/// Fills `out` with uniform numbers in [0, 1), multiples of 2^-24.
pub fn uniform(stream: Stream, out: &mut [f32]) {
    fill(stream, out, uniform_blocks);
}

/// Fills `out` with standard normal numbers (Box-Muller).
pub fn normal(stream: Stream, out: &mut [f32]) {
    fill(stream, out, normal_blocks);
}

/// Philox blocks computed in parallel.
const LANES: usize = 16;
/// Elements from `LANES` blocks: elements `16 w .. 16 w + 16` come from word `w` of each.
const GROUP: usize = 4 * LANES;

/// Elements in one piece of work.
const PIECE: usize = 128 * GROUP;

fn fill(stream: Stream, out: &mut [f32], blocks: impl Fn(Isa, Stream, usize, &mut [f32]) + Sync) {
    let isa = Isa::current();
    let elements = out.len();
    let pieces = out.chunks_mut(PIECE).enumerate();
    parallel::timed_for_each("random numbers", elements, pieces, |(piece, out)| {
        blocks(isa, stream, piece * PIECE / GROUP, out);
    });
}

/// Ten rounds of Philox4x32.
#[inline(always)]
fn philox(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for _ in 0..10 {
        let [low0, high0] = multiply(0xd251_1f53, counter[0]);
        let [low1, high1] = multiply(0xcd9e_8d57, counter[2]);
        counter = [
            high1 ^ counter[1] ^ key[0],
            low1,
            high0 ^ counter[3] ^ key[1],
            low0,
        ];
        key = [
            key[0].wrapping_add(0x9e37_79b9),
            key[1].wrapping_add(0xbb67_ae85),
        ];
    }
    counter
}

/// Low and high half of a product.
#[inline(always)]
fn multiply(a: u32, b: u32) -> [u32; 2] {
    let product = u64::from(a) * u64::from(b);
    [product as u32, (product >> 32) as u32]
}

/// The words of one group, `[word][lane]`.
#[inline(always)]
fn words(stream: Stream, group: usize) -> [[u32; LANES]; 4] {
    let mut words = [[0; LANES]; 4];
    let key = [stream.seed as u32, (stream.seed >> 32) as u32];
    let first = (group * LANES) as u32;
    #[allow(clippy::needless_range_loop)] // a lane is a column here
    for lane in 0..LANES {
        let counter = [
            first.wrapping_add(lane as u32),
            stream.purpose,
            stream.step as u32,
            (stream.step >> 32) as u32,
        ];
        let block = philox(counter, key);
        for word in 0..4 {
            words[word][lane] = block[word];
        }
    }
    words
}

/// Copies complete groups and the beginning of the last one.
#[inline(always)]
fn store(group: &[[f32; LANES]; 4], out: &mut [f32]) {
    let group = group.as_flattened();
    out.copy_from_slice(&group[..out.len()]);
}

kernel! {
    fn uniform_blocks<FMA>(stream: Stream, first_group: usize, out: &mut [f32]) {
        for (group, out) in out.chunks_mut(GROUP).enumerate() {
            let words = words(stream, first_group + group);
            let mut values = [[0.0; LANES]; 4];
            for (values, words) in values.iter_mut().zip(&words) {
                for (value, word) in values.iter_mut().zip(words) {
                    *value = (word >> 8) as i32 as f32 * (1.0 / 16_777_216.0);
                }
            }
            store(&values, out);
        }
    }
}

kernel! {
    fn normal_blocks<FMA>(stream: Stream, first_group: usize, out: &mut [f32]) {
        for (group, out) in out.chunks_mut(GROUP).enumerate() {
            let words = words(stream, first_group + group);
            let mut values = [[0.0; LANES]; 4];
            for pair in [0, 2] {
                for lane in 0..LANES {
                    // In (0, 1], finer than 2^-24 so that the tails reach to 6.6.
                    let u = ((words[pair][lane] >> 1) as i32 as f32 + 0.5) * (1.0 / 2_147_483_648.0);
                    let turns = (words[pair + 1][lane] >> 8) as i32 as f32 * (1.0 / 16_777_216.0);
                    let radius = (-2.0 * ln::<FMA>(u)).sqrt();
                    let (sin, cos) = sin_cos_turns::<FMA>(turns);
                    values[pair][lane] = radius * sin;
                    values[pair + 1][lane] = radius * cos;
                }
            }
            store(&values, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From the Random123 distribution's `kat_vectors` (philox 4x32, 10 rounds).
    #[test]
    fn known_answers() {
        assert_eq!(
            philox([0; 4], [0; 2]),
            [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]
        );
        assert_eq!(
            philox([u32::MAX; 4], [u32::MAX; 2]),
            [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]
        );
        assert_eq!(
            philox(
                [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
                [0xa409_3822, 0x299f_31d0]
            ),
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
        );
    }
}
