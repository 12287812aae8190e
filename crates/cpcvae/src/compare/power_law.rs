//! The power law of errors against the number of labels, and its extrapolation.

use serde::{Deserialize, Serialize};

/// One measured point of a learning curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// Labels that training used.
    pub labels: usize,
    /// Accuracy on held-out rows.
    pub accuracy: f64,
    /// Lower end of its 95 % interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Errors that fall as `scale * labels^-rate`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PowerLaw {
    /// The error at one label.
    pub scale: f64,
    /// How steeply errors fall; 0 or less when they do not.
    pub rate: f64,
}

impl PowerLaw {
    /// The least-squares line through the logarithms of labels and errors. `rows` is how many rows
    /// were held out: zero errors count as half an error. `None` for fewer than two different
    /// numbers of labels.
    pub fn fit(points: &[CurvePoint], rows: usize) -> Option<Self> {
        let least = 0.5 / rows.max(1) as f64;
        let logs: Vec<(f64, f64)> = points
            .iter()
            .map(|point| {
                let error = (1.0 - point.accuracy).max(least);
                ((point.labels.max(1) as f64).ln(), error.ln())
            })
            .collect();
        let count = logs.len() as f64;
        let mean_x = logs.iter().map(|(x, _)| x).sum::<f64>() / count;
        let mean_y = logs.iter().map(|(_, y)| y).sum::<f64>() / count;
        let spread: f64 = logs.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
        if logs.len() < 2 || spread < 1e-9 {
            return None;
        }
        let along: f64 = logs.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
        let slope = along / spread;
        Some(Self {
            scale: (mean_y - slope * mean_x).exp(),
            rate: -slope,
        })
    }

    /// Accuracy at a number of labels.
    pub fn accuracy(&self, labels: usize) -> f64 {
        let error = self.scale * (labels.max(1) as f64).powf(-self.rate);
        1.0 - error.clamp(0.0, 1.0)
    }
}

/// How many more labels are worth buying, in words that are limited to what was measured.
pub fn worth_buying(points: &[CurvePoint], rows: usize) -> String {
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return "Nothing was measured.".into();
    };
    let percent = |share: f64| format!("{:.1}%", 100.0 * share);
    let Some(law) = PowerLaw::fit(points, rows) else {
        return format!(
            "{} labels give {}; one number of labels says nothing of more.",
            last.labels,
            percent(last.accuracy)
        );
    };
    let measured = format!(
        "From {} to {} labels, accuracy on {rows} held-out rows went from {} to {}",
        first.labels,
        last.labels,
        percent(first.accuracy),
        percent(last.accuracy)
    );
    if law.rate <= 0.02 || last.accuracy <= first.accuracy {
        return format!(
            "{measured}: it does not grow with the labels, so on this evidence more labels of the \
             same kind are not worth buying. With {rows} held-out rows a small gain would go unseen."
        );
    }
    let doubt = match first.high >= last.low {
        true => " The intervals overlap, so even this may be chance.",
        false => "",
    };
    let [twice, four_times] = [2, 4].map(|times| {
        let labels = times * last.labels;
        let gain = law.accuracy(labels) - law.accuracy(last.labels);
        (labels, percent(law.accuracy(labels)), 100.0 * gain)
    });
    format!(
        "{measured}.{doubt} Errors fell about as labels to the power of -{:.2}. If that went on, \
         which nobody has measured, {} labels would give about {} ({:+.1} points) and {} about {} \
         ({:+.1} points).",
        law.rate, twice.0, twice.1, twice.2, four_times.0, four_times.1, four_times.2
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(of: impl Fn(f64) -> f64) -> Vec<CurvePoint> {
        [10, 20, 40, 80]
            .map(|labels| {
                let accuracy = of(labels as f64);
                CurvePoint {
                    labels,
                    accuracy,
                    low: accuracy - 0.02,
                    high: accuracy + 0.02,
                }
            })
            .to_vec()
    }

    #[test]
    fn a_power_law_is_found_again() {
        let law = PowerLaw::fit(&points(|n| 1.0 - 0.8 * n.powf(-0.5)), 1000).expect("points");
        assert!((law.rate - 0.5).abs() < 1e-9 && (law.scale - 0.8).abs() < 1e-9);
        assert!((law.accuracy(160) - (1.0 - 0.8 / 160f64.sqrt())).abs() < 1e-9);
        assert_eq!(PowerLaw::fit(&points(|_| 0.5)[..1], 10), None);
        // Zero errors must not become minus infinity.
        let none = PowerLaw::fit(&points(|_| 1.0), 10).expect("points");
        assert!(none.rate.abs() < 1e-9);
    }

    #[test]
    fn words_follow_the_curve() {
        let steep = worth_buying(&points(|n| 1.0 - 0.8 * n.powf(-0.5)), 1000);
        assert!(steep.contains("to the power of -0.50"), "{steep}");
        assert!(
            steep.contains("160 labels would give about 93.7% (+2.6 points)"),
            "{steep}"
        );
        assert!(steep.contains("nobody has measured"), "{steep}");
        assert!(!steep.contains("overlap"), "{steep}");
        let slow = worth_buying(&points(|n| 0.80 + 0.0002 * n), 100);
        assert!(slow.contains("intervals overlap"), "{slow}");
        let flat = worth_buying(&points(|_| 0.8), 100);
        assert!(flat.contains("not worth buying"), "{flat}");
        // A dip between equal ends has a slope, but no gain.
        let dip = worth_buying(&points(|n| if n == 20.0 { 0.7 } else { 0.8 }), 100);
        assert!(dip.contains("not worth buying"), "{dip}");
        assert!(worth_buying(&points(|_| 0.8)[..1], 100).contains("says nothing of more"));
    }
}
