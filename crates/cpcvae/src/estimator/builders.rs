//! One builder per method. Methods of all builders are in [`Fit`]; a method's own settings are here
//! or set by their key.
//!
//! The builders are generated from the list of methods in `method/mod.rs`.

use super::{Estimator, Fit};
use crate::method::{self, MethodSettings};

macro_rules! builders {
    ($($(#[$about:meta])* $name:ident($settings:ident),)+) => { $(
        $(#[$about])*
        ///
        /// ```
        /// use cpcvae::prelude::*;
        #[doc = concat!("let estimator = ", stringify!($name), "::new().seed(1).steps(500);")]
        #[doc = "assert!(cpcvae::method::NAMES.contains(&estimator.estimator().request().method()));"]
        /// ```
        #[derive(Clone, Debug)]
        pub struct $name(Estimator);

        impl $name {
            /// The method with its defaults.
            pub fn new() -> Self {
                Self(Estimator::named(method::$settings::INFO.name))
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new()
            }
        }

        impl Fit for $name {
            fn estimator(&self) -> &Estimator {
                &self.0
            }

            fn change(mut self, change: impl FnOnce(&mut Estimator)) -> Self {
                change(&mut self.0);
                self
            }
        }

        impl From<$name> for Estimator {
            fn from(builder: $name) -> Self {
                builder.0
            }
        }
    )+ };
}

method::for_each_method!();

/// A builder's own settings: description, name, type, key.
macro_rules! own_settings {
    ($name:ident { $($(#[$meaning:meta])* $setting:ident: $type:ty = $key:literal,)+ }) => {
        impl $name {
            $(
                $(#[$meaning])*
                pub fn $setting(self, value: $type) -> Self {
                    self.set($key, value)
                }
            )+
        }
    };
}

own_settings! {
    Cpc {
        /// lambda, the weight of the prediction constraint.
        prediction_weight: f64 = "method.prediction_weight",
        /// gamma / lambda, the weight of the consistency constraint.
        consistency_weight: f64 = "method.consistency_weight",
        /// Weight of the aggregate label consistency, as a multiple of lambda.
        aggregate_weight: f64 = "method.aggregate_weight",
        /// Weight of the entropy of predictions, as a multiple of lambda.
        entropy_weight: f64 = "method.entropy_weight",
        /// Weight of the predictor's squared weights.
        predictor_norm: f64 = "method.predictor_norm",
        /// Weight of the KL divergence.
        beta: f64 = "method.beta",
        /// The source of pseudo-labels: `none`, `propagation` or `ensemble`. Ours, not the paper's.
        pseudo_labels: &str = "pseudo_labels.source",
    }
}

own_settings! {
    Pc {
        /// lambda, the weight of the prediction constraint.
        prediction_weight: f64 = "method.prediction_weight",
        /// Weight of the predictor's squared weights.
        predictor_norm: f64 = "method.predictor_norm",
        /// Weight of the KL divergence.
        beta: f64 = "method.beta",
    }
}

own_settings! {
    SupervisedVae {
        /// Weight of the predictor's squared weights.
        predictor_norm: f64 = "method.predictor_norm",
    }
}

own_settings! {
    Vae {
        /// Weight of the KL divergence.
        beta: f64 = "method.beta",
    }
}

own_settings! {
    M2 {
        /// alpha, the weight of the classification loss.
        classification_weight: f64 = "method.classification_weight",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpcvae_data::{Dataset, Labels};

    /// A setting with an unknown key would only fail when a user sets it.
    #[test]
    fn own_settings_have_keys_that_exist() {
        let rows: Vec<[f32; 1]> = (0..20).map(|row| [row as f32]).collect();
        let labels = (0..20).map(|row| Some(["a", "b"][row % 2]));
        let data = Dataset::from_rows(&rows, Labels::classes(labels)).expect("fits");
        let cpc = Cpc::new()
            .prediction_weight(3.0)
            .consistency_weight(0.5)
            .aggregate_weight(0.25)
            .entropy_weight(0.125)
            .predictor_norm(0.01)
            .beta(1.5)
            .pseudo_labels("none");
        let pc = Pc::new()
            .prediction_weight(3.0)
            .predictor_norm(0.01)
            .beta(2.0);
        let others: [Estimator; 5] = [
            cpc.into(),
            pc.into(),
            SupervisedVae::new().predictor_norm(0.01).into(),
            Vae::new().beta(2.0).into(),
            M2::new().classification_weight(2.0).into(),
        ];
        for estimator in others {
            let name = estimator.request().method();
            let config = estimator
                .settings(&data)
                .unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(config.method.name(), name);
        }
    }
}
