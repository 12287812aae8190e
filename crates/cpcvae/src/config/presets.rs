//! Defaults by data set, of the default preset and the paper's.

use super::{BuiltIn, PseudoLabelSourceName, RunConfig, ScheduleName, paper};
use crate::distribution::Family;
use crate::error::{Error, Result};
use crate::method::{DataKind, Method};
use crate::objective::LabelledEvidence;
use serde::{Deserialize, Serialize};

/// A set of defaults.
///
/// ```
/// use cpcvae::prelude::*;
///
/// let settings = Cpc::new().preset(Preset::Paper);
/// assert_eq!(settings.estimator().request().method(), "cpc");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// Good results within minutes.
    #[default]
    Default,
    /// The paper's protocol, networks and weights; what it leaves open is listed in
    /// `docs/methods/paper-preset.md`.
    Paper,
}

/// The data, as far as defaults depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PresetData {
    /// A built-in data set.
    BuiltIn(BuiltIn),
    /// A user's own rows.
    Own(DataKind),
}

impl PresetData {
    fn kind(self) -> DataKind {
        match self {
            Self::BuiltIn(data) => DataKind::of_built_in(data),
            Self::Own(kind) => kind,
        }
    }
}

impl RunConfig {
    /// The settings of a preset for a method on this data; `source` is its name or file. Defaults
    /// that depend on the rows themselves come after it:
    /// [`RunConfig::with_data_dependent_defaults`].
    pub fn preset(method: &str, data: PresetData, source: &str, preset: Preset) -> Result<Self> {
        let config = Self::defaults(method, data.kind(), source)?;
        match (data, preset) {
            (PresetData::BuiltIn(data), Preset::Default) => Ok(config.for_built_in(data)),
            (PresetData::BuiltIn(data), Preset::Paper) if data != BuiltIn::Glyphs => {
                Ok(paper::settings(config.for_built_in(data), data))
            }
            (PresetData::Own(_), Preset::Default) => Ok(match config.method {
                // It is not known yet whether similar rows share their class, as for digits but not
                // for faces, so pseudo-labels come from the ensemble, which leave-one-out adapts to
                // the labels.
                Method::Cpc(_) => config
                    .with_pseudo_labels(PseudoLabelSourceName::Ensemble)
                    .with_ensemble(),
                _ => config,
            }),
            (_, Preset::Paper) => {
                let problem = format!(
                    "the paper has settings for half-moon, mnist, svhn, norb and celeba, but none \
                     for `{source}`"
                );
                Err(Error::setting("preset", problem))
            }
        }
    }

    /// The default preset for a method on built-in data.
    pub fn for_built_in_data(method: &str, data: BuiltIn) -> Result<Self> {
        let preset = Preset::Default;
        Self::preset(method, PresetData::BuiltIn(data), data.name(), preset)
    }

    /// The protocol of a built-in data set, with settings tuned for it.
    fn for_built_in(mut self, built_in: BuiltIn) -> Self {
        let data = &mut self.data;
        match built_in {
            BuiltIn::HalfMoon => {
                (data.labels, data.rows) = (6, 1000);
                // Six points must not count as much as a thousand.
                self.train.labelled_evidence = LabelledEvidence::Data;
                if let Method::Cpc(cpc) = &mut self.method {
                    (cpc.prediction_weight, cpc.predictor_norm) = (2.5, 0.005);
                }
            }
            BuiltIn::Glyphs => (data.labels, data.rows) = (50, cpcvae_data::GLYPH_ROWS),
            BuiltIn::Mnist => {
                (data.labels, data.validation) = (100, 10_000.0);
                match self.method {
                    Method::Cpc(_) => self.train.steps = 6000,
                    Method::M2(_) => {
                        // As in the paper: the learning rate falls when validation stops improving.
                        self.train.schedule = ScheduleName::Plateau;
                        self.train.learning_rate = 3e-4;
                    }
                    _ => {}
                }
            }
            BuiltIn::Svhn => (data.labels, data.validation) = (1000, 10_000.0),
            BuiltIn::Norb => (data.labels, data.validation) = (1000, 2000.0),
            // 2,000 of the 162,770, and the same share of a smaller copy.
            BuiltIn::Celeba => (data.labels, data.validation) = (1000, 2000.0 / 162_770.0),
        }
        if matches!(built_in, BuiltIn::Mnist | BuiltIn::Glyphs) {
            self = self.for_black_and_white();
            if let Method::Cpc(cpc) = &mut self.method {
                // With large weights, a predictor is confident even for codes near the prior.
                cpc.predictor_norm = 0.01;
                cpc.aggregate_ramp = 0.1;
            }
        }
        if matches!(built_in, BuiltIn::Svhn | BuiltIn::Norb | BuiltIn::Celeba) {
            if self.method.has_plain_images() {
                self.model.likelihood = Family::Normal;
            }
            paper::set_weights(&mut self, built_in);
            if built_in == BuiltIn::Svhn {
                self.model.transform.rotation = 0.5;
            }
            if let Method::Cpc(_) = self.method {
                self.train.shift = 2;
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::NAMES;

    fn preset(method: &str, data: BuiltIn, preset: Preset) -> RunConfig {
        let source = data.name();
        RunConfig::preset(method, PresetData::BuiltIn(data), source, preset).expect("it exists")
    }

    #[test]
    fn only_own_rows_have_pseudo_labels() {
        for data in BuiltIn::ALL {
            let config = preset("cpc", data, Preset::Default);
            assert_eq!(config.pseudo_labels.source, PseudoLabelSourceName::None);
            let train = &config.train;
            let batch = (train.labelled_per_batch, train.unlabelled_per_batch);
            assert_eq!(batch, (100, 100), "{data:?}");
        }
        for (kind, shift) in [(DataKind::Images, 1), (DataKind::Table, 0)] {
            let own = |method| {
                RunConfig::preset(method, PresetData::Own(kind), "x", Preset::Default).expect("ok")
            };
            let config = own("cpc");
            assert_eq!(config.pseudo_labels.source, PseudoLabelSourceName::Ensemble);
            let train = &config.train;
            let batch = (train.labelled_per_batch, train.unlabelled_per_batch);
            assert_eq!((batch, train.shift), ((20, 180), shift));
            let source = own("pc").pseudo_labels.source;
            assert_eq!(source, PseudoLabelSourceName::None);
        }
    }

    #[test]
    fn photographs_are_not_binarised_unless_asked_for() {
        for method in NAMES {
            for data in BuiltIn::ALL {
                let likelihood = preset(method, data, Preset::Default).model.likelihood;
                let may_be = matches!(data, BuiltIn::Glyphs | BuiltIn::Mnist);
                assert!(
                    may_be || likelihood != Family::Bernoulli,
                    "{method} {data:?}"
                );
            }
        }
        assert_eq!(
            preset("m2", BuiltIn::Mnist, Preset::Default)
                .model
                .likelihood,
            Family::Bernoulli
        );
    }
}
