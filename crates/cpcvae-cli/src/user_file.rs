//! Prints the content of a user's file.

use crate::column_notes;
use crate::opened::warn_of_skipped;
use crate::printer::{Printer, count};
use cpcvae_data::{ImageSet, UserFile};

/// Prints its content.
pub(crate) fn print(file: &UserFile, printer: Printer) {
    match file {
        UserFile::Table(table) => column_notes::print(table, printer),
        UserFile::Images { rows, test } => {
            print_images(rows, "images", printer);
            if let Some(test) = test {
                print_images(test, "test images", printer);
            }
        }
    }
}

/// Prints how many images there are, and which were left out.
fn print_images(set: &ImageSet, what: &str, printer: Printer) {
    let labelled = set.labels.iter().flatten().count();
    printer.note(format!(
        "{} {what} of {} x {} pixels in {}, {} of them with a label ({} classes)",
        count(set.len()),
        set.width,
        set.height,
        if set.channels == 1 { "grey" } else { "colour" },
        count(labelled),
        set.class_names().len()
    ));
    warn_of_skipped(&set.skipped, printer);
}
