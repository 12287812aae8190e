//! Numeric axes: a range, round ticks in it, and their labels.

/// An axis from `low` to `high` with ticks at multiples of `step`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    step: f64,
}

impl Axis {
    /// The axis that holds all finite values, with `padding` of their range added at both ends
    /// and about `tick_count` ticks; `None` if no value is finite.
    pub(super) fn over(
        values: impl Iterator<Item = f64>,
        padding: f64,
        tick_count: f64,
    ) -> Option<Axis> {
        let finite = values.filter(|value| value.is_finite());
        let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        if low > high {
            return None;
        }
        // A constant needs an axis around it that shows its magnitude.
        let flat = if low == high {
            (0.1 * low.abs()).max(0.5)
        } else {
            0.0
        };
        let pad = padding * (high - low) + flat;
        let (low, high) = (low - pad, high + pad);
        Some(Axis {
            low,
            high,
            step: round_step((high - low) / tick_count),
        })
    }

    /// The position of a value: 0 at the low end, 1 at the high end.
    pub(super) fn position(&self, value: f64) -> f32 {
        ((value - self.low) / (self.high - self.low)) as f32
    }

    /// Distance between ticks, as a share of the axis.
    pub(crate) fn tick_spacing(&self) -> f32 {
        (self.step / (self.high - self.low)) as f32
    }

    pub(super) fn ticks(&self) -> impl Iterator<Item = f64> + '_ {
        // A small tolerance, so that rounding does not lose a tick at the end.
        let first = (self.low / self.step - 1e-9).ceil() as i64;
        let last = (self.high / self.step + 1e-9).floor() as i64;
        (first..=last).map(|multiple| multiple as f64 * self.step)
    }

    /// A tick as text, with the number of decimals of the step.
    pub(super) fn label(&self, tick: f64) -> String {
        let largest = self.low.abs().max(self.high.abs());
        let text = if largest >= 1e7 || self.step < 1e-4 {
            scientific(tick)
        } else {
            let decimals = (-(self.step.log10() + 1e-9).floor()).max(0.0) as usize;
            with_thousands(&format!("{tick:.decimals$}"))
        };
        text.replace('-', "−")
    }
}

/// The nearest of 1, 2, 5, 10, ... times a power of ten.
fn round_step(step: f64) -> f64 {
    let power = 10f64.powf(step.log10().floor());
    let leading = step / power;
    // The geometric mean of two neighbours.
    let factor = match leading {
        _ if leading < 2f64.sqrt() => 1.0,
        _ if leading < 10f64.sqrt() => 2.0,
        _ if leading < 50f64.sqrt() => 5.0,
        _ => 10.0,
    };
    factor * power
}

/// "1.5e-6", without trailing zeros.
fn scientific(number: f64) -> String {
    let text = format!("{number:.3e}");
    match text.split_once('e') {
        Some((mantissa, exponent)) if number != 0.0 => {
            let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
            format!("{mantissa}e{exponent}")
        }
        _ => "0".to_owned(),
    }
}

/// "12,000" instead of "12000"; four digits stay as they are.
fn with_thousands(number: &str) -> String {
    let (whole, decimals) = number.split_at(number.find('.').unwrap_or(number.len()));
    let digits = whole.trim_start_matches('-').len();
    if digits < 5 {
        return number.to_owned();
    }
    let mut text = String::new();
    for (index, character) in whole.chars().enumerate() {
        let left = whole.len() - index;
        if left % 3 == 0 && left < digits {
            text.push(',');
        }
        text.push(character);
    }
    text + decimals
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(low: f64, high: f64) -> Vec<String> {
        let axis = Axis::over([low, high].into_iter(), 0.0, 5.0).unwrap();
        axis.ticks().map(|tick| axis.label(tick)).collect()
    }

    #[test]
    fn ticks_are_round_and_written_alike() {
        assert_eq!(labels(0.0, 100.0), ["0", "20", "40", "60", "80", "100"]);
        assert_eq!(labels(0.12, 0.87), ["0.2", "0.4", "0.6", "0.8"]);
        assert_eq!(labels(-1.0, 1.0), ["−1.0", "−0.5", "0.0", "0.5", "1.0"]);
        assert_eq!(labels(0.0, 50_000.0)[1..3], ["10,000", "20,000"]);
        assert_eq!(labels(-1.5e6, 0.0)[0], "−1,400,000");
        assert_eq!(
            labels(0.0, 1e-4),
            ["0", "2e−5", "4e−5", "6e−5", "8e−5", "1e−4"]
        );
    }

    #[test]
    fn a_constant_gets_an_axis_and_nothing_gets_none() {
        let axis = Axis::over([3.0, f64::NAN].into_iter(), 0.05, 5.0).unwrap();
        assert_eq!(axis.position(3.0), 0.5);
        assert!(axis.ticks().count() >= 3);
        assert_eq!(Axis::over([f64::NAN].into_iter(), 0.0, 5.0), None);
    }
}
