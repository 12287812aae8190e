//! How large the numbers of a column are, or when its dates are.

use crate::offset::{middle, offset_of};
use crate::time::{DAY, Time};
use crate::{Column, ColumnKind, TimeUnit};

/// What has been seen of the sizes of numbers, or of dates.
#[derive(Clone, Debug)]
pub(crate) struct Sizes {
    /// How many dates and times there are.
    pub(crate) times: usize,
    /// Whether none of them has a time zone, or another time than midnight.
    pub(crate) only_days: bool,
    /// Whether there are some without and with a time zone.
    has_zone: [bool; 2],
    /// The smallest and the largest number, or second of a date.
    range: [f64; 2],
    only_whole: bool,
}

impl Default for Sizes {
    fn default() -> Self {
        Sizes {
            times: 0,
            only_days: true,
            has_zone: [false; 2],
            range: [f64::INFINITY, f64::NEG_INFINITY],
            only_whole: true,
        }
    }
}

impl Sizes {
    /// Takes in a number.
    pub(crate) fn see(&mut self, number: f64) {
        self.range = [self.range[0].min(number), self.range[1].max(number)];
        self.only_whole &= number.fract() == 0.0;
    }

    /// Takes in a date or time.
    pub(crate) fn see_time(&mut self, time: Time) {
        self.times += 1;
        self.has_zone[usize::from(time.zoned)] = true;
        self.only_days &= !time.zoned && time.seconds % DAY == 0.0;
        self.see(time.seconds);
    }

    /// Whether there are times, all with a time zone or all without.
    pub(crate) fn are_times(&self) -> bool {
        self.times > 0 && self.has_zone != [true; 2]
    }

    /// Says of a column what its numbers are like, or its dates.
    pub(crate) fn describe(&self, mut column: Column, is_time: bool) -> Column {
        let is_number = column.kind == ColumnKind::Number;
        if !is_number && column.kind != ColumnKind::Count {
            return column;
        }
        if is_number && is_time {
            column.time = Some(match self.has_zone {
                _ if self.only_days => TimeUnit::Days,
                [_, true] => TimeUnit::SecondsUtc,
                _ => TimeUnit::Seconds,
            });
        }
        let unit = column.time.unwrap_or(TimeUnit::Seconds);
        let [smallest, largest] = self.range.map(|number| unit.number(number));
        column.whole = self.only_whole.then_some([smallest, largest]);
        column.offset = match column.time {
            _ if !is_number => 0.0,
            // A year of seconds is more than 32 bits can tell apart.
            Some(TimeUnit::Seconds | TimeUnit::SecondsUtc) => middle(smallest, largest),
            Some(TimeUnit::Days) | None => offset_of(smallest, largest),
        };
        column
    }
}
