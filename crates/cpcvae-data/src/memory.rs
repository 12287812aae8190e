//! How much memory readers may take: by default a share of the machine's.

use std::fs;
use std::sync::OnceLock;

/// Overrides the limit of half the machine's memory, in bytes.
pub(crate) const VARIABLE: &str = "CPCVAE_MEMORY";

/// The memory assumed where the machine's cannot be read.
const UNKNOWN: u64 = 8 << 30;

/// The most bytes of memory that reading may take: what the environment variable `CPCVAE_MEMORY`
/// says, else half of the machine's memory, or of what its container may have.
pub fn most_memory() -> u64 {
    static MOST: OnceLock<u64> = OnceLock::new();
    *MOST.get_or_init(|| {
        let asked = std::env::var(VARIABLE).ok();
        let asked = asked.and_then(|bytes| bytes.trim().parse().ok());
        asked.unwrap_or_else(|| machine_memory() / 2)
    })
}

/// Bytes of memory of the machine, or of what its container may have.
pub fn machine_memory() -> u64 {
    let files = [
        "/sys/fs/cgroup/memory.max",
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
    ];
    let limits = files
        .iter()
        .filter_map(|file| fs::read_to_string(file).ok());
    let limits = limits.filter_map(|text| text.trim().parse().ok());
    let total = fs::read_to_string("/proc/meminfo").ok();
    let total = total.and_then(|text| total_of(&text)).unwrap_or(UNKNOWN);
    limits.chain([total]).min().unwrap_or(total)
}

/// The bytes that Linux says there are.
fn total_of(meminfo: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_from_what_linux_says() {
        let text = "MemTotal:       24625652 kB\nMemFree:        18000000 kB\n";
        assert_eq!(total_of(text), Some(24_625_652 * 1024));
        assert_eq!(total_of("MemFree: 1 kB"), None);
        assert!(machine_memory() >= 64 << 20, "{}", machine_memory());
    }
}
