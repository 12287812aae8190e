//! Detects whether this machine supports bfloat16 instructions, may use them, and computes
//! correctly with them.

#[cfg(target_arch = "x86_64")]
use super::tile_product::ProductEngine;
#[cfg(target_arch = "x86_64")]
use crate::isa::Isa;
#[cfg(target_arch = "x86_64")]
use std::sync::OnceLock;

/// Whether the processor has the AVX-512 instruction, it is fast enough to be useful, and a small
/// product is correct. Checked once, at the first call.
#[cfg(target_arch = "x86_64")]
pub(crate) fn are_vectors_supported() -> bool {
    static SUPPORTED: OnceLock<bool> = OnceLock::new();
    *SUPPORTED.get_or_init(|| {
        Isa::Avx512.is_supported()
            && is_x86_feature_detected!("avx512bf16")
            && processor_is_amds()
            // SAFETY: the conditions above.
            && unsafe { self_check(Isa::Avx512Bf16, ProductEngine::Vectors) }
    })
}

/// AMD's processors multiply pairs of bfloat16 at twice the rate of f32; Intel's at half of it, so
/// that f32 products are faster there.
#[cfg(target_arch = "x86_64")]
fn processor_is_amds() -> bool {
    // SAFETY: all x86-64 processors have the instruction. The function has become safe in newer
    // versions of the compiler.
    #[allow(unused_unsafe)]
    let about = unsafe { std::arch::x86_64::__cpuid(0) };
    let vendor = [about.ebx, about.edx, about.ecx].map(u32::to_le_bytes);
    vendor.concat() == b"AuthenticAMD"
}

/// Only known on x86-64.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn are_vectors_supported() -> bool {
    false
}

/// Whether the processor has the instructions, the operating system saves the tiles and lets this
/// process use them, and a small product is correct. Checked once, at the first call.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub(crate) fn are_tiles_supported() -> bool {
    static SUPPORTED: OnceLock<bool> = OnceLock::new();
    *SUPPORTED.get_or_init(|| {
        Isa::Avx512.is_supported()
            && processor_has_tiles()
            && system_keeps_tiles()
            && request_permission()
            // SAFETY: the conditions above.
            && unsafe { self_check(Isa::Amx, ProductEngine::Tiles) }
    })
}

/// The way to ask for permission is only implemented for Linux.
#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
pub(crate) fn are_tiles_supported() -> bool {
    false
}

/// AMX-TILE and AMX-BF16, with the tile size of the kernels. Some virtual machines have the
/// instructions and do not report the size: all existing processors have this one, and the
/// self-check verifies it.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
fn processor_has_tiles() -> bool {
    use std::arch::x86_64::{__cpuid, __cpuid_count};
    const FEATURES: u32 = 7;
    const TILES: u32 = 0x1d;
    const AMX_BF16: u32 = 1 << 22;
    const AMX_TILE: u32 = 1 << 24;
    // SAFETY: all x86-64 processors have the instruction. The functions have become safe in newer
    // versions of the compiler.
    #[allow(unused_unsafe)]
    let (highest, features, palette) = unsafe {
        let highest = __cpuid(0).eax;
        if highest < FEATURES {
            return false;
        }
        (highest, __cpuid_count(FEATURES, 0), __cpuid_count(TILES, 1))
    };
    let (tile_bytes, tiles) = (palette.eax >> 16, palette.ebx >> 16);
    let (row_bytes, rows) = (palette.ebx & 0xffff, palette.ecx & 0xffff);
    features.edx & AMX_BF16 != 0
        && features.edx & AMX_TILE != 0
        && (highest < TILES || (tile_bytes, tiles, row_bytes, rows) == (1024, 8, 64, 16))
}

/// Whether tiles are saved on context switches. Only called where there is AVX-512.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
fn system_keeps_tiles() -> bool {
    const TILE_CONFIGURATION: u64 = 1 << 17;
    const TILE_DATA: u64 = 1 << 18;
    /// `xgetbv` needs a function of its own to be enabled in.
    #[target_feature(enable = "xsave")]
    fn kept_states() -> u64 {
        // SAFETY: register 0 always exists.
        unsafe { std::arch::x86_64::_xgetbv(0) }
    }
    // SAFETY: AVX-512 counts as supported only if the system uses `xsave`.
    let kept = unsafe { kept_states() };
    kept & TILE_CONFIGURATION != 0 && kept & TILE_DATA != 0
}

/// Linux allocates 8 KiB for the tiles of a thread, so permission has to be asked for, once per
/// process.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
fn request_permission() -> bool {
    const ARCH_PRCTL: usize = 158;
    const ARCH_REQ_XCOMP_PERM: usize = 0x1023;
    const TILE_DATA: usize = 18;
    let result: isize;
    // SAFETY: the system call has no effect but the permission; the kernel changes rax, rcx and
    // r11 only.
    unsafe {
        std::arch::asm!(
            "syscall",
            inlateout("rax") ARCH_PRCTL => result,
            in("rdi") ARCH_REQ_XCOMP_PERM,
            in("rsi") TILE_DATA,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    result == 0
}

/// Whether a product with edges on all sides is correct with all ways of packing and multiplying,
/// so that an untested machine does not compute wrong models.
///
/// # Safety
/// This machine must support `isa`, on which the factors are packed (of which the check itself may
/// be a part), and the instructions of `engine` must work.
#[cfg(target_arch = "x86_64")]
pub unsafe fn self_check(isa: Isa, engine: ProductEngine) -> bool {
    use super::{PackedLeft, PackedRight, tile_product};
    use crate::parallel::THRESHOLD;
    const M: usize = 40;
    const K: usize = 70;
    const N: usize = 50;
    // Other threads could steal work that asks for the instruction set, which this check is about
    // to determine: a deadlock. The product is far below the threshold for threads.
    const { assert!(M * K < THRESHOLD && K * N < THRESHOLD) };

    // Whole numbers of 8 bits are exact in bfloat16, and all these sums are in f32, in any order.
    let a = |i: usize, l: usize| ((i * 97 + l * 55 + i * l) % 509) as f32 - 254.0;
    let b = |l: usize, j: usize| ((l * 83 + j * 71 + l * j) % 511) as f32 - 255.0;
    let fill =
        |count: usize, value: &dyn Fn(usize) -> f32| (0..count).map(value).collect::<Vec<_>>();
    let (mut left, mut right) = (PackedLeft::default(), PackedRight::default());
    let mut c = vec![f32::NAN; M * N];
    left.pack_on(isa, M, K, &fill(M * K, &|at| a(at / K, at % K)), false);
    right.pack_on(isa, K, N, &fill(K * N, &|at| b(at / N, at % N)), false);
    // SAFETY: by the condition of this function.
    unsafe { tile_product::multiply_unchecked_support(engine, &left, &right, &mut c, false) };
    left.pack_on(isa, M, K, &fill(M * K, &|at| a(at % M, at / M)), true);
    right.pack_on(isa, K, N, &fill(K * N, &|at| b(at % K, at / K)), true);
    // SAFETY: as above.
    unsafe { tile_product::multiply_unchecked_support(engine, &left, &right, &mut c, true) };

    let sum = |i, j| (0..K).map(|l| a(i, l) * b(l, j)).sum::<f32>();
    c.iter()
        .enumerate()
        .all(|(at, c)| *c == 2.0 * sum(at / N, at % N))
}
