//! The random numbers of `cpcvae_kernels::random` in plain tensor operations, for devices other
//! than the CPU: the numbers are made on the device. Uniform numbers are the same to the bit,
//! normal ones up to the rounding of logarithm, sine and cosine.
//!
//! Burn's own generator is not a function of a seed: devices draw lazily from one generator of the
//! whole process, so that a draw may come after the seed of the next one was set.
//!
//! Integers on devices are signed and have 32 bits or more, so a word of Philox is two tensors,
//! with its upper and lower 16 bits.

use burn::tensor::{Device, Int, Tensor};
use cpcvae_kernels::random::Stream;

/// Elements `16 w .. 16 w + 16` of 64 come from word `w` of 16 blocks.
const LANES: usize = 16;
const GROUP: usize = 4 * LANES;

/// `length` uniform numbers in [0, 1), multiples of 2^-24.
pub(super) fn uniform(stream: Stream, length: usize, device: &Device) -> Tensor<1> {
    let words = blocks(stream, length.div_ceil(GROUP), device);
    interleave(words.map(|word| word.upper_24_bits()), length)
}

/// `length` standard normal numbers (Box-Muller).
pub(super) fn normal(stream: Stream, length: usize, device: &Device) -> Tensor<1> {
    let [a, b, c, d] = blocks(stream, length.div_ceil(GROUP), device);
    let pair = |first: Word, second: Word| {
        // In (0, 1], finer than 2^-24 so that the tails reach to 6.6.
        let u = first.upper_31_bits().add_scalar(0.5);
        let u = u.mul_scalar(1.0 / 2_147_483_648.0);
        let angle = second.upper_24_bits().mul_scalar(std::f64::consts::TAU);
        let radius = u.log().mul_scalar(-2.0).sqrt();
        [radius.clone() * angle.clone().sin(), radius * angle.cos()]
    };
    let [[a, b], [c, d]] = [pair(a, b), pair(c, d)];
    interleave([a, b, c, d], length)
}

/// Reorders the values of each word, `[groups * LANES]`, to the order of elements.
fn interleave(values: [Tensor<1>; 4], length: usize) -> Tensor<1> {
    let [blocks] = values[0].dims();
    let values = values.map(|word| word.reshape([blocks / LANES, 1, LANES]));
    let elements: Tensor<1> = Tensor::cat(values.to_vec(), 1).reshape([4 * blocks]);
    elements.narrow(0, 0, length)
}

/// Ten rounds of Philox4x32 for the counters of `groups` groups.
fn blocks(stream: Stream, groups: usize, device: &Device) -> [Word; 4] {
    let count = (groups * LANES) as i64;
    let index = Tensor::<1, Int>::arange(0..count, device);
    let same = |word: u32| Word::filled(word, &index);
    let mut counter = [
        Word::split(index.clone()),
        same(stream.purpose),
        same(stream.step as u32),
        same((stream.step >> 32) as u32),
    ];
    let mut key = [stream.seed as u32, (stream.seed >> 32) as u32];
    for _ in 0..10 {
        let [a, b, c, d] = counter;
        let ([high0, low0], [high1, low1]) = (a.times(0xd251_1f53), c.times(0xcd9e_8d57));
        counter = [
            high1.xor(b).xor_number(key[0]),
            low1,
            high0.xor(d).xor_number(key[1]),
            low0,
        ];
        key = [
            key[0].wrapping_add(0x9e37_79b9),
            key[1].wrapping_add(0xbb67_ae85),
        ];
    }
    counter
}

/// 32 bits of each element: the upper 16 and the lower 16.
#[derive(Clone)]
struct Word {
    high: Tensor<1, Int>,
    low: Tensor<1, Int>,
}

fn halves(number: u32) -> [i64; 2] {
    [number >> 16, number & 0xffff].map(i64::from)
}

/// Bits 0 to 15.
fn lower(number: Tensor<1, Int>) -> Tensor<1, Int> {
    number.bitwise_and_scalar(0xffff)
}

/// Bits 16 to 31, whatever the sign.
fn upper(number: Tensor<1, Int>) -> Tensor<1, Int> {
    lower(number.bitwise_right_shift_scalar(16))
}

impl Word {
    /// From numbers of at most 32 bits.
    fn split(numbers: Tensor<1, Int>) -> Self {
        Self {
            high: upper(numbers.clone()),
            low: lower(numbers),
        }
    }

    /// The same word for as many elements as `like` has.
    fn filled(word: u32, like: &Tensor<1, Int>) -> Self {
        let [high, low] = halves(word).map(|half| like.zeros_like().add_scalar(half));
        Self { high, low }
    }

    /// Upper and lower word of the product with `factor`. Products of halves have 32 bits, which
    /// may overflow into the sign without losing bits.
    fn times(self, factor: u32) -> [Self; 2] {
        let [factor_high, factor_low] = halves(factor);
        let low_low = self.low.clone().mul_scalar(factor_low);
        let low_high = self.low.mul_scalar(factor_high);
        let high_low = self.high.clone().mul_scalar(factor_low);
        let high_high = self.high.mul_scalar(factor_high);
        let second = upper(low_low.clone()) + lower(low_high.clone()) + lower(high_low.clone());
        let third =
            upper(low_high) + upper(high_low) + lower(high_high.clone()) + upper(second.clone());
        let high = Self {
            high: lower(upper(high_high) + upper(third.clone())),
            low: lower(third),
        };
        let low = Self {
            high: lower(second),
            low: lower(low_low),
        };
        [high, low]
    }

    fn xor(self, other: Self) -> Self {
        Self {
            high: self.high.bitwise_xor(other.high),
            low: self.low.bitwise_xor(other.low),
        }
    }

    fn xor_number(self, number: u32) -> Self {
        let [high, low] = halves(number);
        Self {
            high: self.high.bitwise_xor_scalar(high),
            low: self.low.bitwise_xor_scalar(low),
        }
    }

    /// As a fraction of 2^24.
    fn upper_24_bits(self) -> Tensor<1> {
        let number = self.high.mul_scalar(256) + self.low.bitwise_right_shift_scalar(8);
        number.float().mul_scalar(1.0 / 16_777_216.0)
    }

    fn upper_31_bits(self) -> Tensor<1> {
        let number = self.high.mul_scalar(32_768) + self.low.bitwise_right_shift_scalar(1);
        number.float()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpcvae_kernels::random;

    fn values(tensor: Tensor<1>) -> Vec<f32> {
        tensor.into_data().try_into_vec().expect("f32")
    }

    #[test]
    fn numbers_are_those_of_the_kernels() {
        let streams = [
            (0, 0, 1),
            (7, 123_456, 3),
            (u64::MAX, (1 << 40) + 5, u32::MAX),
        ];
        for (seed, step, purpose) in streams {
            let stream = Stream {
                seed,
                step,
                purpose,
            };
            for length in [1, 64, 1000, 100_003] {
                let mut expected = vec![0.0; length];
                random::uniform(stream, &mut expected);
                let found = values(uniform(stream, length, &Device::flex()));
                assert!(found == expected, "{stream:?}, {length}");
                random::normal(stream, &mut expected);
                let found = values(normal(stream, length, &Device::flex()));
                let apart = found.iter().zip(&expected).map(|(a, b)| (a - b).abs());
                assert!(apart.fold(0.0, f32::max) < 1e-5, "{stream:?}, {length}");
            }
        }
    }
}
