//! Processor features.

/// Processor features that matter to the kernels, and whether they are there; empty on other
/// architectures.
#[cfg(target_arch = "x86_64")]
pub fn features() -> Vec<(&'static str, bool)> {
    vec![
        ("avx2", is_x86_feature_detected!("avx2")),
        ("fma", is_x86_feature_detected!("fma")),
        ("avx512f", is_x86_feature_detected!("avx512f")),
        ("avx512dq", is_x86_feature_detected!("avx512dq")),
        ("avx512bw", is_x86_feature_detected!("avx512bw")),
        ("avx512vl", is_x86_feature_detected!("avx512vl")),
        ("avx512bf16", is_x86_feature_detected!("avx512bf16")),
        ("amx-bf16", crate::bf16::are_tiles_supported()),
    ]
}

/// Processor features that matter to the kernels, and whether they are there; empty on other
/// architectures.
#[cfg(not(target_arch = "x86_64"))]
pub fn features() -> Vec<(&'static str, bool)> {
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::Isa;

    #[test]
    fn instruction_sets_are_there_with_their_features() {
        let has = |name: &str| features().iter().any(|(one, has)| *one == name && *has);
        for (isa, needed) in [
            (Isa::Avx2, &["avx2", "fma"][..]),
            (
                Isa::Avx512,
                &["avx512f", "avx512dq", "avx512bw", "avx512vl"],
            ),
        ] {
            assert!(
                !isa.is_supported() || needed.iter().all(|name| has(name)),
                "{isa:?}"
            );
        }
    }
}
