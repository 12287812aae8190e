//! Methods: a method is a recipe, which is a kind of model and stages with their objectives.
//!
//! Each method is a file here, with its settings, its entry in the table of methods and its recipe
//! ([`MethodSettings`]). The list below is the only place that names them all.

mod auxiliary;
mod blended_m2;
mod cpc;
mod info;
mod labels_only;
mod m1;
mod m1_m2;
mod m2;
mod pc;
mod recipe;
mod supervised_vae;
mod vae;
mod vae_then_mlp;
mod vat;

pub use auxiliary::{Adgm, Auxiliary, Sdgm};
pub use blended_m2::BlendedM2;
pub use cpc::Cpc;
pub use info::{MethodInfo, MethodSettings};
pub use labels_only::LabelsOnly;
pub use m1::M1;
pub use m1_m2::M1M2;
pub use m2::M2;
pub use pc::Pc;
pub use recipe::{DataKind, LabelFacts, ObjectiveOptions, Recipe, Stage};
pub use supervised_vae::SupervisedVae;
pub use vae::PlainVae;
pub use vae_then_mlp::VaeThenMlp;
pub use vat::Vat;

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

info::methods! {
    /// The unsupervised VAE, which predicts nothing; [settings](crate::method::PlainVae).
    Vae(PlainVae),
    /// An unsupervised VAE, then a predictor on its codes; [settings](crate::method::VaeThenMlp).
    VaeThenMlp(VaeThenMlp),
    /// PC with lambda = 1, the joint likelihood of features and labels; [settings](crate::method::SupervisedVae).
    SupervisedVae(SupervisedVae),
    /// Prediction-constrained VAE, the paper's first step; [settings](crate::method::Pc).
    Pc(Pc),
    /// Consistent prediction-constrained VAE, the paper's main method; [settings](crate::method::Cpc).
    Cpc(Cpc),
    /// Kingma et al. 2014, the label as a latent variable; [settings](crate::method::M2).
    M2(M2),
    /// Kingma et al. 2014, a linear classifier on the codes of a VAE; [settings](crate::method::M1).
    M1(M1),
    /// Kingma et al. 2014, M2 on the codes of a VAE; [settings](crate::method::M1M2).
    M1M2(M1M2),
    /// Maaløe et al. 2016, M2 with an auxiliary variable; [settings](crate::method::Auxiliary).
    Adgm(Adgm),
    /// Maaløe et al. 2016, ADGM with a skip connection; [settings](crate::method::Auxiliary).
    Sdgm(Sdgm),
    /// Gordon and Hernández-Lobato 2020, M2 and a predictor tied to it; [settings](crate::method::BlendedM2).
    BlendedM2(BlendedM2),
    /// A network on the labelled rows alone; [settings](crate::method::LabelsOnly).
    LabelsOnly(LabelsOnly),
    /// Miyato et al. 2019, a network whose predictions withstand small changes; [settings](crate::method::Vat).
    Vat(Vat),
}

/// The table of methods: name, summary, requirements.
pub fn all() -> impl Iterator<Item = &'static MethodInfo> {
    METHODS.iter()
}

/// The names of the methods with a property, as in "`pc` and `cpc`".
pub(crate) fn names_where(wanted: impl Fn(&MethodInfo) -> bool) -> String {
    let names: Vec<String> = all()
        .filter(|info| wanted(info))
        .map(|info| format!("`{}`", info.name))
        .collect();
    names.join(" and ")
}

impl Method {
    /// The method's name.
    pub fn name(&self) -> &'static str {
        self.info().name
    }

    /// Whether training uses labels.
    pub fn uses_labels(&self) -> bool {
        self.info().uses_labels
    }

    /// Whether training uses unlabelled rows.
    pub(crate) fn uses_unlabelled(&self) -> bool {
        self.info().uses_unlabelled
    }

    /// Whether labels must be classes.
    pub(crate) fn needs_classes(&self) -> bool {
        self.info().needs_classes
    }

    /// Whether its networks for images have batch normalisation unless settings say otherwise.
    pub(crate) fn has_batch_norm(&self) -> bool {
        self.info().has_batch_norm
    }

    /// Whether images are black and white and have no affine transform unless settings say
    /// otherwise.
    pub(crate) fn has_plain_images(&self) -> bool {
        self.info().has_plain_images
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_in_the_table_is_the_one_in_settings() {
        for name in NAMES {
            let method = Method::named(name, DataKind::Table).expect("listed");
            assert_eq!(method.name(), name);
            let text = toml::to_string(&method).expect("plain values");
            assert!(text.contains(&format!("name = \"{name}\"")), "{text}");
        }
        assert!(Method::named("m3", DataKind::Table).is_err());
    }

    #[test]
    fn lambda_can_be_set_where_a_constraint_can_be_stated() {
        for info in all() {
            let method = Method::named(info.name, DataKind::Images).expect("listed");
            let changed = method.clone().with_prediction_weight(123.0);
            assert_eq!(changed != method, info.takes_constraint, "{}", info.name);
            if info.takes_constraint {
                assert_eq!(changed.prediction_weight(), Some(123.0));
            }
        }
        assert_eq!(names_where(|info| info.takes_constraint), "`pc` and `cpc`");
    }
}
