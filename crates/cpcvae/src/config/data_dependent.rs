//! Defaults that depend on the data.

use super::{EnsembleMembers, RunConfig};
use crate::distribution::Family;
use crate::method::Method;
use cpcvae_data::{Dataset, Layout};

/// From this many columns on a table needs a larger network.
const MANY_COLUMNS: usize = 12;
/// With fewer rows than this for each column, such likelihoods would overfit.
const ROWS_A_COLUMN: usize = 10;

/// Steps and minimum step size of a network that is a member of an ensemble: on eight tables with
/// ten labels a class, 600, 1,000 and 2,000 steps gave equally good ensemble predictions.
const QUICK_STEPS: u64 = 1000;
const QUICK_RATE: f64 = 2e-3;

/// Tables of fewer rows than this are trained with fewer steps, ...
const FEW_ROWS: usize = 500;
/// ... this many for each row, within these limits: with five labels a class on tables of 100 to
/// 300 rows, 150 and 4,000 steps gave equally good ensemble predictions, and with 30 to 100
/// continuous labels 150 and 1,000 steps predicted equally well.
const STEPS_A_ROW: u64 = 3;
const STEPS_OF_FEW_ROWS: [u64; 2] = [150, 600];

/// The most pixels by which a user's own images are shifted: dense networks gain from more on house
/// numbers, and lose from any shift on portraits, which are aligned (`docs/evidence.md`).
const MOST_SHIFT: usize = 1;

/// Images that are sampled to see whether they are black and white.
const IMAGES: usize = 1000;
/// Pixels closer than this to 0 or 1 count as black or white ...
const NEAR: f32 = 0.1;
/// ... and so do images in which at least this share of the pixels does.
const BLACK_AND_WHITE: f64 = 0.8;

/// Whether nearly all pixels are near the darkest or the brightest value.
fn is_black_and_white(data: &Dataset) -> bool {
    let step = data.len().div_ceil(IMAGES).max(1);
    let rows: Vec<u32> = (0..data.len() as u32).step_by(step).collect();
    let pixels = data.features.gather(&rows).values;
    let is_near = |pixel: &&f32| **pixel <= NEAR || **pixel >= 1.0 - NEAR;
    let near = pixels.iter().filter(is_near).count();
    near as f64 >= BLACK_AND_WHITE * pixels.len() as f64
}

impl RunConfig {
    /// Adapts these default settings to the data. If all labels are used and every row has one,
    /// batches are of labelled rows. For a table, the sizes of code and network grow with the
    /// number of columns, and so do the weights of the label terms, since the evidence grows with
    /// it. The rule is in `docs/columns.md`. For a user's own images, the likelihood depends on
    /// whether they are nearly black and white.
    pub fn with_data_dependent_defaults(mut self, data: &Dataset, uses_all_labels: bool) -> Self {
        if uses_all_labels && data.labelled_rows().len() == data.len() {
            self.train.labelled_per_batch += self.train.unlabelled_per_batch;
            self.train.unlabelled_per_batch = 0;
        }
        let Layout::Columns(columns) = &data.layout else {
            if data.built_in().is_some() {
                return self;
            }
            self.train.shift = self.train.shift.min(MOST_SHIFT);
            if is_black_and_white(data) {
                return self.for_black_and_white();
            }
            // Binarising photographs would destroy nearly all of their content.
            if self.method.has_plain_images() {
                self.model.likelihood = Family::Normal;
            }
            return self;
        };
        let (rows, columns) = (data.len(), columns.len());
        self.model.code = columns.div_ceil(2).clamp(2, 20);
        if columns >= MANY_COLUMNS {
            let larger = |layers: &mut Vec<usize>| layers.iter_mut().for_each(|units| *units = 300);
            larger(&mut self.model.hidden);
            larger(&mut self.model.predictor);
            self.train.learning_rate = 1e-3;
            self.train.steps = 2000;
        }
        let is_ensemble = self.ensemble.members == EnsembleMembers::All;
        if is_ensemble && columns > 2 {
            // Ensemble members predict too, and the cross-fit adds trainings: six in all.
            self.train.learning_rate = self.train.learning_rate.max(QUICK_RATE);
            self.train.steps = QUICK_STEPS;
        }
        if rows < ROWS_A_COLUMN * columns {
            self.model.scale_floor = 0.3;
            self.train.steps = self.train.steps.min(500);
            if let Method::Cpc(cpc) = &mut self.method {
                cpc.input_noise = 1.0;
                self.pseudo_labels.mixup = 5.0;
            }
        }
        if rows < FEW_ROWS && is_ensemble {
            self.for_few_rows(rows);
        }
        // The weights were tuned on half-moon, which has two columns.
        let growth = (columns.max(2) as f64 / 2.0).powf(0.25);
        let grown = |weight: f64| (weight * growth * 10.0).round() / 10.0;
        match &mut self.method {
            Method::Pc(pc) => pc.prediction_weight = grown(pc.prediction_weight),
            Method::Cpc(cpc) => {
                cpc.prediction_weight = grown(cpc.prediction_weight);
                self.pseudo_labels.weight = grown(self.pseudo_labels.weight);
            }
            _ => {}
        }
        self
    }

    /// Adapts these settings to a table with few rows and an ensemble: fewer steps suffice, and a
    /// batch has no more rows than the table, with the same share of labels.
    fn for_few_rows(&mut self, rows: usize) {
        let train = &mut self.train;
        let [fewest, most] = STEPS_OF_FEW_ROWS;
        train.steps = train
            .steps
            .min((STEPS_A_ROW * rows as u64).clamp(fewest, most));
        train.learning_rate = train.learning_rate.max(QUICK_RATE);
        let batch = train.labelled_per_batch + train.unlabelled_per_batch;
        let scaled = |part: usize| match part {
            0 => 0,
            part => (part * rows.min(batch) / batch).max(1),
        };
        let (few, many) = (train.labelled_per_batch, train.unlabelled_per_batch);
        (train.labelled_per_batch, train.unlabelled_per_batch) = (scaled(few), scaled(many));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::DataKind;
    use cpcvae_data::{Column, DataConfig, Features, Labels, Matrix};

    fn suited(rows: usize, columns: usize) -> RunConfig {
        let data = Dataset {
            name: "made".into(),
            features: Features::new(Matrix {
                rows,
                columns,
                values: vec![0.0; rows * columns],
            }),
            layout: Layout::Columns(
                (0..columns)
                    .map(|i| Column::number(format!("x{i}")))
                    .collect(),
            ),
            labels: Labels::None,
            ids: None,
            origin: None,
        };
        let usual = RunConfig::defaults("cpc", DataKind::Table, "made").expect("cpc exists");
        usual.with_data_dependent_defaults(&data, true)
    }

    #[test]
    fn two_columns_keep_the_defaults() {
        let usual = RunConfig::defaults("cpc", DataKind::Table, "made").expect("cpc exists");
        assert_eq!(suited(1000, 2), usual);
    }

    #[test]
    fn few_rows_are_learnt_in_fewer_steps_and_smaller_batches() {
        let few = |rows: usize| {
            let usual = RunConfig::defaults("cpc", DataKind::Table, "made").expect("cpc exists");
            let values = Matrix::new(rows, 2, vec![0.0; rows * 2]).expect("fits");
            let data = Dataset::from_matrix(values, Labels::None).expect("fits");
            let voters = usual.with_ensemble();
            voters.with_data_dependent_defaults(&data, true).train
        };
        let steps = [20, 100, 400, 500].map(|rows| few(rows).steps);
        assert_eq!(steps, [150, 300, 600, 4000]);
        let batch = |rows| (few(rows).labelled_per_batch, few(rows).unlabelled_per_batch);
        assert_eq!([batch(60), batch(400)], [(30, 30), (100, 100)]);
        assert_eq!(suited(60, 2).train.steps, 4000); // a network that answers alone
    }

    #[test]
    fn photographs_are_not_binarised() {
        let images = |pixel: fn(usize) -> f32| Dataset {
            name: "made".into(),
            features: Features::new(Matrix {
                rows: 3,
                columns: 16,
                values: (0..48).map(pixel).collect(),
            }),
            layout: Layout::Image {
                height: 4,
                width: 4,
                channels: 1,
            },
            labels: Labels::None,
            ids: None,
            origin: None,
        };
        let likelihood = |method: &str, source: &str, data: &Dataset| {
            let usual = RunConfig::defaults(method, DataKind::Images, source).expect("it exists");
            let data = Dataset {
                origin: Some(Box::new(DataConfig::of(source))),
                ..data.clone()
            };
            usual
                .with_data_dependent_defaults(&data, false)
                .model
                .likelihood
        };
        let ink = images(|i| if i % 10 == 0 { 0.5 } else { (i % 2) as f32 });
        let photographs = images(|i| i as f32 / 48.0);
        assert_eq!(likelihood("m2", "x", &ink), Family::Bernoulli);
        assert_eq!(likelihood("m2", "x", &photographs), Family::Normal);
        assert_eq!(likelihood("sdgm", "x", &photographs), Family::Normal);
        // Built-in data has its own rule; other methods use a normal for black-and-white images and
        // the robust likelihood for photographs.
        assert_eq!(likelihood("m2", "mnist", &photographs), Family::Bernoulli);
        assert_eq!(likelihood("cpc", "x", &ink), Family::Normal);
        assert_eq!(likelihood("cpc", "x", &photographs), Family::NoiseNormal);
    }

    #[test]
    fn own_images_are_shifted_by_a_pixel_at_most() {
        let data = Dataset {
            layout: Layout::Image {
                height: 2,
                width: 2,
                channels: 1,
            },
            ..Dataset::from_matrix(Matrix::new(2, 4, vec![0.5; 8]).expect("fits"), Labels::None)
                .expect("fits")
        };
        let shift = |method: &str, built_in: bool| {
            let source = if built_in { "mnist" } else { "photos" };
            let usual = RunConfig::defaults(method, DataKind::Images, source).expect("it exists");
            let data = Dataset {
                origin: Some(Box::new(DataConfig::of(source))),
                ..data.clone()
            };
            usual.with_data_dependent_defaults(&data, false).train.shift
        };
        assert_eq!(shift("labels-only", false), 1);
        assert_eq!(shift("cpc", false), 0);
        assert_eq!(shift("labels-only", true), 2);
    }

    #[test]
    fn networks_and_weights_grow_with_the_columns() {
        let config = suited(5000, 64);
        assert_eq!(
            (config.model.code, &config.model.hidden[..]),
            (20, &[300, 300][..])
        );
        let Method::Cpc(cpc) = &config.method else {
            panic!("{:?}", config.method)
        };
        assert_eq!(
            (cpc.prediction_weight, config.pseudo_labels.weight),
            (11.9, 47.6)
        );
        assert_eq!(config.model.scale_floor, 0.01);
        assert_eq!((cpc.input_noise, config.pseudo_labels.mixup), (0.0, 0.0));
        let few_rows = suited(500, 64);
        assert_eq!(few_rows.model.scale_floor, 0.3);
        assert!(matches!(few_rows.method, Method::Cpc(cpc) if cpc.input_noise == 1.0));
        assert_eq!(few_rows.pseudo_labels.mixup, 5.0);
    }
}
