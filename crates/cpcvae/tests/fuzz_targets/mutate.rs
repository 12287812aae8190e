//! Random mutations of files, without a fuzzer: numbers, words and bytes.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Replacements for numbers and words.
const VALUES: [&str; 20] = [
    "0",
    "-1",
    "1",
    "2",
    "7",
    "255",
    "65536",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "1e30",
    "-1e30",
    "1e-30",
    "0.5",
    "1e999",
    "null",
    "[]",
    "{}",
    "true",
    "\"x\"",
];

/// Draws changes, deterministic for a seed.
pub struct Mutator(ChaCha8Rng);

impl Mutator {
    /// From a seed.
    pub fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    fn below(&mut self, count: usize) -> usize {
        self.0.random_range(0..count.max(1))
    }

    /// A random element.
    pub fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    /// A copy with one to four changes; parts are taken from `other`. The first byte is kept.
    pub fn changed(&mut self, file: &[u8], other: &[u8]) -> Vec<u8> {
        let mut changed = file.to_vec();
        for _ in 0..=self.below(4) {
            let end = changed.len();
            let from = 1 + self.below(end.saturating_sub(1));
            let to = end.min(from + self.below(30));
            if from >= end {
                return changed;
            }
            match self.below(8) {
                0 => changed[from] = self.below(256) as u8,
                1 => changed[from] ^= 1 << self.below(8),
                2 => drop(changed.drain(from..to)),
                3 => {
                    let copy = changed[from..to].to_vec();
                    changed.splice(from..from, copy);
                }
                4 => {
                    let start = self.below(other.len());
                    let part = &other[start..other.len().min(start + 30)];
                    changed.splice(from..to, part.iter().copied());
                }
                // Most of the information in these files is in numbers and words.
                _ => {
                    let is_word =
                        |byte: &u8| byte.is_ascii_alphanumeric() || b"+-._\"".contains(byte);
                    let Some(start) = changed[from..].iter().position(is_word) else {
                        continue;
                    };
                    let word = &changed[from + start..];
                    let length = word
                        .iter()
                        .position(|byte| !is_word(byte))
                        .unwrap_or(word.len());
                    let value = self.pick(&VALUES).bytes();
                    changed.splice(from + start..from + start + length, value);
                }
            }
        }
        changed
    }
}
