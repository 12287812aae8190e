//! Time in Optuna's format: `2026-11-18T19:39:52.273785+00:00`.

use std::time::{SystemTime, UNIX_EPOCH};

/// Now, in UTC.
pub(crate) fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    written(since.map_or(0, |since| since.as_micros() as u64))
}

/// Microseconds since 1970 as text.
fn written(micros: u64) -> String {
    let seconds = micros / 1_000_000;
    let (year, month, day) = date(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    let micros = micros % 1_000_000;
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micros:06}+00:00")
}

/// Year, month and day of a day counted from 1970-01-01, by Howard Hinnant's `civil_from_days`.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let era = days / 146_097;
    let of_era = days % 146_097;
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    (year + era * 400 + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        // python -c "from datetime import *; print(datetime.fromtimestamp(S, timezone.utc))"
        assert_eq!(written(0), "1970-01-01T00:00:00.000000+00:00");
        assert_eq!(
            written(951_827_696_000_007),
            "2000-02-29T12:34:56.000007+00:00"
        );
        assert_eq!(
            written(1_795_031_992_273_785),
            "2026-11-18T19:59:52.273785+00:00"
        );
    }
}
