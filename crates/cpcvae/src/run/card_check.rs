//! Checks that the sizes on a card are those of the stored tensors before a model is made: a wrong
//! size could ask for any amount of memory.

use super::Card;
use crate::prepare::FeatureScale;
use crate::train::Parameters;
use cpcvae_data::{Layout, Standardizer};

pub(super) fn check(card: &Card, tensors: &Parameters) -> Result<(), String> {
    let shape = &card.shape;
    shape.check()?;
    scales(card)?;
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

/// Whether columns, their scales and the model's row are the same ones.
fn scales(card: &Card) -> Result<(), String> {
    let (preprocess, shape) = (&card.preprocess, &card.shape);
    let is_of =
        |scale: &Standardizer, width| (scale.mean.len(), scale.scale.len()) == (width, width);
    let columns = preprocess.columns();
    let is_image = matches!(preprocess.layout, Layout::Image { .. });
    let fits = match &preprocess.features {
        FeatureScale::Mixed(scale) => {
            let mut places = scale.row.can_be_missing.iter();
            !is_image
                && scale.is_of(columns)
                && shape.row.as_ref() == Some(&scale.row)
                && places.all(|place| *place < scale.row.width())
        }
        FeatureScale::Standardise(scale) => !is_image && is_of(scale, columns.len()),
        FeatureScale::Pixels { .. } => is_image,
    };
    if !fits {
        return Err("its columns are not those that its model has".into());
    }
    let outputs = shape.target.outputs();
    let offsets = preprocess.label_offsets.len();
    let labels_fit = preprocess
        .labels
        .as_ref()
        .is_none_or(|labels| is_of(labels, outputs));
    match labels_fit && (offsets == 0 || offsets == outputs) {
        true => Ok(()),
        false => Err("its labels are not those that its model predicts".into()),
    }
}
