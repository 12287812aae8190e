//! Arguments on how files are read.

use clap::Args;
use std::path::PathBuf;

/// How a file is read, for all commands.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ReadArgs {
    /// Labels of images: a table of files and labels, or a list like CelebA's; for IDX images
    /// their IDX labels [default: a sub-folder is a class]
    #[arg(long, value_name = "FILE", help_heading = "Reading")]
    pub labels_file: Option<PathBuf>,
    /// NPZ: the array of features [default: X or x]
    #[arg(long, value_name = "ARRAY", help_heading = "Reading")]
    pub features_name: Option<String>,
    /// Refuse a set of images if one cannot be read, instead of leaving that one out
    #[arg(long, help_heading = "Reading")]
    pub strict: bool,
    /// The most bytes that a compressed file may unpack to [default: 16 GiB]
    #[arg(long, value_name = "N", help_heading = "Reading",
          value_parser = clap::value_parser!(u64).range(1..=i64::MAX as u64))]
    pub most_bytes: Option<u64>,
}

/// How images are converted; a trained model applies the same conversion.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ImageArgs {
    /// Crop images to the square in the middle and resize it to N pixels a side
    #[arg(long, value_name = "N", help_heading = "Images",
          value_parser = clap::value_parser!(u32).range(1..=16384))]
    pub size: Option<u32>,
    /// Convert colour to grey
    #[arg(long, help_heading = "Images")]
    pub gray: bool,
    /// Normalise contrast: each channel of an image is standardised and put through the sigmoid,
    /// before it is converted to grey
    #[arg(long, help_heading = "Images")]
    pub contrast: bool,
}
