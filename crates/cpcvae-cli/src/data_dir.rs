//! The default folder of downloaded data sets.

use std::env::var_os;
use std::path::PathBuf;

/// `cpcvae` in the user's cache folder; `./data` if there is no home folder.
pub(crate) fn default() -> PathBuf {
    let in_home = |folder: &str| Some(PathBuf::from(var_os("HOME")?).join(folder));
    let cache = if cfg!(windows) {
        var_os("LOCALAPPDATA").map(PathBuf::from)
    } else if cfg!(target_os = "macos") {
        in_home("Library/Caches")
    } else {
        var_os("XDG_CACHE_HOME")
            .map(PathBuf::from)
            .filter(|folder| folder.is_absolute())
            .or_else(|| in_home(".cache"))
    };
    cache.map_or_else(|| PathBuf::from("data"), |cache| cache.join("cpcvae"))
}
