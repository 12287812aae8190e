//! The paper's protocol, networks and weights, from its text, its appendix and its table of
//! settings.
//!
//! What the paper leaves open is listed, with our choice, in `docs/methods/paper-preset.md`; keep
//! it in step with this file.

use super::{BuiltIn, NetName, RunConfig, ScheduleName};
use crate::distribution::Family;
use crate::method::{DataKind, Method};
use crate::model::ActivationName;
use crate::objective::{AggregateViews, GradientPath};
use cpcvae_data::HalfMoonLabels;

/// Not in the paper: steps on images, and on half-moon.
const STEPS: u64 = 20_000;
const HALF_MOON_STEPS: u64 = 8000;
/// Not in the paper: share of the run over which consistency, aggregate and entropy weights rise.
const RAMP: f64 = 0.3;
/// Not in the paper: smallest sigma of the Noise-Normal likelihood.
const SCALE_FLOOR: f64 = 0.1;

/// A column of the paper's table of settings, limited to rows that differ between columns.
struct Column {
    /// lambda.
    prediction: f64,
    /// gamma / lambda.
    consistency: f64,
    /// Aggregate weight / lambda.
    aggregate: f64,
    beta: f64,
    /// alpha^(3), in radians.
    rotation: f64,
}

/// Entropy weight / lambda, in all columns.
const ENTROPY: f64 = 0.5;

/// The column of a data set. Faces have none and use that of SVHN; half-moon has none at all.
fn column(data: BuiltIn) -> Option<Column> {
    let (prediction, consistency, aggregate, beta, rotation) = match data {
        BuiltIn::Mnist => (25.0, 4.25, 0.1, 1.0, 0.4),
        BuiltIn::Svhn | BuiltIn::Celeba => (140.0, 1.25, 0.2, 1.3, 0.5),
        BuiltIn::Norb => (80.0, 4.0, 0.2, 2.0, 0.4),
        BuiltIn::HalfMoon | BuiltIn::Glyphs => return None,
    };
    Some(Column {
        prediction,
        consistency,
        aggregate,
        beta,
        rotation,
    })
}

/// The table's weights of the terms, for the methods that have them; except the predictor norm.
pub(super) fn set_weights(config: &mut RunConfig, data: BuiltIn) {
    let Some(column) = column(data) else {
        return;
    };
    match &mut config.method {
        Method::Cpc(cpc) => {
            cpc.prediction_weight = column.prediction;
            cpc.consistency_weight = column.consistency;
            cpc.aggregate_weight = column.aggregate;
            cpc.entropy_weight = ENTROPY;
            cpc.beta = column.beta;
        }
        Method::Pc(pc) => (pc.prediction_weight, pc.beta) = (column.prediction, column.beta),
        _ => {}
    }
}

/// The paper's settings on this data, starting from the default preset.
pub(super) fn settings(mut config: RunConfig, data: BuiltIn) -> RunConfig {
    config.train.shift = match data {
        BuiltIn::Svhn | BuiltIn::Norb => 2,
        _ => 0,
    };
    config.data.gray = data == BuiltIn::Celeba;
    if let Method::Cpc(cpc) = &mut config.method {
        cpc.aggregate_views = AggregateViews::First;
        cpc.gradient_path = GradientPath::Auto;
    }
    match DataKind::of_built_in(data) {
        DataKind::Table => {
            config.data.half_moon_labels = HalfMoonLabels::EvenlySpaced;
            config.train.steps = HALF_MOON_STEPS;
            config
        }
        DataKind::Images => images(config, data),
    }
}

fn images(mut config: RunConfig, data: BuiltIn) -> RunConfig {
    set_weights(&mut config, data);
    match &mut config.method {
        Method::Cpc(cpc) => {
            cpc.predictor_norm = 1.0;
            (cpc.consistency_ramp, cpc.aggregate_ramp) = (RAMP, RAMP);
            cpc.entropy_ramp = RAMP;
        }
        Method::Pc(pc) => pc.predictor_norm = 1.0,
        Method::SupervisedVae(method) => method.predictor_norm = 1.0,
        Method::Vae(_) | Method::VaeThenMlp(_) | Method::LabelsOnly(_) => {}
        Method::M2(_) if data == BuiltIn::Mnist => return kingmas_m2(config),
        // For the other methods, the paper cites results from their papers.
        _ => return config,
    }
    let model = &mut config.model;
    model.likelihood = Family::NoiseNormal;
    model.scale_floor = SCALE_FLOOR;
    if let Some(column) = column(data) {
        model.transform.rotation = column.rotation;
    }
    if data == BuiltIn::Mnist {
        model.hidden = vec![1000; 2];
        model.activation = ActivationName::Softplus;
        model.code = 50;
    } else {
        config = config.with_net(NetName::Wrn);
    }
    config.train.learning_rate = 3e-4;
    config.train.schedule = ScheduleName::Cosine;
    config.train.steps = STEPS;
    config
}

/// M2 with the hyperparameters of its authors, and a learning rate that falls when the validation
/// loss stops improving.
fn kingmas_m2(mut config: RunConfig) -> RunConfig {
    config.model.hidden = vec![500];
    config.model.activation = ActivationName::Softplus;
    config.model.likelihood = Family::Bernoulli;
    config.model.code = 50;
    if let Method::M2(m2) = &mut config.method {
        m2.classification_weight = 0.1;
    }
    config.train.learning_rate = 3e-4;
    config.train.schedule = ScheduleName::Plateau;
    config.train.steps = STEPS;
    config
}

#[cfg(test)]
mod tests {
    use super::super::{Preset, PresetData, PseudoLabelSourceName};
    use super::*;

    fn paper(method: &str, data: BuiltIn) -> RunConfig {
        let source = data.name();
        RunConfig::preset(method, PresetData::BuiltIn(data), source, Preset::Paper)
            .expect("it exists")
    }

    /// Appendix D and its table, data set by data set.
    #[test]
    fn the_table_of_settings() {
        // lambda, gamma, aggregate, entropy, norm, beta, rotation; code, shift, validation rows
        let rows = [
            (
                BuiltIn::Mnist,
                [25.0, 4.25, 0.1, 0.5, 1.0, 1.0, 0.4],
                (50, 0, 10_000.0),
            ),
            (
                BuiltIn::Svhn,
                [140.0, 1.25, 0.2, 0.5, 1.0, 1.3, 0.5],
                (200, 2, 10_000.0),
            ),
            (
                BuiltIn::Norb,
                [80.0, 4.0, 0.2, 0.5, 1.0, 2.0, 0.4],
                (200, 2, 2000.0),
            ),
        ];
        for (data, weights, (code, shift, validation)) in rows {
            let config = paper("cpc", data);
            let Method::Cpc(cpc) = &config.method else {
                panic!("{:?}", config.method)
            };
            let found = [
                cpc.prediction_weight,
                cpc.consistency_weight,
                cpc.aggregate_weight,
                cpc.entropy_weight,
                cpc.predictor_norm,
                cpc.beta,
                config.model.transform.rotation,
            ];
            assert_eq!(found, weights, "{data:?}");
            assert_eq!((config.model.code, config.train.shift), (code, shift));
            assert_eq!(config.data.validation, validation);
            let (model, train) = (&config.model, &config.train);
            assert_eq!(model.likelihood, Family::NoiseNormal);
            let transform = &model.transform;
            let ranges = (transform.translation, transform.shear, transform.scale);
            assert_eq!(ranges, (0.2, 0.2, 1.5));
            assert_eq!(train.learning_rate, 3e-4);
            assert_eq!(train.labelled_per_batch, train.unlabelled_per_batch);
            assert_eq!(config.pseudo_labels.source, PseudoLabelSourceName::None);
        }
        let mnist = paper("cpc", BuiltIn::Mnist).model;
        assert_eq!(
            (mnist.hidden, mnist.activation),
            (vec![1000; 2], ActivationName::Softplus)
        );
        let svhn = paper("cpc", BuiltIn::Svhn).model;
        assert_eq!((svhn.net, svhn.depth, svhn.width), (NetName::Wrn, 28, 2));
        assert_eq!(
            (svhn.hidden, svhn.activation),
            (vec![1000; 3], ActivationName::LeakyRelu)
        );
    }

    #[test]
    fn faces_are_grey_and_only_house_numbers_and_toys_are_shifted() {
        for method in crate::method::NAMES {
            assert_eq!(paper(method, BuiltIn::Mnist).train.shift, 0, "{method}");
            assert_eq!(paper(method, BuiltIn::Celeba).train.shift, 0, "{method}");
            assert_eq!(paper(method, BuiltIn::Svhn).train.shift, 2, "{method}");
            assert!(paper(method, BuiltIn::Celeba).data.gray);
            assert!(!paper(method, BuiltIn::Svhn).data.gray);
        }
    }

    #[test]
    fn m2_is_that_of_its_authors() {
        let config = paper("m2", BuiltIn::Mnist);
        assert_eq!((config.model.hidden, config.model.code), (vec![500], 50));
        assert_eq!(config.model.likelihood, Family::Bernoulli);
        assert!(matches!(config.method, Method::M2(m2) if m2.classification_weight == 0.1));
        assert_eq!(config.train.schedule, ScheduleName::Plateau);
    }

    #[test]
    fn half_moon_has_evenly_spaced_labels_and_other_data_no_preset() {
        let data = paper("cpc", BuiltIn::HalfMoon).data;
        assert_eq!(
            (data.half_moon_labels, data.labels),
            (HalfMoonLabels::EvenlySpaced, 6)
        );
        for data in [
            PresetData::BuiltIn(BuiltIn::Glyphs),
            PresetData::Own(DataKind::Table),
        ] {
            let error = RunConfig::preset("cpc", data, "x.csv", Preset::Paper).expect_err("none");
            assert!(error.to_string().contains("`x.csv`"), "{error}");
        }
    }
}
