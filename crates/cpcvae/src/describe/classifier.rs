//! The independent classifier that judges samples.
//!
//! A dense network on real rows and their labels alone. It uses all labels of the data, including
//! those hidden from the model: it is a measuring device, not a competitor.

use super::frechet::{Moments, frechet};
use super::plain_vae::kind_of;
use super::{Parts, trainings};
use crate::config::RunConfig;
use crate::error::Result;
use crate::evenly::evenly;
use crate::infer::largest;
use crate::method::DataKind;
use crate::model::ActivationName;
use crate::run::{RunFolder, Trained};
use crate::train::Observer;
use burn::tensor::Device;
use cpcvae_data::{Dataset, Labels, Layout, Matrix, Source, Split};

/// Hidden units; Fréchet distances are measured in the last layer. Augmented images need more.
const IMAGE_UNITS: [usize; 2] = [800, 100];
const MOVED_UNITS: [usize; 3] = [1500, 800, 100];
const TABLE_UNITS: [usize; 2] = [200, 50];
/// Epochs over the labels, within this many steps, and rows in each.
const IMAGE_PASSES: usize = 20;
const TABLE_PASSES: usize = 100;
const STEPS: (usize, usize) = (500, 6000);
const BATCH: usize = 200;
/// If the model transforms images, the classifier is trained on images transformed as much, for so
/// many times the steps.
const MOVED_STEPS: u64 = 2;
/// The largest difference from the identity matrix: from 0.5 on it could flatten an image.
const MOST_STRETCH: f64 = 0.45;
/// Shift in pixels if the model does not transform images.
const SMALL_SHIFT: usize = 2;

/// A trained classifier and how good it is.
#[derive(Clone, Debug)]
pub struct Judge {
    trained: Trained,
    /// Accuracy on labelled rows that were in neither its training nor the model's, untransformed.
    pub accuracy: Option<f64>,
    /// The same on these rows transformed as the model transforms images; `None` if it does not.
    pub moved_accuracy: Option<f64>,
    /// Number of labels in its training.
    pub labels: usize,
}

/// Trains the classifier, in `quality/classifier` of the run's folder if it has one. A finished
/// training there is loaded, a stopped one resumes. `None` when the observer asked for a stop.
pub fn train_classifier(
    parts: &Parts,
    config: &RunConfig,
    folder: Option<&RunFolder>,
    device: &Device,
    observer: &mut dyn Observer,
) -> Result<Option<Judge>> {
    let known = parts.known();
    let labels = known.len();
    let source = Source {
        rows: parts.rows.clone(),
        test: None,
        split: Some(Split {
            labelled: known,
            ..Split::default()
        }),
    };
    let folder = trainings::folder(folder, "classifier");
    let moves = config.model.transform.enabled;
    let config = settings(config, &parts.rows.layout, labels)?;
    let trained = trainings::trained(&config, source, folder.as_ref(), device, observer)?;
    let judge = |trained: Trained| {
        let rows = trained.card.preprocess.apply(parts.unseen.clone())?;
        let accuracy = |rows: &Dataset| trained.inference.evaluate_predictions(rows).accuracy;
        let (shift, stretch) = (config.train.shift, config.train.stretch as f32);
        Ok(Judge {
            accuracy: accuracy(&rows),
            moved_accuracy: match moves {
                true => accuracy(&rows.moved(shift, stretch, config.seed)),
                false => None,
            },
            trained,
            labels,
        })
    };
    trained.map(judge).transpose()
}

fn settings(run: &RunConfig, layout: &Layout, labels: usize) -> Result<RunConfig> {
    let kind = kind_of(layout);
    let mut config = RunConfig::defaults("labels-only", kind, &run.data.source)?;
    config.seed = run.seed;
    config.data = run.data.clone();
    (config.data.labels, config.data.validation, config.data.test) = (0, 0.0, 0.0);
    config.model.missing_cells = run.model.missing_cells;
    config.train.labelled_per_batch = BATCH;
    config.train.unlabelled_per_batch = 0;
    config.train.precision = run.train.precision;
    let transform = &run.model.transform;
    let (units, passes) = match kind {
        DataKind::Images if transform.enabled => (&MOVED_UNITS[..], IMAGE_PASSES),
        DataKind::Images => (&IMAGE_UNITS[..], IMAGE_PASSES),
        DataKind::Table => (&TABLE_UNITS[..], TABLE_PASSES),
    };
    config.model.hidden = units.to_vec();
    config.model.activation = ActivationName::Relu;
    let steps = (passes * labels).div_ceil(BATCH);
    config.train.steps = steps.clamp(STEPS.0, STEPS.1) as u64;
    if let Layout::Image { height, width, .. } = layout {
        let side = *height.min(width) as f64;
        config.train.shift = SMALL_SHIFT.min(side as usize / 8);
        if transform.enabled {
            let turned = (transform.rotation + transform.shear).sin();
            let stretch = (transform.scale - 1.0).max(turned).min(MOST_STRETCH);
            config.train.stretch = stretch.max(0.0);
            config.train.shift = (side * transform.translation).round() as usize;
            config.train.steps *= MOVED_STEPS;
        }
    }
    Ok(config)
}

impl Judge {
    /// The predicted class of each row; rows are in the data's units.
    pub(super) fn classes(&self, rows: &Matrix) -> Result<Vec<usize>> {
        let outputs = self
            .trained
            .inference
            .predict(&self.prepared(rows)?.features, 0)?;
        Ok((0..outputs.rows)
            .map(|row| largest(outputs.row(row)))
            .collect())
    }

    /// Its last hidden layer, `[rows, units]`.
    pub(super) fn hidden(&self, rows: &Matrix) -> Result<Matrix> {
        self.trained
            .inference
            .last_hidden(&self.prepared(rows)?.features)
    }

    /// The Fréchet distance in the last hidden layer between the measured rows and other rows,
    /// which are weighted. `None` for fewer than two rows.
    pub(super) fn distance(
        &self,
        parts: &Parts,
        rows: &Matrix,
        weights: &[f64],
    ) -> Result<Option<f64>> {
        let real = self.hidden(&parts.measured.features.matrix())?;
        let real = Moments::of(&real, &vec![1.0; real.rows]);
        let made = Moments::of(&self.hidden(rows)?, weights);
        Ok(real.zip(made).map(|(real, made)| frechet(&real, &made)))
    }

    /// The same for as many training rows, as a reference between real rows.
    pub(super) fn distance_of_real_rows(&self, parts: &Parts) -> Result<Option<f64>> {
        let training = [parts.split.labelled.as_slice(), &parts.split.unlabelled].concat();
        let rows = evenly(&training, parts.measured.len().max(1));
        let rows = parts.rows.features.gather(&rows);
        self.distance(parts, &rows, &vec![1.0; rows.rows])
    }

    fn prepared(&self, rows: &Matrix) -> Result<Dataset> {
        let preprocess = &self.trained.card.preprocess;
        let layout = preprocess.layout.clone();
        let rows = Dataset::new("samples", rows.clone(), layout, Labels::None)?;
        preprocess.apply(rows)
    }
}
