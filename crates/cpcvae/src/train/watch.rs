//! Progress of a complete `fit`, for the caller: many trainings, in sequence or in parallel.

use super::{Observer, Silent};

/// One of the trainings of a `fit`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrainingInfo {
    /// The method's name.
    pub name: String,
    /// Its index among the parts of a cross-fit.
    pub part: usize,
    /// The number of parts.
    pub parts: usize,
}

/// Follows a complete `fit`, and may ask for a stop.
///
/// ```
/// use cpcvae::prelude::*;
/// # let rows: Vec<[f32; 2]> =
/// #     (0..60).map(|i| [(i % 2 * 9 + i % 5) as f32, (i % 7) as f32]).collect();
/// # let labels = (0..60).map(|i| (i < 20).then_some(["low", "high"][i % 2]));
/// # let data = Dataset::from_rows(&rows, Labels::classes(labels))?;
/// /// Prints all notes.
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
    /// A training starts. Its observer is dropped when it ends. Several may run at once.
    fn training(&self, _: &TrainingInfo) -> Box<dyn Observer> {
        Box::new(Silent)
    }

    /// At most this many trainings will be run in total.
    fn plan(&self, _: usize) {}

    /// A sentence for the user.
    fn note(&self, _: &str) {}
}

impl Watch for Silent {}
