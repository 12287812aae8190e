//! Predictions for rows, with conformal sets, densities and votes.

use crate::infer::largest;
use cpcvae_data::Matrix;

/// Predictions, one a row.
///
/// ```
/// # use cpcvae::prelude::*;
/// # let rows: Vec<[f32; 2]> =
/// #     (0..60).map(|i| [(i % 2 * 9 + i % 5) as f32, (i % 7) as f32]).collect();
/// # let labels = (0..60).map(|i| (i < 20).then_some(["low", "high"][i % 2]));
/// # let data = Dataset::from_rows(&rows, Labels::classes(labels))?;
/// let fitted = Pc::new().steps(50).hold_out(false).fit(&data)?;
/// let answers = fitted.predict(&[[10.0, 3.0]])?;
/// assert_eq!(answers.classes, ["high", "low"]);
/// println!("{}", answers.line(0)); // the label, its probability, log p(x) and its percentile
/// assert_eq!(answers.outputs_array().dim(), (1, 2));
/// # Ok::<(), cpcvae::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Predictions {
    /// Names of the classes; empty where labels are continuous.
    pub classes: Vec<String>,
    /// Calibrated probabilities `[rows, classes]`, or continuous labels `[rows, labels]` in the
    /// user's units, less their offsets; see [`Predictions::value`].
    pub outputs: Matrix,
    /// Added to each continuous label, in 64 bits: labels that are large against their spread do
    /// not fit an `f32`. Empty where there are none.
    pub offsets: Vec<f64>,
    /// The classes of each row's conformal set; `None` if no labels were held out.
    pub sets: Option<Vec<Vec<usize>>>,
    /// Half the width of the conformal interval of each continuous label; infinite if too few
    /// labels were held out for the coverage, `None` if none was.
    pub half_widths: Vec<Option<f32>>,
    /// log p(x), if requested and the model has a generative part.
    pub log_density: Option<Vec<f32>>,
    /// Of 100 training rows, how many are at least as unusual as the row: by the distance to the
    /// nearest training rows if these are stored, otherwise by log p(x).
    pub percentile: Option<Vec<f32>>,
    /// For each of [`Fitted::voters`](super::Fitted::voters) the index of the class that it predicts
    /// for each row; empty if not requested, or if the network predicts alone.
    pub votes: Vec<Vec<usize>>,
    /// The same for continuous labels: each voter's prediction, like [`Predictions::outputs`].
    pub value_votes: Vec<Matrix>,
}

impl Predictions {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.outputs.rows
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The index of the most probable class of a row.
    pub fn class(&self, row: usize) -> usize {
        largest(self.outputs.row(row))
    }

    /// The name of the most probable class of a row; empty if labels are continuous.
    pub fn label(&self, row: usize) -> &str {
        self.classes.get(self.class(row)).map_or("", String::as_str)
    }

    /// A continuous label of a row, with its offset.
    pub fn value(&self, row: usize, label: usize) -> f64 {
        let offset = self.offsets.get(label).copied().unwrap_or(0.0);
        offset + f64::from(self.outputs.row(row)[label])
    }

    /// A number in the units of a continuous label, such as the end of an interval, as text: with
    /// 32 bits if the label has no offset.
    pub fn value_text(&self, label: usize, value: f32) -> String {
        match self.offsets.get(label).copied().unwrap_or(0.0) {
            0.0 => value.to_string(),
            offset => (offset + f64::from(value)).to_string(),
        }
    }

    /// A row's prediction as a line of text.
    pub fn line(&self, row: usize) -> String {
        let outputs = self.outputs.row(row);
        let mut line = match self.classes.is_empty() {
            true => {
                let values = outputs.iter().enumerate();
                let values = values.map(|(label, value)| self.value_text(label, *value));
                values.collect::<Vec<_>>().join(", ")
            }
            false => format!("{} ({:.3})", self.label(row), outputs[self.class(row)]),
        };
        if let Some(sets) = &self.sets {
            let names = sets[row].iter().map(|class| &self.classes[*class][..]);
            line += &format!(", set {{{}}}", names.collect::<Vec<_>>().join(", "));
        }
        if let (Some(log_p), Some(percentile)) = (&self.log_density, &self.percentile) {
            let (log_p, percentile) = (log_p[row], percentile[row]);
            line += &format!(", log p(x) {log_p:.2}, percentile {percentile:.0}");
        }
        line
    }

    /// Outputs as a view of `ndarray`, `[rows, outputs]`.
    pub fn outputs_array(&self) -> ndarray::ArrayView2<'_, f32> {
        super::input::as_array(&self.outputs)
    }

    pub(super) fn extend(&mut self, other: Self) {
        self.outputs.rows += other.outputs.rows;
        self.outputs.values.extend(other.outputs.values);
        let join = |all: &mut Option<Vec<f32>>, more: Option<Vec<f32>>| {
            if let (Some(all), Some(more)) = (all, more) {
                all.extend(more);
            }
        };
        join(&mut self.log_density, other.log_density);
        join(&mut self.percentile, other.percentile);
        if self.votes.is_empty() {
            self.votes = other.votes;
        } else {
            let pairs = self.votes.iter_mut().zip(other.votes);
            pairs.for_each(|(all, more)| all.extend(more));
        }
        if self.value_votes.is_empty() {
            self.value_votes = other.value_votes;
        } else {
            for (all, more) in self.value_votes.iter_mut().zip(other.value_votes) {
                all.rows += more.rows;
                all.values.extend(more.values);
            }
        }
        if let (Some(sets), Some(more)) = (&mut self.sets, other.sets) {
            sets.extend(more);
        }
    }
}
