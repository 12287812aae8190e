//! Dates and times of ISO 8601, as numbers and as text.

use serde::{Deserialize, Serialize};

/// Seconds in a day.
pub(crate) const DAY: f64 = 86_400.0;

/// The unit of a column of dates or times, counted from the beginning of 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TimeUnit {
    /// Days. Written as `2024-05-31`.
    Days,
    /// Seconds, in an unknown time zone. Written as `2024-05-31T18:30:00`.
    Seconds,
    /// Seconds in UTC. Written as `2024-05-31T18:30:00Z`.
    SecondsUtc,
}

/// A parsed point in time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Time {
    /// Seconds since the beginning of 1970.
    pub(crate) seconds: f64,
    /// Whether it had a time zone; seconds are in UTC then.
    pub(crate) zoned: bool,
}

impl TimeUnit {
    /// A point in time as a number of this unit.
    pub(crate) fn number(self, seconds: f64) -> f64 {
        match self {
            TimeUnit::Days => seconds / DAY,
            TimeUnit::Seconds | TimeUnit::SecondsUtc => seconds,
        }
    }

    /// A number of this unit as text: to the day, or to the millisecond where it is not a whole
    /// second. Years are clamped to 0 to 9999, which fit four digits.
    pub fn text(self, number: f64) -> String {
        const YEARS: [f64; 2] = [-719_528.0 * DAY, 2_932_897.0 * DAY - 1.0];
        let seconds = match self {
            TimeUnit::Days => number.round() * DAY,
            TimeUnit::Seconds | TimeUnit::SecondsUtc => (number * 1000.0).round() / 1000.0,
        };
        let seconds = seconds.clamp(YEARS[0], YEARS[1]);
        let days = (seconds / DAY).floor();
        let (year, month, day) = date_of(days as i64);
        let date = format!("{year:04}-{month:02}-{day:02}");
        let zone = match self {
            TimeUnit::Days => return date,
            TimeUnit::Seconds => "",
            TimeUnit::SecondsUtc => "Z",
        };
        let thousandths = ((seconds - days * DAY) * 1000.0).round() as u64;
        let (rest, thousandths) = (thousandths / 1000, thousandths % 1000);
        let (hours, minutes, seconds) = (rest / 3600, rest / 60 % 60, rest % 60);
        let fraction = match thousandths {
            0 => String::new(),
            _ => format!(".{thousandths:03}"),
        };
        let fraction = fraction.trim_end_matches('0');
        format!("{date}T{hours:02}:{minutes:02}:{seconds:02}{fraction}{zone}")
    }
}

impl Time {
    /// Parses `2024-05-31`, optionally followed by a time after `T` or a blank: hours and minutes,
    /// optionally seconds with a fraction, optionally `Z` or an offset like `+02:00`.
    pub(crate) fn parse(text: &str) -> Option<Time> {
        let bytes = text.as_bytes();
        // Most texts are not dates, and return here.
        if bytes.len() < 10 || bytes[4] != b'-' || bytes[7] != b'-' {
            return None;
        }
        let days = days_to(
            digits(&bytes[..4])?,
            digits(&bytes[5..7])?,
            digits(&bytes[8..10])?,
        )?;
        let midnight = days as f64 * DAY;
        let Some((separator, clock)) = bytes[10..].split_first() else {
            return Some(Time {
                seconds: midnight,
                zoned: false,
            });
        };
        if !matches!(separator, b'T' | b't' | b' ') {
            return None;
        }
        let zone = clock
            .iter()
            .position(|byte| matches!(byte, b'Z' | b'z' | b'+' | b'-'));
        let (clock, zone) = clock.split_at(zone.unwrap_or(clock.len()));
        Some(Time {
            seconds: midnight + clock_seconds(clock)? - zone_seconds(zone)?,
            zoned: !zone.is_empty(),
        })
    }
}

fn digits(bytes: &[u8]) -> Option<i64> {
    let add = |sum: i64, byte: &u8| {
        byte.is_ascii_digit()
            .then(|| 10 * sum + i64::from(byte - b'0'))
    };
    bytes.iter().try_fold(0, add)
}

/// The seconds of `18:30`, `18:30:05` or `18:30:05.25`.
fn clock_seconds(clock: &[u8]) -> Option<f64> {
    let (&[a, b, b':', c, d], rest) = clock.split_first_chunk::<5>()? else {
        return None;
    };
    let (hours, minutes) = (digits(&[a, b])?, digits(&[c, d])?);
    let seconds: f64 = match rest {
        [] => 0.0,
        [b':', seconds @ ..] => {
            let plain = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
            let whole = seconds.iter().take_while(|byte| byte.is_ascii_digit());
            if whole.count() != 2 || !seconds.iter().all(plain) {
                return None;
            }
            std::str::from_utf8(seconds).ok()?.parse().ok()?
        }
        _ => return None,
    };
    // A leap second is the first second of the next minute.
    let valid = hours < 24 && minutes < 60 && seconds < 61.0;
    valid.then(|| (hours * 3600 + minutes * 60) as f64 + seconds)
}

/// The offset from UTC of `Z`, `+02:00`, `+0200` or `+02`; 0 for an empty text.
fn zone_seconds(zone: &[u8]) -> Option<f64> {
    let (sign, hours, minutes) = match *zone {
        [] | [b'Z' | b'z'] => return Some(0.0),
        [sign, a, b] => (sign, digits(&[a, b])?, 0),
        [sign, a, b, c, d] | [sign, a, b, b':', c, d] => (sign, digits(&[a, b])?, digits(&[c, d])?),
        _ => return None,
    };
    let ahead = (hours * 3600 + minutes * 60) as f64;
    match sign {
        b'+' if hours < 24 && minutes < 60 => Some(ahead),
        b'-' if hours < 24 && minutes < 60 => Some(-ahead),
        _ => None,
    }
}

/// Days from the beginning of 1970 to a date, if there is such a date. Years start in March, so
/// that the leap day is the last day (Howard Hinnant's `days_from_civil`).
fn days_to(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=length).contains(&day) {
        return None;
    }
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

/// Year, month and day of a number of days since the beginning of 1970.
fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = (from_march + 2) % 12 + 1;
    (era * 400 + year + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(text: &str) -> Option<(f64, bool)> {
        Time::parse(text).map(|time| (time.seconds, time.zoned))
    }

    /// Values of Python's `datetime.fromisoformat(...).timestamp()`, in UTC.
    #[test]
    fn dates_and_times_are_read() {
        assert_eq!(seconds("1970-01-01"), Some((0.0, false)));
        assert_eq!(seconds("2020-03-28"), Some((1585353600.0, false)));
        assert_eq!(seconds("2000-02-29"), Some((951782400.0, false)));
        assert_eq!(seconds("1899-12-31"), Some((-2209075200.0, false)));
        assert_eq!(seconds("2020-03-28 12:30"), Some((1585398600.0, false)));
        assert_eq!(
            seconds("2020-03-28T12:30:15.25"),
            Some((1585398615.25, false))
        );
        assert_eq!(seconds("2020-03-28T12:30:15Z"), Some((1585398615.0, true)));
        assert_eq!(
            seconds("2020-03-28 12:30:15+02:00"),
            Some((1585391415.0, true))
        );
        assert_eq!(
            seconds("2020-03-28T12:30:15-0130"),
            Some((1585404015.0, true))
        );
    }

    #[test]
    fn what_is_no_date_is_not_read() {
        for text in [
            "2020-13-01",
            "2019-02-29",
            "1900-02-29",
            "2020-00-10",
            "2020-1-1",
            "20200328",
            "2020-03-28T",
            "2020-03-28T25:00",
            "2020-03-28T12",
            "2020-03-28x12:30",
            "2020-03-28-01",
            "2020-03-28T12:30:1",
            "2020-03-28T12:30:15+2",
            "2020-03-28T12:30:15,5",
            "+020-03-28",
            "20é0-03-2",
            "2020-03-28T12:30:1.5",
        ] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_written_reads_back() {
        for text in [
            "1970-01-01",
            "2000-02-29",
            "0000-01-01",
            "9999-12-31",
            "1582-10-15",
        ] {
            let time = Time::parse(text).unwrap();
            let days = TimeUnit::Days.number(time.seconds);
            assert_eq!(TimeUnit::Days.text(days + 0.008), text);
            assert_eq!(
                TimeUnit::Seconds.text(time.seconds),
                format!("{text}T00:00:00")
            );
        }
        for text in [
            "2024-05-31T18:30:05",
            "1969-12-31T23:59:59.5",
            "2020-02-29T00:00:00.125",
        ] {
            let time = Time::parse(text).unwrap();
            assert_eq!(TimeUnit::Seconds.text(time.seconds), text);
            assert_eq!(TimeUnit::SecondsUtc.text(time.seconds), format!("{text}Z"));
        }
        assert_eq!(TimeUnit::Days.text(f64::INFINITY), "9999-12-31");
        assert_eq!(TimeUnit::Seconds.text(-1e30), "0000-01-01T00:00:00");
    }

    #[test]
    fn every_day_of_four_centuries_comes_back() {
        for days in -150_000..150_000 {
            let (year, month, day) = date_of(days);
            assert_eq!(days_to(year, month, day), Some(days));
        }
    }
}
