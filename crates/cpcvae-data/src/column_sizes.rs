//! The range of a column's numbers or dates.

use crate::offset::{middle, offset_of};
use crate::time::{DAY, Time};
use crate::{Column, ColumnKind, TimeUnit};

/// The range of numbers, or of dates, seen so far.
#[derive(Clone, Debug)]
pub(crate) struct Sizes {
    /// The number of dates and times.
    pub(crate) times: usize,
    /// Whether all are plain dates: no time zone, and midnight.
    pub(crate) only_days: bool,
    /// Whether times without and with a time zone occur.
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
    /// Adds a number.
    pub(crate) fn add(&mut self, number: f64) {
        self.range = [self.range[0].min(number), self.range[1].max(number)];
        // Most columns are soon known to have fractions; this keeps large files fast.
        self.only_whole = self.only_whole && number.fract() == 0.0;
    }

    /// Adds a date or time.
    pub(crate) fn add_time(&mut self, time: Time) {
        self.times += 1;
        self.has_zone[usize::from(time.zoned)] = true;
        self.only_days &= !time.zoned && time.seconds % DAY == 0.0;
        self.add(time.seconds);
    }

    /// Whether there are times, all with a time zone or all without.
    pub(crate) fn are_times(&self) -> bool {
        self.times > 0 && self.has_zone != [true; 2]
    }

    /// Sets the range, offset and unit of a column.
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
            // 32 bits cannot tell apart all seconds of a year.
            Some(TimeUnit::Seconds | TimeUnit::SecondsUtc) => middle(smallest, largest),
            Some(TimeUnit::Days) | None => offset_of(smallest, largest),
        };
        column
    }
}
