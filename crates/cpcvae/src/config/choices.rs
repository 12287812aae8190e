//! Settings that are one of a few words.

use crate::error::{Error, Result};
use cpcvae_kernels::product::Precision;
use serde::de::value::{Error as ValueError, StrDeserializer};
use serde::{Deserialize, Serialize};

/// How the learning rate changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScheduleName {
    /// Not at all.
    Constant,
    /// Down to zero along half a cosine.
    Cosine,
    /// It falls when validation rows stop improving.
    Plateau,
}

/// The precision of products on the CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PrecisionName {
    /// bf16 where the machine has instructions for it, else f32.
    Auto,
    /// Rounded to bf16.
    Bf16,
    /// As they are.
    F32,
}

/// What a prediction constraint bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MeasureName {
    /// There is no constraint.
    None,
    /// The prediction loss, from above.
    Loss,
    /// The accuracy, from below.
    Accuracy,
}

/// How lambda is found under a constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SolverName {
    /// Dual ascent during one training.
    Dual,
    /// Repeated trainings with increasing lambda.
    Sequence,
}

impl PrecisionName {
    /// The precision on this machine.
    pub fn precision(self) -> Precision {
        match self {
            Self::Auto => Precision::auto(),
            Self::Bf16 => Precision::Bf16,
            Self::F32 => Precision::F32,
        }
    }
}

/// The choice that `text` names for the setting `key`, for example
/// [`NetName::Wrn`](crate::net::NetName::Wrn) for `wrn`. The error lists the choices.
pub fn choice<'a, T: Deserialize<'a>>(key: &str, text: &'a str) -> Result<T> {
    T::deserialize(StrDeserializer::<ValueError>::new(text))
        .map_err(|error| Error::setting(key, error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::NetName;

    #[test]
    fn a_choice_is_named_as_in_settings() {
        assert_eq!(choice("model.net", "wrn").ok(), Some(NetName::Wrn));
        let error = choice::<NetName>("model.net", "resnet").expect_err("unknown");
        assert_eq!(
            error.to_string(),
            "setting `model.net`: unknown variant `resnet`, expected `mlp` or `wrn`"
        );
    }
}
