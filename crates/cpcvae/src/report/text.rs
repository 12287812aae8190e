//! Text of the page: escaping, tables, numbers.

use std::fmt::Write;

/// The text with HTML's special characters escaped.
pub(super) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            '\'' => safe += "&#39;",
            letter => safe.push(letter),
        }
    }
    safe
}

/// A table; cells are text.
pub(super) fn table(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut text = String::from("<div class=\"scroll\"><table><thead><tr>");
    for name in header {
        let _ = write!(text, "<th>{}</th>", escaped(name));
    }
    text += "</tr></thead><tbody>";
    for row in rows {
        text += "<tr>";
        for cell in row {
            let _ = write!(text, "<td>{}</td>", escaped(&cell));
        }
        text += "</tr>";
    }
    text + "</tbody></table></div>"
}

/// A section of the page; empty without content.
pub(super) fn section(title: &str, about: &str, content: &str) -> String {
    match content.is_empty() {
        true => String::new(),
        false => format!(
            "<section><h2>{}</h2><p class=\"about\">{}</p>{content}</section>\n",
            escaped(title),
            escaped(about)
        ),
    }
}

/// 12345 as 12,345.
pub fn count(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A share as a percentage.
pub fn percent(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_escaped_and_numbers_grouped() {
        let text = table(&["a<b"], [vec!["<script>x</script>".into()]]);
        assert!(text.contains("a&lt;b") && !text.contains("<script>"));
        assert_eq!(
            (count(999), count(1_234_567)),
            ("999".into(), "1,234,567".into())
        );
        assert_eq!(section("t", "a", ""), "");
    }
}
