//! Progress of a whole `fit`, for the caller: many trainings, one after the other or at once.

use super::{Observer, Silent};

/// One of the trainings of a `fit`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrainingInfo {
    /// What is trained: the method's name.
    pub name: String,
    /// Which of so many it is, counted from 0: folds of a cross-fit.
    pub part: usize,
    /// How many there are.
    pub parts: usize,
}

/// Follows a whole `fit`, and may ask for a stop.
///
/// ```
/// use cpcvae::prelude::*;
/// # let rows: Vec<[f32; 2]> =
/// #     (0..60).map(|i| [(i % 2 * 9 + i % 5) as f32, (i % 7) as f32]).collect();
/// # let labels = (0..60).map(|i| (i < 20).then_some(["low", "high"][i % 2]));
/// # let data = Dataset::from_rows(&rows, Labels::classes(labels))?;
/// /// Prints what is worth telling.
/// struct Notes;
///
/// impl Watch for Notes {
///     fn note(&self, text: &str) {
///         println!("{text}");
///     }
/// }
/// let fitted = Pc::new().steps(20).folds(2).fit_watched(&data, &Notes)?;
/// assert!(fitted.comparison().is_some());
/// # Ok::<(), cpcvae::Error>(())
/// ```
pub trait Watch: Sync {
    /// A training begins. Its observer is dropped when it ends. Several may run at once.
    fn training(&self, _: &TrainingInfo) -> Box<dyn Observer> {
        Box::new(Silent)
    }

    /// So many trainings are to come in all, at most.
    fn plan(&self, _: usize) {}

    /// Something worth telling, as a sentence.
    fn note(&self, _: &str) {}
}

impl Watch for Silent {}
