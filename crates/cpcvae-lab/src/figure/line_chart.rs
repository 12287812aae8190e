//! Line charts: training curves and sensitivity plots.

use super::axis::Axis;
use super::canvas::{Anchor, Canvas, Placement};
use super::palette::{Colour, class_colour};
use super::{Layout, Result, save, text};
use std::path::Path;

const PLOT_WIDTH: f32 = 900.0;
const PLOT_HEIGHT: f32 = 560.0;
const BORDER: f32 = 20.0;
const TEXT_SIZE: f32 = 26.0;
const TITLE_SIZE: f32 = 30.0;
/// The points of lines with at most this many points are marked.
const MOST_MARKED_POINTS: usize = 12;

/// A named line.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Series {
    /// Written in the legend; an empty name has no entry there.
    pub name: String,
    /// Points `(x, y)` in the order of the line; a point that is not finite breaks the line.
    pub points: Vec<(f64, f64)>,
    /// A band around the line as `(x, low, high)`, for instance a standard deviation each way.
    pub band: Option<Vec<(f64, f64, f64)>>,
}

/// Draws series over common axes, with a legend beside them.
pub fn line_chart(
    title: &str,
    x_label: &str,
    y_label: &str,
    series: &[Series],
    path: &Path,
) -> Result<()> {
    save::save(path, || layout(title, x_label, y_label, series))
}

fn layout(title: &str, x_label: &str, y_label: &str, series: &[Series]) -> Layout {
    let bands = || {
        series
            .iter()
            .filter_map(|series| series.band.as_ref())
            .flatten()
    };
    let points = || series.iter().flat_map(|series| &series.points);
    let across = || points().map(|p| p.0).chain(bands().map(|b| b.0));
    let upwards = points()
        .map(|p| p.1)
        .chain(bands().flat_map(|b| [b.1, b.2]));
    // Long numbers leave room for fewer ticks on the x axis.
    let x_axes = [6.0, 4.0, 3.0, 2.0].map(|count| Axis::over(across(), 0.0, count));
    let roomy = x_axes
        .into_iter()
        .flatten()
        .find(|axis| 1.25 * widest_label(axis) < axis.tick_spacing() * PLOT_WIDTH);
    let (Some(x_axis), Some(y_axis)) = (roomy.or(x_axes[3]), Axis::over(upwards, 0.05, 6.0)) else {
        return Err("no series has a finite point".into());
    };

    let plot = Plot {
        left: BORDER + 1.6 * TEXT_SIZE + widest_label(&y_axis) + 14.0,
        top: BORDER + if title.is_empty() { 0.5 } else { 1.8 } * TITLE_SIZE,
        x_axis,
        y_axis,
    };
    let named: Vec<&String> = series
        .iter()
        .map(|series| &series.name)
        .filter(|name| !name.is_empty())
        .collect();
    let legend_width = match named.is_empty() {
        // The last label on the axis extends beyond the plot by half its width.
        true => 0.5 * widest_label(&plot.x_axis),
        false => 3.0 * TEXT_SIZE + text::widest(named, TEXT_SIZE),
    };
    let right = plot.left + PLOT_WIDTH;
    let below = 3.9 * TEXT_SIZE;
    let mut canvas = Canvas::new(
        right + legend_width + BORDER,
        plot.top + PLOT_HEIGHT + below + BORDER * 0.25,
    );

    let middle = (plot.left + 0.5 * PLOT_WIDTH, plot.top + 0.5 * PLOT_HEIGHT);
    let title_size = text::size_to_fit(title, TITLE_SIZE, PLOT_WIDTH + plot.left - BORDER);
    canvas.text(
        title,
        Placement::centred(middle.0, BORDER + 0.5 * TITLE_SIZE, title_size),
    );
    let x_size = text::size_to_fit(x_label, TEXT_SIZE, PLOT_WIDTH);
    let x_label_y = plot.top + PLOT_HEIGHT + 3.0 * TEXT_SIZE;
    canvas.text(x_label, Placement::centred(middle.0, x_label_y, x_size));
    let y_size = text::size_to_fit(y_label, TEXT_SIZE, PLOT_HEIGHT);
    let y_label_x = BORDER + 0.5 * TEXT_SIZE;
    canvas.text(
        y_label,
        Placement::centred(y_label_x, middle.1, y_size).turned(),
    );

    plot.draw_axes(&mut canvas);
    // All bands are drawn before all lines, so that no band hides a line.
    for (index, series) in series.iter().enumerate() {
        plot.draw_band(&mut canvas, series, class_colour(index as u32));
    }
    for (index, series) in series.iter().enumerate() {
        plot.draw_line(&mut canvas, series, class_colour(index as u32));
    }
    draw_legend(
        &mut canvas,
        series,
        (right + TEXT_SIZE, plot.top + TEXT_SIZE),
    );
    Ok(canvas)
}

fn widest_label(axis: &Axis) -> f32 {
    let labels: Vec<String> = axis.ticks().map(|tick| axis.label(tick)).collect();
    text::widest(&labels, TEXT_SIZE)
}

fn draw_legend(canvas: &mut Canvas, series: &[Series], (x, top): (f32, f32)) {
    let named = series
        .iter()
        .enumerate()
        .filter(|(_, series)| !series.name.is_empty());
    // Many entries are set closer together to fit.
    let pitch =
        (1.6 * TEXT_SIZE).min((PLOT_HEIGHT - TEXT_SIZE) / named.clone().count().max(1) as f32);
    let size = TEXT_SIZE.min(pitch);
    for (entry, (index, series)) in named.enumerate() {
        let y = top + entry as f32 * pitch;
        canvas.line(
            &[(x, y), (x + 1.4 * TEXT_SIZE, y)],
            class_colour(index as u32),
            5.0,
        );
        let place = Placement::centred(x + 1.8 * TEXT_SIZE, y, size).anchored(Anchor::Start);
        canvas.text(&series.name, place);
    }
}

/// The rectangle that the axes span.
struct Plot {
    left: f32,
    top: f32,
    x_axis: Axis,
    y_axis: Axis,
}

impl Plot {
    fn x(&self, value: f64) -> f32 {
        self.left + PLOT_WIDTH * self.x_axis.position(value)
    }

    fn y(&self, value: f64) -> f32 {
        self.top + PLOT_HEIGHT * (1.0 - self.y_axis.position(value))
    }

    fn draw_axes(&self, canvas: &mut Canvas) {
        let (right, bottom) = (self.left + PLOT_WIDTH, self.top + PLOT_HEIGHT);
        for tick in self.y_axis.ticks() {
            let y = self.y(tick);
            canvas.line(&[(self.left, y), (right, y)], Colour::PALE, 1.5);
            let place = Placement::centred(self.left - 12.0, y, TEXT_SIZE).anchored(Anchor::End);
            canvas.text(&self.y_axis.label(tick), place.coloured(Colour::GREY));
        }
        for tick in self.x_axis.ticks() {
            let x = self.x(tick);
            canvas.line(&[(x, bottom), (x, bottom + 8.0)], Colour::GREY, 1.5);
            let place = Placement::centred(x, bottom + 1.2 * TEXT_SIZE, TEXT_SIZE);
            canvas.text(&self.x_axis.label(tick), place.coloured(Colour::GREY));
        }
        canvas.line(&[(self.left, bottom), (right, bottom)], Colour::GREY, 1.5);
    }

    fn draw_band(&self, canvas: &mut Canvas, series: &Series, colour: Colour) {
        let band = series.band.as_deref().unwrap_or(&[]);
        let finite = |a: &(f64, f64, f64)| a.0.is_finite() && a.1.is_finite() && a.2.is_finite();
        for piece in band
            .chunk_by(|a, b| finite(a) == finite(b))
            .filter(|p| finite(&p[0]))
        {
            let lower = piece.iter().map(|&(x, low, _)| (self.x(x), self.y(low)));
            let upper = piece
                .iter()
                .rev()
                .map(|&(x, _, high)| (self.x(x), self.y(high)));
            let outline: Vec<_> = lower.chain(upper).collect();
            canvas.polygon(&outline, colour.with_opacity(0.18), None);
        }
    }

    fn draw_line(&self, canvas: &mut Canvas, series: &Series, colour: Colour) {
        let finite = |point: &(f64, f64)| point.0.is_finite() && point.1.is_finite();
        let points = &series.points;
        for piece in points
            .chunk_by(|a, b| finite(a) == finite(b))
            .filter(|p| finite(&p[0]))
        {
            let places: Vec<_> = piece.iter().map(|&(x, y)| (self.x(x), self.y(y))).collect();
            canvas.line(&places, colour, 3.5);
            // A point between two gaps has no line, so it is marked.
            if points.len() <= MOST_MARKED_POINTS || places.len() == 1 {
                places
                    .iter()
                    .for_each(|&place| canvas.dot(place, 6.0, colour));
            }
        }
    }
}

#[cfg(test)]
#[path = "line_chart_tests.rs"]
mod tests;
