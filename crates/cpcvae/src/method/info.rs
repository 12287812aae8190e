//! The properties of a method, and the macro that makes the table of methods.

use super::{DataKind, LabelFacts, Recipe};
use crate::error::Result;

/// A method's name, summary and requirements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MethodInfo {
    /// Its name in settings (`method.name`).
    pub name: &'static str,
    /// A one-line summary.
    pub summary: &'static str,
    /// Whether training uses labels.
    pub uses_labels: bool,
    /// Whether training uses unlabelled rows.
    pub uses_unlabelled: bool,
    /// Whether labels must be classes.
    pub needs_classes: bool,
    /// Whether it supports a prediction constraint, for which a solver finds lambda.
    pub takes_constraint: bool,
    /// Whether it supports pseudo-labels.
    pub takes_pseudo_labels: bool,
    /// Whether its networks for images have batch normalisation unless settings say otherwise, as
    /// in Maaloe et al. 2016 and Miyato et al. 2019.
    pub has_batch_norm: bool,
    /// Whether images are black and white and have no affine transform unless settings say
    /// otherwise, as in Kingma et al. 2014 and later work.
    pub has_plain_images: bool,
}

impl MethodInfo {
    /// A method that learns from labelled and unlabelled rows, without other requirements.
    pub(super) const fn new(name: &'static str, summary: &'static str) -> Self {
        Self {
            name,
            summary,
            uses_labels: true,
            uses_unlabelled: true,
            needs_classes: false,
            takes_constraint: false,
            takes_pseudo_labels: false,
            has_batch_norm: false,
            has_plain_images: false,
        }
    }
}

/// The settings of a method: the section `[method]`.
pub trait MethodSettings: Sized {
    /// Its entry in the table of methods.
    const INFO: MethodInfo;

    /// The default settings.
    fn default_for(data: DataKind) -> Self;

    /// Checks the settings and turns them into a recipe.
    fn recipe(&self, facts: &LabelFacts) -> Result<Recipe>;

    /// The configured lambda of the prediction loss, where there is one.
    fn prediction_weight(&self) -> Option<f64> {
        None
    }

    /// Sets lambda, where it is a setting; weights given as multiples of lambda follow.
    fn set_prediction_weight(&mut self, _weight: f64) {}
}

/// Makes the enum of methods from the list of their settings, with functions that depend on the
/// method.
macro_rules! methods {
    ($($(#[$doc:meta])* $variant:ident($settings:ident),)+) => {
        /// A method and its settings.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "name", rename_all = "kebab-case")]
        pub enum Method {
            $($(#[$doc])* $variant($settings),)+
        }

        /// The table of methods.
        const METHODS: &[MethodInfo] = &[$($settings::INFO),+];

        /// Names of all methods, for messages and completions.
        pub const NAMES: [&str; [$(stringify!($variant)),+].len()] = [$($settings::INFO.name),+];

        impl Method {
            /// The method of that name with the defaults for this kind of data.
            pub fn named(name: &str, data: DataKind) -> Result<Self> {
                $(if name == $settings::INFO.name {
                    return Ok(Self::$variant($settings::default_for(data)));
                })+
                let known = NAMES.join(", ");
                let problem = format!("there is no method `{name}`; there are: {known}");
                Err(Error::setting("method.name", problem))
            }

            /// Its entry in the table of methods.
            pub fn info(&self) -> &'static MethodInfo {
                match self {
                    $(Self::$variant(_) => &$settings::INFO,)+
                }
            }

            /// Checks the settings and turns them into a recipe.
            pub fn recipe(&self, facts: &LabelFacts) -> Result<Recipe> {
                match self {
                    $(Self::$variant(settings) => settings.recipe(facts),)+
                }
            }

            /// The configured lambda, where the method has a prediction loss with a weight.
            pub fn prediction_weight(&self) -> Option<f64> {
                match self {
                    $(Self::$variant(settings) => settings.prediction_weight(),)+
                }
            }

            /// The same method with another lambda; weights given as multiples of lambda follow.
            pub(crate) fn with_prediction_weight(mut self, weight: f64) -> Self {
                match &mut self {
                    $(Self::$variant(settings) => settings.set_prediction_weight(weight),)+
                }
                self
            }
        }

        $(impl From<$settings> for Method {
            fn from(settings: $settings) -> Self {
                Self::$variant(settings)
            }
        })+

        /// Passes the list of methods to the macro `builders`.
        macro_rules! for_each_method {
            () => {
                builders! { $($(#[$doc])* $variant($settings),)+ }
            };
        }
        pub(crate) use for_each_method;
    };
}
pub(super) use methods;
