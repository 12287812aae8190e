//! Which vector instructions the kernels run on, and the macro that compiles a loop for each.

use std::cell::Cell;
use std::sync::OnceLock;

/// An instruction set the kernels are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isa {
    /// [`Isa::Avx512`] plus AMX tiles for bfloat16 products ([`crate::bf16`]).
    Amx,
    /// [`Isa::Avx512`] plus its instruction for bfloat16 products.
    Avx512Bf16,
    /// x86-64 with AVX-512 (F, DQ, BW, VL) and FMA.
    Avx512,
    /// x86-64 with AVX2 and FMA.
    Avx2,
    /// What the compilation target guarantees.
    Portable,
}

thread_local! {
    static FORCED: Cell<Option<Isa>> = const { Cell::new(None) };
}

impl Isa {
    /// Whether this machine supports it.
    pub fn is_supported(self) -> bool {
        match self {
            Isa::Portable => true,
            Isa::Amx => crate::bf16::are_tiles_supported(),
            Isa::Avx512Bf16 => crate::bf16::are_vectors_supported(),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => {
                Isa::Avx2.is_supported()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512vl")
            }
            #[cfg(not(target_arch = "x86_64"))]
            _ => false,
        }
    }

    /// Whether it has instructions for bfloat16 products ([`crate::bf16`]).
    pub fn has_bf16_products(self) -> bool {
        matches!(self, Isa::Amx | Isa::Avx512Bf16)
    }

    /// All instruction sets of this machine, best first.
    pub fn supported() -> Vec<Isa> {
        let mut all = vec![
            Isa::Amx,
            Isa::Avx512Bf16,
            Isa::Avx512,
            Isa::Avx2,
            Isa::Portable,
        ];
        all.retain(|isa| isa.is_supported());
        all
    }

    /// The instruction set of kernels called from this thread: that of an enclosing [`Isa::run`],
    /// otherwise the one named by `CPCVAE_ISA` (`amx`, `avx512bf16`, `avx512`, `avx2` or
    /// `portable`), otherwise the best.
    ///
    /// # Panics
    /// If `CPCVAE_ISA` names an unknown or unsupported instruction set.
    pub fn current() -> Isa {
        static CHOSEN: OnceLock<Isa> = OnceLock::new();
        FORCED.get().unwrap_or_else(|| {
            *CHOSEN.get_or_init(|| Self::requested().unwrap_or_else(|e| panic!("{e}")))
        })
    }

    /// The one named by `CPCVAE_ISA`, or the best; an error if the name is invalid. A program calls
    /// this first, because [`Isa::current`] can only panic.
    pub fn requested() -> Result<Isa, String> {
        from_name(std::env::var("CPCVAE_ISA").ok().as_deref())
    }

    /// Runs `work` with this instruction set for all kernels that it calls from this thread.
    ///
    /// # Panics
    /// If this machine does not support it.
    pub fn run<R>(self, work: impl FnOnce() -> R) -> R {
        assert!(self.is_supported(), "this machine has no {self:?}");
        // SAFETY: it is supported.
        unsafe { self.run_unchecked_support(work) }
    }

    /// [`Isa::run`] without the check whether this machine supports it, for the tests, which
    /// emulate instructions.
    ///
    /// # Safety
    /// Its instructions must work on this thread and on those of rayon's current pool.
    #[doc(hidden)]
    pub unsafe fn run_unchecked_support<R>(self, work: impl FnOnce() -> R) -> R {
        /// Restores the previous choice even if `work` panics.
        struct Restore(Option<Isa>);
        impl Drop for Restore {
            fn drop(&mut self) {
                FORCED.set(self.0);
            }
        }
        let _restore = Restore(FORCED.replace(Some(self)));
        work()
    }
}

fn from_name(name: Option<&str>) -> Result<Isa, String> {
    let isa = match name {
        None | Some("") => return Ok(Isa::supported()[0]),
        Some("amx") => Isa::Amx,
        Some("avx512bf16") => Isa::Avx512Bf16,
        Some("avx512") => Isa::Avx512,
        Some("avx2") => Isa::Avx2,
        Some("portable") => Isa::Portable,
        Some(other) => {
            return Err(format!(
                "CPCVAE_ISA={other} is not one of amx, avx512bf16, avx512, avx2, portable"
            ));
        }
    };
    if isa.is_supported() {
        Ok(isa)
    } else {
        Err(format!("CPCVAE_ISA: this machine has no {isa:?}"))
    }
}

/// Whether the compilation target itself has a fused multiply-add, so that `f32::mul_add` is one
/// instruction and not a slow library call.
pub(crate) const PORTABLE_FMA: bool = cfg!(any(target_feature = "fma", target_arch = "aarch64"));

/// `kernel! { fn name<FMA>(arguments) -> result { body } }` makes a function
/// `name(isa, arguments)` that runs a copy of `body` compiled for `isa`.
///
/// The loops in `body` are plain Rust over `#[inline(always)]` scalar functions; LLVM vectorises
/// them for the enabled features. Inside, `FMA` says whether a fused multiply-add is one
/// instruction.
macro_rules! kernel {
    ($(#[$attribute:meta])* $visibility:vis fn $name:ident<$fma:ident>(
        $($argument:ident: $type:ty),* $(,)?
    ) $(-> $result:ty)? $body:block) => {
        $(#[$attribute])*
        #[allow(clippy::too_many_arguments)]
        $visibility fn $name(isa: $crate::isa::Isa, $($argument: $type),*) $(-> $result)? {
            #[inline(always)]
            fn body<const $fma: bool>($($argument: $type),*) $(-> $result)? $body

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,avx2,fma")]
            fn avx512($($argument: $type),*) $(-> $result)? { body::<true>($($argument),*) }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            fn avx2($($argument: $type),*) $(-> $result)? { body::<true>($($argument),*) }

            match isa {
                #[cfg(target_arch = "x86_64")]
                $crate::isa::Isa::Amx
                | $crate::isa::Isa::Avx512Bf16
                | $crate::isa::Isa::Avx512 => {
                    // SAFETY: kernels get their `isa` from `Isa::current`, which only gives
                    // instruction sets that were detected on this machine.
                    unsafe { avx512($($argument),*) }
                }
                #[cfg(target_arch = "x86_64")]
                $crate::isa::Isa::Avx2 => {
                    // SAFETY: as above.
                    unsafe { avx2($($argument),*) }
                }
                _ => body::<{ $crate::isa::PORTABLE_FMA }>($($argument),*),
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_forces_and_restores() {
        let before = Isa::current();
        Isa::Portable.run(|| assert_eq!(Isa::current(), Isa::Portable));
        assert_eq!(Isa::current(), before);
        assert!(std::panic::catch_unwind(|| Isa::Portable.run(|| panic!())).is_err());
        assert_eq!(Isa::current(), before);
    }

    #[test]
    fn names() {
        assert_eq!(from_name(Some("portable")), Ok(Isa::Portable));
        assert_eq!(from_name(None), Ok(Isa::supported()[0]));
        let amx = from_name(Some("amx")).ok();
        assert_eq!(amx, Isa::Amx.is_supported().then_some(Isa::Amx));
        let problem = from_name(Some("mmx")).expect_err("no such name");
        assert!(
            problem.contains("mmx") && problem.contains("avx2"),
            "{problem}"
        );
    }
}
