//! Writes a layout to a file.

use super::{FigureError, Layout, Result, raster, vector};
use std::path::Path;
use std::{fs, process};

/// Draws the layout in the format of the path and writes it.
///
/// The path is checked before anything is drawn, and the file is written atomically: a reader never
/// sees a partial figure, and a failed run keeps the last good one.
pub(super) fn save(path: &Path, layout: impl FnOnce() -> Layout) -> Result<()> {
    let extension = path
        .extension()
        .and_then(|e| e.to_str())
        .unwrap_or("")
        .to_ascii_lowercase();
    let encode = match extension.as_str() {
        "png" => raster::png,
        "svg" => |canvas: &_| vector::svg(canvas).map(String::into_bytes),
        _ => {
            return Err(FigureError::UnknownFormat {
                path: path.to_owned(),
            });
        }
    };
    let bytes = layout()
        .and_then(|canvas| encode(&canvas))
        .map_err(|reason| FigureError::Invalid {
            path: path.to_owned(),
            reason,
        })?;
    write_whole(path, &bytes).map_err(|source| FigureError::Write {
        path: path.to_owned(),
        source,
    })
}

fn write_whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = path.with_file_name(format!(".{name}.{}.part", process::id()));
    fs::write(&temporary, bytes)
        .and_then(|()| fs::rename(&temporary, path))
        .inspect_err(|_| {
            // The first error is reported; there may be nothing to remove.
            let _ = fs::remove_file(&temporary);
        })
}

#[cfg(test)]
mod tests {
    use super::super::canvas::Canvas;
    use super::*;

    fn blank() -> Layout {
        Ok(Canvas::new(30.0, 20.0))
    }

    fn empty_folder(name: &str) -> std::path::PathBuf {
        let folder = std::env::temp_dir().join(format!("cpcvae-lab-{name}-{}", process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn the_extension_chooses_the_format_and_nothing_else_is_left() {
        let folder = empty_folder("format");
        save(&folder.join("a.PNG"), blank).unwrap();
        save(&folder.join("a.svg"), blank).unwrap();
        let png = fs::read(folder.join("a.PNG")).unwrap();
        assert_eq!(png[1..4], *b"PNG");
        // Width and height are at bytes 16 to 24 of every PNG.
        assert_eq!(png[16..24], [0, 0, 0, 30, 0, 0, 0, 20]);
        assert!(
            fs::read_to_string(folder.join("a.svg"))
                .unwrap()
                .starts_with("<svg")
        );
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn errors_name_the_path() {
        let unknown = save(Path::new("plot.pdf"), blank).unwrap_err();
        assert!(unknown.to_string().contains("plot.pdf"), "{unknown}");

        let invalid = save(Path::new("plot.png"), || Err("no panels".into())).unwrap_err();
        assert_eq!(
            invalid.to_string(),
            "cannot draw the figure plot.png: no panels"
        );

        let folder = empty_folder("missing");
        let nowhere = folder.join("missing").join("plot.png");
        let unwritable = save(&nowhere, blank).unwrap_err();
        assert!(
            unwritable
                .to_string()
                .contains(&nowhere.display().to_string())
        );
        assert!(matches!(unwritable, FigureError::Write { .. }));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_failed_rename_leaves_no_trace() {
        let folder = empty_folder("taken");
        fs::create_dir(folder.join("plot.png")).unwrap();
        assert!(save(&folder.join("plot.png"), blank).is_err());
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_dir_all(folder).unwrap();
    }
}
