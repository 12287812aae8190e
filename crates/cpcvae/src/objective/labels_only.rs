//! The baseline's loss: the prediction loss of labelled rows.

use super::{Examples, Prediction, Terms};
use crate::model::Classifier;

/// The mean loss over labelled rows.
pub(super) fn terms(model: &Classifier, batch: &Examples) -> Terms {
    let mut terms = Terms::default();
    let prediction = Prediction::new(model.predict(batch.labelled_features()), batch.classes);
    terms.push(
        "prediction",
        1.0,
        prediction.loss(batch.labels.clone()).mean(),
    );
    terms
}
