//! Seeded randomness.
//!
//! Each use draws from its own ChaCha8 stream, keyed by its purpose, so that no draw depends on how
//! many numbers another part of the program has taken.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// What random numbers are for. The numbers are part of every result that a
/// seed reproduces: do not reuse or renumber them.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RandomPurpose {
    HalfMoonRows = 1,
    HalfMoonLabelled = 2,
    HalfMoonTest = 3,
    Glyph = 4,
    Split = 5,
    LabelledBatches = 6,
    UnlabelledBatches = 7,
    Folds = 8,
    ChooseLabels = 9,
    Shift = 10,
    Stretch = 11,
}

/// The generator for one purpose; `index` tells apart repeated uses, such as passes.
pub(crate) fn generator(seed: u64, purpose: RandomPurpose, index: u64) -> ChaCha8Rng {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..16].copy_from_slice(&(purpose as u64).to_le_bytes());
    key[16..24].copy_from_slice(&index.to_le_bytes());
    ChaCha8Rng::from_seed(key)
}
