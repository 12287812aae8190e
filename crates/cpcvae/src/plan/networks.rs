//! Checked settings of networks and of the spatial transformer.

use crate::config::{NetName, RunConfig};
use crate::error::{Error, Result};
use crate::model::{ModelKind, TransformPlan};
use crate::net::spatial_transformer::TransformRanges;
use crate::net::{Net, WideResNetShape};
use crate::range::{at_least_one, at_least_zero};

/// The kind of encoder and decoder.
pub(super) fn net(config: &RunConfig, image: Option<[usize; 3]>, kind: ModelKind) -> Result<Net> {
    let model = &config.model;
    let key = "model.net";
    match model.net {
        NetName::Mlp => return Ok(Net::Mlp),
        NetName::Wrn => {}
    }
    if image.is_none() {
        let problem = "`wrn` is for images; the columns of a table need `mlp`";
        return Err(Error::setting(key, problem));
    }
    if !matches!(
        kind,
        ModelKind::Vae | ModelKind::StackedVae | ModelKind::Classifier
    ) {
        let method = config.method.name();
        let problem = format!("the networks of `{method}` are dense; set it to `mlp`");
        return Err(Error::setting(key, problem));
    }
    let shape = WideResNetShape {
        depth: model.depth,
        width: model.width,
    };
    if shape.blocks().is_none() || model.depth > 64 {
        let problem = format!(
            "is {}; a wide residual network has 10, 16, 22, 28, ... layers, at most 64",
            model.depth
        );
        return Err(Error::setting("model.depth", problem));
    }
    if model.width == 0 || model.width > 100 {
        let problem = format!("is {}; it must be from 1 to 100", model.width);
        return Err(Error::setting("model.width", problem));
    }
    Ok(Net::Wrn(shape))
}

/// Whether hidden layers of dense networks are normalised.
pub(super) fn batch_norm(config: &RunConfig, kind: ModelKind) -> Result<bool> {
    let model = &config.model;
    let key = "model.batch_norm";
    if !model.batch_norm {
        return Ok(false);
    }
    if model.net == NetName::Wrn {
        let problem = "is for dense networks; a wide residual network normalises its convolutions in any case, so \
                       set it to false";
        return Err(Error::setting(key, problem));
    }
    if matches!(
        kind,
        ModelKind::LabelVae | ModelKind::BlendedVae | ModelKind::StackedVae
    ) {
        let method = config.method.name();
        let problem = format!("the networks of `{method}` have none; set it to false");
        return Err(Error::setting(key, problem));
    }
    Ok(true)
}

/// Affine transforms in the code, if wanted.
pub(super) fn transform(
    config: &RunConfig,
    is_image: bool,
    kind: ModelKind,
) -> Result<Option<TransformPlan>> {
    let transform = &config.model.transform;
    if !transform.enabled || kind == ModelKind::Classifier {
        return Ok(None);
    }
    let key = "model.transform.enabled";
    if !is_image {
        return Err(Error::setting(
            key,
            "affine transforms are for images, not for tables",
        ));
    }
    if kind != ModelKind::Vae {
        let method = config.method.name();
        let problem = format!("`{method}` has no affine transforms; set it to false");
        return Err(Error::setting(key, problem));
    }
    if transform.shear >= 1.5 {
        let problem = "must stay below 1.5 radians: at a right angle an image has no area";
        return Err(Error::setting("model.transform.shear", problem));
    }
    Ok(Some(TransformPlan {
        ranges: TransformRanges {
            translation: at_least_zero("model.transform.translation", transform.translation)?,
            rotation: at_least_zero("model.transform.rotation", transform.rotation)?,
            shear: at_least_zero("model.transform.shear", transform.shear)?,
            scale: at_least_one("model.transform.scale", transform.scale)?,
        },
        canvas: at_least_one("model.transform.canvas", transform.canvas)?,
    }))
}
