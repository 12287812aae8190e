//! Small charts as SVG text.

use super::text::escaped;
use std::fmt::Write;

/// Colours of classes, distinguishable for colour-blind readers; they repeat after the last.
const COLOURS: [&str; 10] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#7f4f9f", "#6b6b00",
    "#b22222", "#444444",
];

/// The colour of a class or a line.
pub(super) fn colour(place: usize) -> &'static str {
    COLOURS[place % COLOURS.len()]
}

/// A colour between dark blue (0) and yellow (1), by way of green: lighter is more.
pub(super) fn scale_colour(share: f64) -> String {
    const STOPS: [[f64; 3]; 3] = [
        [68.0, 1.0, 84.0],
        [33.0, 145.0, 140.0],
        [253.0, 231.0, 37.0],
    ];
    let at = share.clamp(0.0, 1.0) * 2.0;
    let first = (at.floor() as usize).min(1);
    let mixed = |channel: usize| {
        let (a, b) = (STOPS[first][channel], STOPS[first + 1][channel]);
        (a + (at - first as f64) * (b - a)).round() as u8
    };
    format!("#{:02x}{:02x}{:02x}", mixed(0), mixed(1), mixed(2))
}

/// A drawing with axes: positions in data units, mapped to the drawing's own.
pub(super) struct Plot {
    size: (f64, f64),
    x: (f64, f64),
    y: (f64, f64),
    body: String,
}

const LEFT: f64 = 52.0;
const BOTTOM: f64 = 38.0;
const TOP: f64 = 10.0;
const RIGHT: f64 = 22.0;

impl Plot {
    /// An empty drawing of the ranges `x` and `y`, with axes and their names.
    pub(super) fn new(size: (f64, f64), x: (f64, f64), y: (f64, f64), names: (&str, &str)) -> Self {
        let mut plot = Self::without_axes(size, x, y);
        let (left, right) = (LEFT, size.0 - RIGHT);
        let (top, bottom) = (TOP, size.1 - BOTTOM);
        for value in ticks(x) {
            let at = plot.at(value, y.0).0;
            plot.line([(at, top), (at, bottom)], "grid");
            plot.text((at, bottom + 15.0), "middle", &short(value));
        }
        for value in ticks(y) {
            let at = plot.at(x.0, value).1;
            plot.line([(left, at), (right, at)], "grid");
            plot.text((left - 6.0, at + 4.0), "end", &short(value));
        }
        plot.text(((left + right) / 2.0, size.1 - 4.0), "middle", names.0);
        let middle = (top + bottom) / 2.0;
        let _ = write!(
            plot.body,
            r#"<text transform="translate(12 {middle}) rotate(-90)" text-anchor="middle">{}</text>"#,
            escaped(names.1)
        );
        plot
    }

    /// An empty drawing without axes.
    pub(super) fn without_axes(size: (f64, f64), x: (f64, f64), y: (f64, f64)) -> Self {
        let wide = |(low, high): (f64, f64)| match high > low {
            true => (low, high),
            false => (low - 0.5, low + 0.5),
        };
        Self {
            size,
            x: wide(x),
            y: wide(y),
            body: String::new(),
        }
    }

    /// A position in the data mapped to the drawing.
    fn at(&self, x: f64, y: f64) -> (f64, f64) {
        let share = |value: f64, (low, high): (f64, f64)| (value - low) / (high - low);
        let (width, height) = (self.size.0 - LEFT - RIGHT, self.size.1 - TOP - BOTTOM);
        (
            LEFT + share(x, self.x) * width,
            TOP + (1.0 - share(y, self.y)) * height,
        )
    }

    fn line(&mut self, [a, b]: [(f64, f64); 2], class: &str) {
        let _ = write!(
            self.body,
            r#"<line class="{class}" x1="{:.1}" y1="{:.1}" x2="{:.1}" y2="{:.1}"/>"#,
            a.0, a.1, b.0, b.1
        );
    }

    fn text(&mut self, at: (f64, f64), anchor: &str, text: &str) {
        let _ = write!(
            self.body,
            r#"<text x="{:.1}" y="{:.1}" text-anchor="{anchor}">{}</text>"#,
            at.0,
            at.1,
            escaped(text)
        );
    }

    /// A line between two positions of the data.
    pub(super) fn segment(&mut self, a: (f64, f64), b: (f64, f64), class: &str) {
        let ends = [self.at(a.0, a.1), self.at(b.0, b.1)];
        self.line(ends, class);
    }

    /// A line through positions of the data.
    pub(super) fn curve(&mut self, points: &[(f64, f64)], colour: &str) {
        let mut path = String::new();
        for (place, point) in points.iter().enumerate() {
            let (x, y) = self.at(point.0, point.1);
            let step = if place == 0 { 'M' } else { 'L' };
            let _ = write!(path, "{step}{x:.1} {y:.1}");
        }
        let _ = write!(
            self.body,
            r#"<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.8"/>"#
        );
    }

    /// A dot at a position of the data; the title is its tooltip.
    pub(super) fn dot(&mut self, at: (f64, f64), radius: f64, look: &str, title: &str) {
        let (x, y) = self.at(at.0, at.1);
        let _ = write!(
            self.body,
            r#"<circle cx="{x:.1}" cy="{y:.1}" r="{radius:.1}" {look}><title>{}</title></circle>"#,
            escaped(title)
        );
    }

    /// The drawing as text; `about` is its description for screen readers.
    pub(super) fn finish(self, about: &str) -> String {
        let (width, height) = self.size;
        format!(
            r#"<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" aria-label="{}">{}</svg>"#,
            escaped(about),
            self.body
        )
    }
}

/// A share of 1 with its name and, if there is one, its interval.
pub(super) struct Bar {
    pub name: String,
    pub value: f64,
    pub interval: Option<(f64, f64)>,
}

/// Horizontal bars with intervals; the first is ours.
pub(super) fn bars(rows: &[Bar]) -> String {
    const ROW: f64 = 26.0;
    let longest = rows.iter().map(|bar| bar.name.chars().count()).max();
    let (left, width) = (12.0 + 7.2 * longest.unwrap_or(0) as f64, 420.0);
    let height = ROW * rows.len() as f64 + 4.0;
    let mut body = String::new();
    for (place, bar) in rows.iter().enumerate() {
        let Bar {
            name,
            value,
            interval,
        } = bar;
        let y = ROW * place as f64 + 4.0;
        let fill = if place == 0 { colour(0) } else { "#b8c4cc" };
        let length = width * value.clamp(0.0, 1.0);
        let _ = write!(
            body,
            r#"<text x="{:.0}" y="{:.1}" text-anchor="end">{}</text><rect x="{left}" y="{y}" width="{length:.1}" height="17" fill="{fill}" rx="2"/>"#,
            left - 8.0,
            y + 13.0,
            escaped(name)
        );
        let mut end = left + length;
        if let Some((low, high)) = interval {
            let (low, high) = (left + width * low, left + width * high);
            let middle = y + 8.5;
            let _ = write!(
                body,
                r#"<path class="whisker" d="M{low:.1} {middle}H{high:.1}M{low:.1} {}v8M{high:.1} {}v8"/>"#,
                middle - 4.0,
                middle - 4.0
            );
            end = end.max(high);
        }
        let _ = write!(
            body,
            r#"<text x="{:.1}" y="{:.1}">{:.1}%</text>"#,
            end + 7.0,
            y + 13.0,
            100.0 * value
        );
    }
    let all = left + width + 70.0;
    format!(
        r#"<svg viewBox="0 0 {all} {height}" width="{all}" height="{height}" role="img" aria-label="accuracy of each method">{body}</svg>"#
    )
}

/// Round numbers within a range, four to eight of them.
fn ticks((low, high): (f64, f64)) -> Vec<f64> {
    let rough = (high - low) / 5.0;
    if rough.is_nan() || rough <= 0.0 || !rough.is_finite() {
        return vec![low];
    }
    let size = 10f64.powf(rough.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0];
    let step = steps.into_iter().find(|step| step * size >= rough);
    let step = size * step.unwrap_or(10.0);
    let first = (low / step).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    (first..=last).map(|tick| tick as f64 * step).collect()
}

/// A number with few digits.
pub(super) fn short(value: f64) -> String {
    match value.abs() {
        size if size >= 1e6 || (size > 0.0 && size < 1e-3) => format!("{value:.0e}"),
        size if size >= 100.0 => format!("{}", value.round()),
        _ => format!("{}", (value * 1e3).round() / 1e3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_within_the_range() {
        assert_eq!(
            ticks((0.0, 1.0)),
            [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]
        );
        assert_eq!(ticks((130.0, 890.0)), [200.0, 400.0, 600.0, 800.0]);
        assert_eq!(ticks((3.0, 3.0)), [3.0]);
        assert_eq!(short(0.6000000000000001), "0.6");
    }

    #[test]
    fn the_scale_of_colours_goes_from_dark_to_light() {
        assert_eq!(scale_colour(0.0), "#440154");
        assert_eq!(scale_colour(0.5), "#21918c");
        assert_eq!(scale_colour(2.0), "#fde725");
        assert_eq!(scale_colour(f64::NAN).len(), 7);
    }

    #[test]
    fn names_cannot_break_out_of_the_drawing() {
        let text = bars(&[Bar {
            name: "<b>\"&".into(),
            value: 0.5,
            interval: Some((0.4, 0.6)),
        }]);
        assert!(text.contains("&lt;b&gt;&quot;&amp;") && !text.contains("<b>"));
    }
}
