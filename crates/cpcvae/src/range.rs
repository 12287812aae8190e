//! Checks of the range of settings.

use crate::error::{Error, Result};

/// The value if `holds`, otherwise an error that says what it must be.
pub(crate) fn check(key: &str, value: f64, holds: bool, must_be: &str) -> Result<f64> {
    if holds {
        return Ok(value);
    }
    let problem = format!("is {value}; it must be {must_be}");
    Err(Error::setting(key, problem))
}

/// A finite number above zero.
pub(crate) fn positive(key: &str, value: f64) -> Result<f64> {
    let holds = value.is_finite() && value > 0.0;
    check(key, value, holds, "larger than 0")
}

/// A finite number of at least zero, such as a weight.
pub(crate) fn at_least_zero(key: &str, value: f64) -> Result<f64> {
    let holds = value.is_finite() && value >= 0.0;
    check(key, value, holds, "a number of at least 0")
}

/// A finite number of at least one.
pub(crate) fn at_least_one(key: &str, value: f64) -> Result<f64> {
    let holds = value.is_finite() && value >= 1.0;
    check(key, value, holds, "a number of at least 1")
}

/// A share, from 0 to 1.
pub(crate) fn share(key: &str, value: f64) -> Result<f64> {
    let holds = (0.0..=1.0).contains(&value);
    check(key, value, holds, "between 0 and 1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_number_is_named_with_its_key_and_what_is_right() {
        let text = share("method.blend", 1.5)
            .expect_err("too large")
            .to_string();
        assert_eq!(
            text,
            "setting `method.blend`: is 1.5; it must be between 0 and 1"
        );
        for bad in [f64::NAN, f64::INFINITY, -1.0] {
            assert!(positive("x", bad).is_err() && at_least_zero("x", bad).is_err());
            assert!(at_least_one("x", bad).is_err() && share("x", bad).is_err());
        }
        assert!(positive("x", 0.0).is_err() && at_least_one("x", 0.5).is_err());
        assert_eq!(at_least_zero("x", 0.0).expect("allowed"), 0.0);
        assert_eq!(share("x", 1.0).expect("allowed"), 1.0);
    }
}
