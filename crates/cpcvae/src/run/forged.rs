//! Whether a card's sizes are those of the tensors beside it. A model is made only then: a size that
//! is wrong could ask for any amount of memory.

use super::Card;
use crate::prepare::FeatureScale;
use crate::train::Parameters;

pub(super) fn check(card: &Card, tensors: &Parameters) -> Result<(), String> {
    let shape = &card.shape;
    shape.check()?;
    let width = card.preprocess.layout.width();
    let expected = match &card.preprocess.features {
        FeatureScale::Mixed(scale) => scale.row.columns(),
        FeatureScale::Standardise(_) | FeatureScale::Pixels { .. } => shape.features,
    };
    if width != expected {
        return Err(format!(
            "its rows have {width} columns, its model {expected}"
        ));
    }
    let stored: u64 = tensors
        .0
        .values()
        .map(|(_, values)| values.len() as u64)
        .sum();
    let least = shape.least_parameters();
    match least <= stored {
        true => Ok(()),
        false => Err(format!(
            "a model of its sizes has at least {least} parameters, and it holds {stored}"
        )),
    }
}
