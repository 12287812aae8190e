//! Samples of each class, from the prior and from fitted codes, and the classifier's predictions
//! for them.

use super::{Effort, Judge, Parts};
use crate::error::Result;
use crate::infer::{CodeSource, RejectionLimits};
use crate::model::{ModelKind, Target};
use crate::run::Trained;
use cpcvae_data::Matrix;
use serde::Serialize;

/// How the codes of samples are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// From the prior N(0, I), accepted where the predictor is confident of the class: the paper's
    /// sampler.
    Prior,
    /// From the mixture fitted to codes of training rows, accepted in the same way.
    Fitted,
    /// From p(x|y), for models whose label is a latent variable.
    Direct,
}

/// Samples drawn in one way.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// How they were drawn.
    pub way: Way,
    /// One group a class, or one of all where the model has no classes.
    pub groups: Vec<Group>,
}

/// Samples of one class.
#[derive(Clone, Debug)]
pub struct Group {
    /// The requested class.
    pub class: Option<String>,
    /// The samples in the data's units; fewer than requested if the class is rare.
    pub rows: Matrix,
    /// Codes that were drawn for them.
    pub drawn: usize,
}

/// Figures of the samples drawn in one way.
#[derive(Clone, Debug, Serialize)]
pub struct SampleFigures {
    /// How they were drawn.
    pub way: Way,
    /// Figures of each class; empty if the model has no classes.
    pub classes: Vec<ClassFigures>,
    /// Share of all samples that the classifier assigns to the requested class.
    pub taken: Option<f64>,
    /// Fréchet distance to the measured rows; each class is weighted by its share of these.
    pub frechet: Option<f64>,
}

/// Figures of the samples of a class.
#[derive(Clone, Debug, Serialize)]
pub struct ClassFigures {
    /// Its name.
    pub class: String,
    /// Samples that were found.
    pub found: usize,
    /// Whether these are fewer than requested when the limit on drawn codes was reached.
    pub too_rare: bool,
    /// Codes that were drawn.
    pub drawn: usize,
    /// Share of these that were accepted.
    pub acceptance: f64,
    /// Share of the samples found that the classifier assigns to the class.
    pub taken: Option<f64>,
}

/// Draws samples in every way that the model supports.
pub(super) fn draw(trained: &Trained, effort: Effort) -> Result<Vec<Drawn>> {
    let is_vae = trained.card.shape.kind == ModelKind::Vae;
    let ways = match (is_vae, trained.inference.has_fitted_codes()) {
        (true, true) => vec![Way::Prior, Way::Fitted],
        (true, false) => vec![Way::Prior],
        (false, _) => vec![Way::Direct],
    };
    ways.into_iter()
        .map(|way| {
            Ok(Drawn {
                way,
                groups: groups(trained, way, effort)?,
            })
        })
        .collect()
}

fn groups(trained: &Trained, way: Way, effort: Effort) -> Result<Vec<Group>> {
    let (inference, preprocess) = (&trained.inference, &trained.card.preprocess);
    let codes = match way {
        Way::Fitted => CodeSource::Fitted,
        Way::Prior | Way::Direct => CodeSource::Prior,
    };
    let Target::Classes(names) = &trained.card.shape.target else {
        // As many as for ten classes.
        let rows = 10 * effort.samples;
        return Ok(vec![Group {
            class: None,
            rows: preprocess.invert(inference.sample(rows, effort.noisy, codes)?),
            drawn: rows,
        }]);
    };
    let limits = RejectionLimits {
        codes,
        threshold: effort.threshold,
        draws: effort.most_codes,
    };
    let group = |(class, name): (usize, &String)| {
        let samples = inference.sample_class_up_to(class, effort.samples, effort.noisy, limits)?;
        Ok(Group {
            class: Some(name.clone()),
            rows: preprocess.invert(samples.features),
            drawn: samples.drawn,
        })
    };
    names.iter().enumerate().map(group).collect()
}

/// Judges samples by the classifier.
pub(super) fn figures(
    drawn: &Drawn,
    parts: &Parts,
    judge: Option<&Judge>,
    effort: Effort,
) -> Result<SampleFigures> {
    let mut classes = Vec::new();
    let (mut right, mut judged) = (0, 0);
    let shares = parts.class_shares();
    let (mut values, mut weights) = (Vec::new(), Vec::new());
    for group in &drawn.groups {
        let found = group.rows.rows;
        values.extend_from_slice(&group.rows.values);
        // The number of the class in the data, by its name.
        let names = parts.rows.class_names();
        let place = names
            .iter()
            .position(|name| Some(name) == group.class.as_ref());
        let share = place.and_then(|place| shares.get(place)).copied();
        weights.extend(std::iter::repeat_n(
            share.unwrap_or(1.0) / found.max(1) as f64,
            found,
        ));
        let Some(class) = &group.class else { continue };
        let mut taken = None;
        if let (Some(judge), Some(place), true) = (judge, place, found > 0) {
            let takes = judge.classes(&group.rows)?;
            let of_class = takes.iter().filter(|class| **class == place).count();
            (right, judged) = (right + of_class, judged + found);
            taken = Some(of_class as f64 / found as f64);
        }
        classes.push(ClassFigures {
            class: class.clone(),
            found,
            too_rare: found < effort.samples,
            drawn: group.drawn,
            acceptance: found as f64 / group.drawn.max(1) as f64,
            taken,
        });
    }
    let all = Matrix::new(weights.len(), parts.rows.width(), values)?;
    Ok(SampleFigures {
        way: drawn.way,
        classes,
        taken: (judged > 0).then(|| right as f64 / judged as f64),
        frechet: match judge {
            Some(judge) if all.rows > 1 => judge.distance(parts, &all, &weights)?,
            _ => None,
        },
    })
}
