//! Labels that are probably wrong according to models that did not see them.

use crate::crossfit::HeldOut;
use crate::infer::calibrate::at_temperature;
use crate::infer::largest;
use cpcvae_data::Dataset;
use serde::{Deserialize, Serialize};

/// A label that may be wrong.
///
/// ```
/// use cpcvae::prelude::*;
/// // Two clouds, and one label of the wrong cloud.
/// let rows: Vec<[f32; 2]> =
///     (0..80).map(|i| [(i % 2 * 9 + i % 5) as f32, (i % 7) as f32]).collect();
/// let class = |i: usize| ["low", "high"][if i == 6 { 1 } else { i % 2 }];
/// let labels = (0..80).map(|i| (i < 40).then(|| class(i)));
/// let data = Dataset::from_rows(&rows, Labels::classes(labels))?;
/// let fitted = Cpc::new().steps(50).fit(&data)?;
/// assert_eq!(fitted.suspects()[0].row, 6);
/// # Ok::<(), cpcvae::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Suspect {
    /// Number of the row.
    pub row: usize,
    /// Its label.
    pub label: String,
    /// The more likely label.
    pub likely: String,
    /// Calibrated probability of its label, by a model that did not see it.
    pub probability: f64,
    /// The same of the more likely one.
    pub likely_probability: f64,
}

/// Labels that are probably wrong, the most doubtful first: another class is the most probable one,
/// and at least as probable as it is on average for rows with that label (confident learning,
/// Northcutt et al. 2021). Empty if labels are not classes.
pub(super) fn suspects(data: &Dataset, held_out: &HeldOut, temperature: f64) -> Vec<Suspect> {
    let names = data.class_names();
    let classes = names.len();
    if classes == 0 {
        return Vec::new();
    }
    let mut outputs = held_out.outputs.clone();
    at_temperature(&mut outputs.values, classes, temperature);
    let known = |place: usize| data.labels.class_of(held_out.rows[place]);
    let mut sums = vec![(0.0, 0.0); classes];
    for place in 0..held_out.rows.len() {
        if let Some(class) = known(place).map(|class| class as usize) {
            sums[class].0 += f64::from(outputs.row(place)[class]);
            sums[class].1 += 1.0;
        }
    }
    let usual = |class: usize| match sums[class] {
        (_, 0.0) => f64::INFINITY,
        (sum, count) => sum / count,
    };
    let mut found: Vec<Suspect> = (0..held_out.rows.len())
        .filter_map(|place| {
            let class = known(place)? as usize;
            let row = outputs.row(place);
            let likely = largest(row);
            let (of_label, of_likely) = (f64::from(row[class]), f64::from(row[likely]));
            (likely != class && of_likely >= usual(likely)).then(|| Suspect {
                row: held_out.rows[place] as usize,
                label: names[class].clone(),
                likely: names[likely].clone(),
                probability: of_label,
                likely_probability: of_likely,
            })
        })
        .collect();
    let doubt = |suspect: &Suspect| suspect.likely_probability - suspect.probability;
    found.sort_by(|a, b| doubt(b).total_cmp(&doubt(a)).then(a.row.cmp(&b.row)));
    // A row counts once, however often it was held out.
    let mut seen = std::collections::BTreeSet::new();
    found.retain(|suspect| seen.insert(suspect.row));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpcvae_data::{Labels, Matrix};

    #[test]
    fn only_labels_that_a_sure_answer_contradicts_are_doubted() {
        let labels = Labels::classes([Some("a"), Some("a"), Some("b"), Some("b"), Some("a")]);
        let rows = [[0.0], [1.0], [2.0], [3.0], [4.0]];
        let data = Dataset::from_rows(&rows, labels).expect("fits");
        let held_out = HeldOut {
            rows: vec![0, 1, 2, 3, 4],
            // The last but one label is doubted; the prediction for row 4 differs, but with little
            // confidence.
            outputs: Matrix::new(
                5,
                2,
                vec![0.9, 0.1, 0.8, 0.2, 0.1, 0.9, 0.95, 0.05, 0.49, 0.51],
            )
            .expect("fits"),
        };
        let found = suspects(&data, &held_out, 1.0);
        assert_eq!(found[0].row, 3);
        assert_eq!((&found[0].label[..], &found[0].likely[..]), ("b", "a"));
        // The mean probability of class b over rows labelled b is 0.475.
        assert_eq!(found.iter().map(|s| s.row).collect::<Vec<_>>(), [3, 4]);
    }
}
