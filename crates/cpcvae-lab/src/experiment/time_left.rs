//! Estimates the remaining time of an experiment.

use super::{CellKey, Record};

/// Seconds for the missing cells, estimated from the most similar recorded cells. `None` without
/// records.
pub fn time_left(records: &[Record], missing: &[CellKey]) -> Option<f64> {
    missing.iter().map(|key| seconds(records, key)).sum()
}

/// From the same row, otherwise the same method, otherwise any cell.
fn seconds(records: &[Record], key: &CellKey) -> Option<f64> {
    let mean_of = |like: &dyn Fn(&CellKey) -> bool| {
        let alike: Vec<f64> = records
            .iter()
            .filter(|record| like(&record.key))
            .map(|record| record.elapsed)
            .collect();
        match alike.is_empty() {
            true => None,
            false => Some(alike.iter().sum::<f64>() / alike.len() as f64),
        }
    };
    let same_method = |other: &CellKey| other.method == key.method;
    let same_size = |other: &CellKey| other.labels == key.labels && other.code == key.code;
    mean_of(&|other| same_method(other) && same_size(other) && other.setting == key.setting)
        .or_else(|| mean_of(&|other| same_method(other) && same_size(other)))
        .or_else(|| mean_of(&same_method))
        .or_else(|| mean_of(&|_| true))
}

/// Seconds in readable units.
pub fn in_words(seconds: f64) -> String {
    match seconds.round() as u64 {
        short @ 0..=99 => format!("{short} s"),
        some @ 100..=5999 => format!("{} min", (some + 30) / 60),
        long => format!("{} h {:02} min", long / 3600, long % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::super::cells::{cells, tests::plan};
    use super::super::results::tests::record;
    use super::*;

    #[test]
    fn similar_cells_tell_how_long_others_take() {
        let keys: Vec<CellKey> = cells(&plan()).into_iter().map(|cell| cell.key).collect();
        assert_eq!(time_left(&[], &keys), None);
        assert_eq!(time_left(&[], &[]), Some(0.0));
        let took = |index: usize, seconds: f64| Record {
            elapsed: seconds,
            ..record(&keys[index], "0", 0.5)
        };
        let records = [took(0, 10.0), took(3, 100.0)];
        // Of the same row; of the same method and size; of the same method.
        assert_eq!(time_left(&records, &keys[7..8]), Some(10.0));
        assert_eq!(time_left(&records, &keys[2..3]), Some(10.0));
        assert_eq!(time_left(&records, &keys[5..7]), Some(200.0));
        assert_eq!(time_left(&records[..1], &keys[5..6]), Some(10.0));
    }

    #[test]
    fn durations_in_words() {
        assert_eq!(in_words(42.4), "42 s");
        assert_eq!(in_words(130.0), "2 min");
        assert_eq!(in_words(7_300.0), "2 h 01 min");
    }
}
