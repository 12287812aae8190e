//! A builder a method, with the settings that are its own. What all have is in [`Fit`].

use super::{Estimator, Fit};

macro_rules! builder {
    ($(#[$about:meta])* $name:ident, $method:literal { $(
        $(#[$meaning:meta])* $setting:ident: $type:ty = $key:literal,
    )* }) => {
        $(#[$about])*
        ///
        /// ```
        /// use cpcvae::prelude::*;
        #[doc = concat!("let estimator = ", stringify!($name), "::new().seed(1).steps(500);")]
        #[doc = concat!("assert_eq!(estimator.estimator().request().method(), \"", $method, "\");")]
        /// ```
        #[derive(Clone, Debug)]
        pub struct $name(Estimator);

        impl $name {
            /// The method with its defaults.
            pub fn new() -> Self {
                Self(Estimator::named($method))
            }

            $(
                $(#[$meaning])*
                pub fn $setting(self, value: $type) -> Self {
                    self.set($key, value)
                }
            )*
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
    };
}

builder! {
    /// Consistent prediction-constrained VAE, the paper's main method.
    Cpc, "cpc" {
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
        /// Where pseudo-labels come from: `none`, `propagation` or `ensemble`. Ours, not the
        /// paper's.
        pseudo_labels: &str = "pseudo_labels.source",
    }
}

builder! {
    /// Prediction-constrained VAE: the paper's first step.
    Pc, "pc" {
        /// lambda, the weight of the prediction constraint.
        prediction_weight: f64 = "method.prediction_weight",
        /// Weight of the predictor's squared weights.
        predictor_norm: f64 = "method.predictor_norm",
        /// Weight of the KL divergence.
        beta: f64 = "method.beta",
    }
}

builder! {
    /// PC with lambda = 1: the joint likelihood of features and labels.
    SupervisedVae, "supervised-vae" {
        /// Weight of the predictor's squared weights.
        predictor_norm: f64 = "method.predictor_norm",
    }
}

builder! {
    /// An unsupervised VAE, then a predictor on its codes.
    VaeThenMlp, "vae-then-mlp" {}
}

builder! {
    /// The unsupervised VAE, which predicts nothing.
    Vae, "vae" {
        /// Weight of the KL divergence.
        beta: f64 = "method.beta",
    }
}

builder! {
    /// Kingma et al. 2014: a linear classifier on the codes of a VAE.
    M1, "m1" {}
}

builder! {
    /// Kingma et al. 2014: the label as a latent variable.
    M2, "m2" {
        /// alpha, the weight of the classification loss.
        classification_weight: f64 = "method.classification_weight",
    }
}

builder! {
    /// Kingma et al. 2014: M2 on the codes of a VAE.
    M1M2, "m1-m2" {}
}

builder! {
    /// Maaløe et al. 2016: M2 with an auxiliary variable.
    Adgm, "adgm" {}
}

builder! {
    /// Maaløe et al. 2016: ADGM with a skip connection.
    Sdgm, "sdgm" {}
}

builder! {
    /// Gordon and Hernández-Lobato 2020: M2 and a predictor tied to it.
    BlendedM2, "blended-m2" {}
}

builder! {
    /// Miyato et al. 2019: a network whose predictions withstand small changes.
    Vat, "vat" {}
}

builder! {
    /// A network on the labelled rows alone.
    LabelsOnly, "labels-only" {}
}
