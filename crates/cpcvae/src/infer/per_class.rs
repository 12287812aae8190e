//! Precision, recall and AUC of each class.

use super::quality::auroc;
use cpcvae_data::Matrix;
use serde::{Deserialize, Serialize};

/// Figures of one class against all others; `None` if there are no rows to measure it on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassFigures {
    /// Rows of the class.
    pub rows: u64,
    /// Of the rows that are predicted to be of the class, the share that is.
    pub precision: Option<f64>,
    /// Of the rows of the class, the share that is predicted so.
    pub recall: Option<f64>,
    /// Harmonic mean of precision and recall.
    pub f1: Option<f64>,
    /// Area under the ROC curve: how often a row of the class has a higher probability of it than a
    /// row of another class; ties count half.
    pub auc: Option<f64>,
}

/// From `probabilities [rows, classes]`, the rows' classes and `confusion[true][predicted]`.
pub(super) fn of_each_class(
    probabilities: &Matrix,
    labels: &[Option<u32>],
    confusion: &[Vec<u64>],
) -> Vec<ClassFigures> {
    let share = |part: u64, all: u64| (all > 0).then(|| part as f64 / all as f64);
    let figures = |class: usize| {
        let right = confusion[class][class];
        let rows = confusion[class].iter().sum();
        let predicted: u64 = confusion.iter().map(|row| row[class]).sum();
        ClassFigures {
            rows,
            precision: share(right, predicted),
            recall: share(right, rows),
            f1: share(2 * right, rows + predicted),
            auc: auc(probabilities, labels, class),
        }
    };
    (0..confusion.len()).map(figures).collect()
}

fn auc(probabilities: &Matrix, labels: &[Option<u32>], class: usize) -> Option<f64> {
    let known = labels.iter().enumerate();
    let (scores, is_of_class): (Vec<f64>, Vec<bool>) = known
        .filter_map(|(row, label)| {
            let is_of_class = (*label)? as usize == class;
            Some((f64::from(probabilities.row(row)[class]), is_of_class))
        })
        .unzip();
    auroc(&scores, &is_of_class)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against sklearn's precision_recall_fscore_support and roc_auc_score by hand: of the four pairs
    /// of class 1 against class 0, three are in order and one is tied.
    #[test]
    fn figures_of_a_small_table() {
        let second = [0.1, 0.6, 0.6, 0.9, 0.5];
        let values = second.iter().flat_map(|p: &f32| [1.0 - p, *p]).collect();
        let probabilities = Matrix::new(5, 2, values).expect("fits");
        let labels = [Some(0), Some(0), Some(1), Some(1), None];
        let confusion = [vec![1, 1], vec![0, 2]];
        let figures = of_each_class(&probabilities, &labels, &confusion);
        assert_eq!(figures[1].rows, 2);
        assert_eq!(figures[1].precision, Some(2.0 / 3.0));
        assert_eq!(figures[1].recall, Some(1.0));
        assert_eq!(figures[1].f1, Some(0.8));
        assert_eq!(figures[1].auc, Some(3.5 / 4.0));
        assert_eq!(figures[0].auc, Some(3.5 / 4.0));
        let nobody = of_each_class(&probabilities, &[None; 5], &[vec![0, 0], vec![0, 0]]);
        assert_eq!((nobody[0].precision, nobody[0].recall), (None, None));
        assert_eq!((nobody[0].f1, nobody[0].auc), (None, None));
    }
}
