//! Describes a file: `cargo run --release -p cpcvae-data --example open_file -- PATH`.
//!
//! Opens a table or a set of images as users' files are opened, reads all of its values once, row
//! by row, and prints the time and memory used.

use cpcvae_data::{Cells, FileKind, ImageSet, Opened, RawTable, ReadOptions, open_path};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("name a file or folder")?;
    let options = ReadOptions {
        size: arguments.next().map(|size| size.parse()).transpose()?,
        ..ReadOptions::default()
    };
    println!("{path}: {:?}", FileKind::of(&path)?);
    let start = Instant::now();
    let opened = open_path(&path, &options)?;
    println!("opened in {:.2} s", start.elapsed().as_secs_f64());
    match &opened {
        Opened::Table(table) => describe_table(table),
        Opened::Images(set) => describe_images("images", set),
        Opened::ImagesWithTest { rows, test } => {
            describe_images("images", rows);
            describe_images("test images", test);
        }
    }
    println!("read through in {:.2} s", start.elapsed().as_secs_f64());
    // Linux reports the peak memory, and how much of the current memory is private.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let memory = status
        .lines()
        .filter(|line| line.starts_with("VmHWM") || line.starts_with("Rss"));
    memory.for_each(|line| println!("{line}"));
    Ok(())
}

fn describe_table(table: &RawTable) {
    let names = |columns: &[cpcvae_data::RawColumn]| {
        let names: Vec<&str> = columns
            .iter()
            .take(8)
            .map(|column| &column.name[..])
            .collect();
        format!("{} ({} ...)", columns.len(), names.join(", "))
    };
    println!("{} rows; columns: {}", table.rows, names(&table.columns));
    println!("beside them: {}", names(&table.beside));
    let number = |cells: &Cells, row: usize| match cells {
        Cells::Texts(cells) => cells[row].parse().unwrap_or(f64::NAN),
        Cells::Numbers(cells) => cells[row],
        Cells::Packed(cells) | Cells::PackedFlags(cells) => cells.get(row),
        Cells::PackedTimes { seconds, .. } => seconds.get(row),
        Cells::PackedTexts(cells) => cells.get(row).parse().unwrap_or(f64::NAN),
        Cells::Flags(cells) => cells[row].map_or(f64::NAN, |flag| f64::from(u8::from(flag))),
    };
    let (mut count, mut sum) = (0u64, 0.0);
    for row in 0..table.rows {
        for column in &table.columns {
            let value = number(&column.cells, row);
            if value.is_finite() {
                count += 1;
                sum += value;
            }
        }
    }
    println!("{count} finite numbers, mean {}", sum / count.max(1) as f64);
}

fn describe_images(what: &str, set: &ImageSet) {
    let (height, width, channels) = (set.height, set.width, set.channels);
    println!("{} {what} of {height}x{width}x{channels}", set.len());
    println!("classes: {:?}", set.class_names());
    println!(
        "without label: {}",
        set.labels.iter().filter(|label| label.is_none()).count()
    );
    println!("left out: {:?}", set.skipped);
    let sum: u64 = set.pixels.iter().map(|&byte| u64::from(byte)).sum();
    println!("mean pixel {}", sum as f64 / set.pixels.len().max(1) as f64);
}
