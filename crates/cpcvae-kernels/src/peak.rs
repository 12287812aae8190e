//! Peak floating-point throughput of this machine, as a reference for products.

use crate::isa::Isa;
use std::hint::black_box;
use std::time::Instant;

/// Vectors that are accumulated in parallel: enough to hide the latency of a fused multiply-add,
/// and few enough for 16 registers.
const SUMS: usize = 12;
const ROUNDS: usize = 4_000_000;

/// Fused multiply-adds of `f32` in registers on `threads` threads at once, in GFLOP/s: the best
/// of several tries.
pub fn fma_gflops(threads: usize) -> f64 {
    let isa = Isa::current();
    let lanes = match isa {
        Isa::Amx | Isa::Avx512Bf16 | Isa::Avx512 => 16,
        Isa::Avx2 => 8,
        Isa::Portable => 4,
    };
    let work = || match lanes {
        16 => wide(isa, black_box(0.999), black_box(1e-3)),
        8 => half(isa, black_box(0.999), black_box(1e-3)),
        _ => quarter(isa, black_box(0.999), black_box(1e-3)),
    };
    let one_try = || {
        let begin = Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| black_box(work()));
            }
        });
        let flop = 2.0 * (lanes * SUMS * ROUNDS * threads) as f64;
        flop / begin.elapsed().as_secs_f64() / 1e9
    };
    (0..5).map(|_| one_try()).fold(0.0, f64::max)
}

/// A kernel that keeps `SUMS` vectors in registers.
macro_rules! multiply_adds {
    ($name:ident, $lanes:literal) => {
        kernel! {
            fn $name<FMA>(factor: f32, term: f32) -> f32 {
                let mut sums = [1.0f32; SUMS * $lanes];
                for _ in 0..ROUNDS {
                    for sum in &mut sums {
                        *sum = crate::math::fma::<FMA>(*sum, factor, term);
                    }
                }
                crate::math::sum(&sums)
            }
        }
    };
}

multiply_adds!(wide, 16);
multiply_adds!(half, 8);
multiply_adds!(quarter, 4);

#[cfg(test)]
mod tests {
    #[test]
    fn is_a_speed() {
        let speed = super::fma_gflops(1);
        assert!(speed.is_finite() && speed > 0.0);
    }
}
