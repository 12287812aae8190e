//! Progress and remaining time of a command that trains several models.

use std::time::Instant;

/// The trainings of a command.
#[derive(Debug, Default)]
pub(crate) struct OverallProgress {
    planned: usize,
    /// The completed share of each training that has started, and the share completed before this
    /// process.
    shares: Vec<(f64, Option<f64>)>,
    began: Option<Instant>,
}

impl OverallProgress {
    /// Sets the total number of trainings.
    pub(crate) fn plan(&mut self, trainings: usize) {
        self.planned = trainings;
    }

    /// Starts a training; returns its number.
    pub(crate) fn begin(&mut self) -> usize {
        self.began.get_or_insert_with(Instant::now);
        self.shares.push((0.0, None));
        self.shares.len() - 1
    }

    /// Updates the completed share of a training; the first update is the share completed before.
    pub(crate) fn is_at(&mut self, training: usize, share: f64) {
        let (now, before) = &mut self.shares[training];
        before.get_or_insert(share);
        *now = share;
    }

    /// Ends a training. One without an update was finished before.
    pub(crate) fn ends(&mut self, training: usize) {
        self.is_at(training, 1.0);
    }

    /// The completed trainings, including fractions, and their total number.
    pub(crate) fn done(&self) -> (f64, usize) {
        let done = self.shares.iter().map(|(now, _)| now).sum();
        (done, self.planned.max(self.shares.len()))
    }

    /// The remaining seconds at the current speed; `None` before it can be estimated.
    pub(crate) fn seconds_left(&self) -> Option<f64> {
        let elapsed = self.began?.elapsed().as_secs_f64();
        self.left_after(elapsed)
    }

    fn left_after(&self, elapsed: f64) -> Option<f64> {
        let (done, planned) = self.done();
        let before = self.shares.iter().filter_map(|(_, before)| *before);
        let here = done - before.sum::<f64>();
        (here > 0.0).then(|| elapsed * (planned as f64 - done) / here)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_done_before_takes_no_time() {
        let mut overall = OverallProgress::default();
        overall.plan(4);
        let first = overall.begin();
        assert_eq!(overall.left_after(1.0), None);
        overall.is_at(first, 0.5);
        assert_eq!(overall.left_after(1.0), None, "it was resumed there");
        overall.is_at(first, 1.0);
        overall.ends(first);
        // Half a training in 10 seconds, three remaining.
        assert_eq!(overall.left_after(10.0), Some(60.0));
        let finished = overall.begin();
        overall.ends(finished);
        assert_eq!(overall.left_after(10.0), Some(40.0));
        assert_eq!(overall.done(), (2.0, 4));
    }
}
