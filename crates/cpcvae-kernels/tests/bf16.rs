//! Packing compared with its definition, and bfloat16 products with plain ones: on AMX tiles (in
//! hardware or emulated) and with vector instructions, where the machine has them.

use cpcvae_kernels::bf16::{PackedLeft, PackedRight, Tile, multiply_portable, round_to_bf16};
use cpcvae_kernels::isa::Isa;
use cpcvae_kernels::random::{self, Stream};

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod amx_emulator;

/// Around the sides of tiles and of blocks of tiles.
const EDGES: [usize; 10] = [0, 1, 15, 16, 17, 31, 32, 33, 63, 65];

fn normals(purpose: u32, count: usize) -> Vec<f32> {
    let mut out = vec![0.0; count];
    let stream = Stream {
        seed: 31,
        step: 0,
        purpose,
    };
    random::normal(stream, &mut out);
    out
}

fn rounded(values: &[f32]) -> Vec<f32> {
    let mut rounded = vec![0.0; values.len()];
    round_to_bf16(values, &mut rounded);
    rounded
}

/// The transposed of `values [rows, columns]`.
fn transposed(rows: usize, columns: usize, values: &[f32]) -> Vec<f32> {
    (0..rows * columns)
        .map(|at| values[at % rows * columns + at / rows])
        .collect()
}

fn packed(m: usize, k: usize, n: usize, a: &[f32], b: &[f32]) -> (PackedLeft, PackedRight) {
    let (mut left, mut right) = (PackedLeft::default(), PackedRight::default());
    left.pack(m, k, a, false);
    right.pack(k, n, b, false);
    (left, right)
}

/// The number of step `k` in its word.
fn word_half(word: u32, k: usize) -> f32 {
    f32::from_bits([word << 16, word & 0xffff_0000][k % 2])
}

fn check_packing(lines: usize, depth: usize, left: &mut PackedLeft, right: &mut PackedRight) {
    let source = normals(2, lines * depth);
    let turned = transposed(lines, depth, &source);
    let source_rounded = rounded(&source);
    let value = |line: usize, k: usize| match line < lines && k < depth {
        true => source_rounded[line * depth + k],
        false => 0.0,
    };
    let k_tiles = depth.div_ceil(32);
    let name = format!("{lines} lines of {depth}");
    for is_turned in [false, true] {
        let (for_left, for_right) = if is_turned {
            (&turned, &source)
        } else {
            (&source, &turned)
        };
        left.pack(lines, depth, for_left, is_turned);
        right.pack(depth, lines, for_right, is_turned);
        assert_eq!((left.rows(), left.depth()), (lines, depth));
        assert_eq!((right.columns(), right.depth()), (lines, depth));
        assert_eq!(left.tiles().len(), lines.div_ceil(16) * k_tiles);
        assert_eq!(right.tiles().len(), lines.div_ceil(32) * k_tiles * 2);
        for line in 0..lines.next_multiple_of(32) {
            for k in 0..k_tiles * 32 {
                let (k_tile, p) = (k / 32, k % 32 / 2);
                if line < lines.next_multiple_of(16) {
                    let tile: &Tile = &left.tiles()[line / 16 * k_tiles + k_tile];
                    let packed = word_half(tile.words[line % 16][p], k);
                    assert_eq!(packed, value(line, k), "left, {name}: {line}, {k}");
                }
                let tile = &right.tiles()[(line / 32 * k_tiles + k_tile) * 2 + line % 32 / 16];
                let packed = word_half(tile.words[p][line % 16], k);
                assert_eq!(packed, value(line, k), "right, {name}: {line}, {k}");
            }
        }
    }
}

#[test]
fn packing() {
    for isa in Isa::supported() {
        // Used repeatedly: nothing may be left over from larger factors.
        let (mut left, mut right) = (PackedLeft::default(), PackedRight::default());
        isa.run(|| {
            check_packing(300, 250, &mut left, &mut right); // on several threads
            for lines in EDGES {
                for depth in EDGES {
                    check_packing(lines, depth, &mut left, &mut right);
                }
            }
        });
    }
}

#[test]
fn packing_again_keeps_the_memory() {
    let source = normals(3, 70 * 90);
    let mut right = PackedRight::default();
    right.pack(70, 90, &source, false);
    let memory = right.tiles().as_ptr();
    assert_eq!(memory as usize % 64, 0);
    right.pack(20, 30, &source[..600], false);
    right.pack(90, 70, &source, true);
    assert_eq!(right.tiles().as_ptr(), memory);
}

#[test]
fn tiles_of_what_is_not_a_number() {
    let (mut left, mut right) = (PackedLeft::default(), PackedRight::default());
    let a = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY];
    left.pack(1, 3, &a, false);
    right.pack(3, 1, &a, false);
    for word in [
        left.tiles()[0].words[0],
        right.tiles()[0].words.map(|row| row[0]),
    ] {
        assert!(word_half(word[0], 0).is_nan());
        assert_eq!(word_half(word[0], 1), f32::INFINITY);
        assert_eq!(word_half(word[1], 2), f32::NEG_INFINITY);
    }
}

/// Products on tiles, those of this machine or emulated, and on its vectors.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod products {
    use super::*;
    use cpcvae_kernels::bf16::{self, ProductEngine};

    type Multiply = fn(&PackedLeft, &PackedRight, &mut [f32], bool);

    fn on_tiles(left: &PackedLeft, right: &PackedRight, c: &mut [f32], accumulate: bool) {
        if Isa::Amx.is_supported() {
            Isa::Amx.run(|| bf16::multiply(left, right, c, accumulate));
        } else {
            amx_emulator::install();
            // SAFETY: the instructions are emulated on all threads.
            unsafe {
                bf16::multiply_unchecked_support(ProductEngine::Tiles, left, right, c, accumulate);
            }
            assert!(amx_emulator::tiles_are_released());
        }
    }

    fn on_vectors(left: &PackedLeft, right: &PackedRight, c: &mut [f32], accumulate: bool) {
        Isa::Avx512Bf16.run(|| bf16::multiply(left, right, c, accumulate));
    }

    /// All engines that can be tested here, by name.
    fn engines() -> Vec<(&'static str, Multiply)> {
        let mut all = vec![("tiles", on_tiles as Multiply)];
        if Isa::Avx512Bf16.is_supported() {
            all.push(("vectors", on_vectors));
        }
        all
    }

    /// `a [m, k]` times `b [k, n]`, both rounded, and the sums of the absolute terms.
    fn plain(m: usize, k: usize, n: usize, a: &[f32], b: &[f32]) -> Vec<(f64, f64)> {
        let (a, b) = (rounded(a), rounded(b));
        let term = |i: usize, l: usize, j: usize| f64::from(a[i * k + l]) * f64::from(b[l * n + j]);
        let sums = |(sum, size): (f64, f64), term: f64| (sum + term, size + term.abs());
        (0..m * n)
            .map(|at| {
                (0..k)
                    .map(|l| term(at / n, l, at % n))
                    .fold((0.0, 0.0), sums)
            })
            .collect()
    }

    fn assert_products(name: &str, c: &[f32], expected: &[(f64, f64)], times: f64) {
        for (at, (c, (sum, size))) in c.iter().zip(expected).enumerate() {
            let error = (f64::from(*c) - times * sum).abs();
            // A sum of a hundred terms rounds a hundred times by up to 6e-8 of their size.
            assert!(error <= 2e-6 * size, "{name}[{at}]: {c}, expected {sum}");
        }
    }

    fn check(m: usize, k: usize, n: usize) {
        let (a, b) = (normals(1, m * k), normals(2, k * n));
        let (left, right) = packed(m, k, n, &a, &b);
        let expected = plain(m, k, n, &a, &b);
        let portable = ("portable", multiply_portable as Multiply);
        for (kind, multiply) in engines().into_iter().chain([portable]) {
            let name = format!("{kind} {m}x{k}x{n}");
            let mut c = vec![f32::NAN; m * n];
            multiply(&left, &right, &mut c, false);
            assert_products(&name, &c, &expected, 1.0);
            multiply(&left, &right, &mut c, true);
            assert_products(&format!("{name} twice"), &c, &expected, 2.0);
        }
    }

    #[test]
    fn edges() {
        for m in EDGES {
            for (i, k) in EDGES.into_iter().enumerate() {
                check(m, k, EDGES[(i * 3 + m) % EDGES.len()]);
            }
            check(m, 40, 64);
            check(64, 40, m);
        }
    }

    #[test]
    fn random_shapes() {
        for shape in normals(4, 90).chunks_exact(3) {
            let size = |i: usize| (60.0 * shape[i].abs()) as usize;
            check(size(0), size(1), size(2));
        }
    }

    #[test]
    fn larger() {
        check(100, 200, 150);
        check(1, 500, 300);
        check(300, 70, 2);
    }

    /// Large enough to be split; each thread count splits differently.
    #[test]
    fn thread_counts_do_not_matter() {
        for (m, k, n) in [(600, 70, 230), (900, 320, 31), (40, 220, 1000)] {
            assert!(m * k * n / 256 > 32 * 1024, "not split");
            let (left, right) = packed(m, k, n, &normals(1, m * k), &normals(2, k * n));
            for (name, multiply) in engines() {
                let bits = [1, 2, 3].map(|threads| {
                    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
                    let mut c = normals(3, m * n);
                    let multiply = || multiply(&left, &right, &mut c, true);
                    pool.build().unwrap().install(multiply);
                    c.into_iter().map(f32::to_bits).collect::<Vec<_>>()
                });
                assert!(bits[0] == bits[1] && bits[0] == bits[2], "{name}");
            }
        }
    }

    /// Infinity times the zeros that pad tiles would be NaN.
    #[test]
    fn not_a_number_stays_in_its_row_and_column() {
        let (m, k, n) = (20, 35, 40);
        let (mut a, mut b) = (vec![1.0; m * k], vec![1.0; k * n]);
        a[3 * k + 34] = f32::NAN;
        a[18 * k] = f32::INFINITY;
        b[34 * n + 7] = f32::NEG_INFINITY;
        let (left, right) = packed(m, k, n, &a, &b);
        for (name, multiply) in engines() {
            let mut c = vec![0.0; m * n];
            multiply(&left, &right, &mut c, false);
            for (at, c) in c.into_iter().enumerate() {
                match (at / n, at % n) {
                    (3, _) | (18, 7) => assert!(c.is_nan(), "{name}"),
                    (18, _) => assert_eq!(c, f32::INFINITY, "{name}"),
                    (_, 7) => assert_eq!(c, f32::NEG_INFINITY, "{name}"),
                    _ => assert_eq!(c, 35.0, "{name}"),
                }
            }
        }
    }

    #[test]
    fn self_check() {
        if !Isa::Amx.is_supported() {
            amx_emulator::install();
            for isa in Isa::supported() {
                // SAFETY: the instructions are emulated on this thread.
                assert!(unsafe { bf16::self_check(isa, ProductEngine::Tiles) });
            }
        }
    }

    #[test]
    #[should_panic]
    fn depths_must_agree() {
        let (left, _) = packed(2, 3, 1, &[0.0; 6], &[0.0; 3]);
        let (_, right) = packed(1, 2, 2, &[0.0; 2], &[0.0; 4]);
        on_tiles(&left, &right, &mut [0.0; 4], false);
    }
}
