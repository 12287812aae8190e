//! A sample of rows without randomness.

/// At most `most` of the rows, evenly spaced.
pub(crate) fn evenly(rows: &[u32], most: usize) -> Vec<u32> {
    if most == 0 {
        return Vec::new();
    }
    let step = rows.len().div_ceil(most).max(1);
    rows.iter().step_by(step).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::evenly;

    #[test]
    fn no_more_than_wanted_and_all_if_there_are_fewer() {
        assert_eq!(evenly(&[3, 5, 8, 9], 2), [3, 8]);
        assert_eq!(evenly(&[3, 5, 8], 2), [3, 8]);
        assert_eq!(evenly(&[3, 5], 7), [3, 5]);
        assert!(evenly(&[3, 5], 0).is_empty() && evenly(&[], 4).is_empty());
    }
}
