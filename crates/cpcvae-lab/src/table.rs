//! Tables for the terminal, the README and spreadsheets.

use unicode_width::UnicodeWidthStr;

/// Rows of text under a header.
///
/// A row may be shorter or longer than the header: missing cells are blank, and a longer row widens
/// the table, so nothing is dropped.
///
/// ```
/// use cpcvae_lab::table::TextTable;
///
/// let table = TextTable {
///     header: vec!["method".into(), "accuracy".into()],
///     rows: vec![vec!["CPC-VAE".into(), "98.4 ± 0.2".into()]],
/// };
/// assert_eq!(
///     table.to_text(),
///     "method     accuracy\n-------  ----------\nCPC-VAE  98.4 ± 0.2\n"
/// );
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextTable {
    /// Names of the columns.
    pub header: Vec<String>,
    /// Cells, row by row.
    pub rows: Vec<Vec<String>>,
}

impl TextTable {
    /// Plain text with two spaces between columns, a rule under the header and no trailing blanks.
    /// Columns of numbers are right-aligned.
    pub fn to_text(&self) -> String {
        let columns = self.columns(one_line, 0);
        let rule: Vec<String> = columns.iter().map(|c| "-".repeat(c.width)).collect();
        let mut lines = self.aligned_lines(&columns, "  ");
        lines.insert(1, rule.join("  "));
        lines
            .iter()
            .map(|line| format!("{}\n", line.trim_end()))
            .collect()
    }

    /// A Markdown table (GitHub's), with aligned source.
    pub(crate) fn to_markdown(&self) -> String {
        // Every Markdown reader accepts a rule of three dashes.
        let columns = self.columns(markdown_cell, 3);
        let rule: Vec<String> = columns
            .iter()
            .map(|c| match c.numeric {
                true => format!("{}:", "-".repeat(c.width - 1)),
                false => "-".repeat(c.width),
            })
            .collect();
        let mut lines = self.aligned_lines(&columns, " | ");
        lines.insert(1, rule.join(" | "));
        lines.iter().map(|line| format!("| {line} |\n")).collect()
    }

    /// Comma-separated values, quoted as in RFC 4180; lines end in `\n`.
    pub(crate) fn to_csv(&self) -> String {
        let columns = self.columns(csv_cell, 0);
        (0..=self.rows.len())
            .map(|line| {
                let cells: Vec<&str> = columns.iter().map(|c| c.cells[line].as_str()).collect();
                cells.join(",") + "\n"
            })
            .collect()
    }

    /// The table turned to columns, each cell (the header's first) written by `write`.
    fn columns(&self, write: fn(&str) -> String, least_width: usize) -> Vec<Column> {
        let lines = || std::iter::once(&self.header).chain(&self.rows);
        let count = lines().map(Vec::len).max().unwrap_or(0);
        (0..count)
            .map(|index| {
                let raw: Vec<&str> = lines().map(|l| l.get(index).map_or("", |c| c)).collect();
                let cells: Vec<String> = raw.iter().map(|cell| write(cell)).collect();
                Column {
                    width: cells
                        .iter()
                        .map(|cell| cell.width())
                        .fold(least_width, usize::max),
                    numeric: is_numeric(&raw[1..]),
                    cells,
                }
            })
            .collect()
    }

    fn aligned_lines(&self, columns: &[Column], separator: &str) -> Vec<String> {
        (0..=self.rows.len())
            .map(|line| {
                let cells: Vec<String> = columns.iter().map(|c| c.padded(line)).collect();
                cells.join(separator)
            })
            .collect()
    }
}

struct Column {
    cells: Vec<String>,
    width: usize,
    numeric: bool,
}

impl Column {
    /// The formatter's padding counts characters, but on a screen their widths matter.
    fn padded(&self, line: usize) -> String {
        let cell = &self.cells[line];
        let blanks = " ".repeat(self.width - cell.width());
        match self.numeric {
            true => blanks + cell,
            false => cell.clone() + &blanks,
        }
    }
}

/// Whether every filled cell starts with a number ("98.4 ± 0.2", "-3", "12 s", "−0.1%"); marks such
/// as "-" or "n/a" for a missing value are ignored.
fn is_numeric(cells: &[&str]) -> bool {
    let opens_with_digit = |cell: &&str| {
        cell.trim_start_matches(['+', '-', '−', '±', '~', '<', '>', '.', ' '])
            .starts_with(|c: char| c.is_ascii_digit())
    };
    let mut filled = cells
        .iter()
        .filter(|cell| !["", "-", "–", "—", "n/a", "NaN"].contains(*cell))
        .peekable();
    filled.peek().is_some() && filled.all(opens_with_digit)
}

/// A line break inside a cell would break the table.
fn one_line(cell: &str) -> String {
    cell.replace(['\n', '\r', '\t'], " ")
}

fn markdown_cell(cell: &str) -> String {
    one_line(cell).replace('|', "\\|")
}

fn csv_cell(cell: &str) -> String {
    match cell.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(header: &[&str], rows: &[&[&str]]) -> TextTable {
        let owned = |cells: &[&str]| cells.iter().map(|c| c.to_string()).collect();
        TextTable {
            header: owned(header),
            rows: rows.iter().map(|row| owned(row)).collect(),
        }
    }

    #[test]
    fn text_is_aligned_by_width_on_screen() {
        let table = table(
            &["method", "λ", "accuracy"],
            &[
                &["naïve VAE", "1", "78.1 ± 4.0"],
                &["変分", "25", "-"],
                &["M2"],
            ],
        );
        let expected = "\
method      λ    accuracy
---------  --  ----------
naïve VAE   1  78.1 ± 4.0
変分       25           -
M2
";
        assert_eq!(table.to_text(), expected);
    }

    #[test]
    fn markdown_escapes_bars_and_marks_numbers() {
        let table = table(&["q(z|x)", "n"], &[&["a", "10"], &["b\nc", "9"]]);
        let expected = "\
| q(z\\|x) |   n |
| ------- | --: |
| a       |  10 |
| b c     |   9 |
";
        assert_eq!(table.to_markdown(), expected);
    }

    #[test]
    fn csv_quotes_only_where_needed() {
        let table = table(&["name", "note"], &[&["a,b", "say \"hi\""], &["plain"]]);
        assert_eq!(
            table.to_csv(),
            "name,note\n\"a,b\",\"say \"\"hi\"\"\"\nplain,\n"
        );
    }

    #[test]
    fn columns_of_words_or_of_nothing_are_flush_left() {
        assert!(!is_numeric(&["12 s", "fast"]));
        assert!(!is_numeric(&["", "-"]));
        assert!(is_numeric(&["−3", "+.5%", "n/a", "~7"]));
        assert_eq!(table(&[], &[]).to_text(), "\n\n");
    }
}
