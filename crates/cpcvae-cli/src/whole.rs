//! How far a command is that trains several models, and how much longer it takes.

use std::time::Instant;

/// The trainings of a command.
#[derive(Debug, Default)]
pub struct Whole {
    planned: usize,
    /// The share done of each training that has begun, and the share that was done before.
    shares: Vec<(f64, Option<f64>)>,
    began: Option<Instant>,
}

impl Whole {
    /// So many trainings are to come in all.
    pub fn plan(&mut self, trainings: usize) {
        self.planned = trainings;
    }

    /// A training begins; gives its number.
    pub fn begin(&mut self) -> usize {
        self.began.get_or_insert_with(Instant::now);
        self.shares.push((0.0, None));
        self.shares.len() - 1
    }

    /// A training is so far; what it began with was done before.
    pub fn is_at(&mut self, training: usize, share: f64) {
        let (now, before) = &mut self.shares[training];
        before.get_or_insert(share);
        *now = share;
    }

    /// A training has ended. One without a step was finished before.
    pub fn ends(&mut self, training: usize) {
        self.is_at(training, 1.0);
    }

    /// Trainings that are done, with parts of them, of so many.
    pub fn done(&self) -> (f64, usize) {
        let done = self.shares.iter().map(|(now, _)| now).sum();
        (done, self.planned.max(self.shares.len()))
    }

    /// Seconds that are left, if trainings go on as they did; nothing before one can tell.
    pub fn seconds_left(&self) -> Option<f64> {
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
        let mut whole = Whole::default();
        whole.plan(4);
        let first = whole.begin();
        assert_eq!(whole.left_after(1.0), None);
        whole.is_at(first, 0.5);
        assert_eq!(whole.left_after(1.0), None, "it went on from there");
        whole.is_at(first, 1.0);
        whole.ends(first);
        // Half a training in 10 seconds, three to come.
        assert_eq!(whole.left_after(10.0), Some(60.0));
        let finished = whole.begin();
        whole.ends(finished);
        assert_eq!(whole.left_after(10.0), Some(40.0));
        assert_eq!(whole.done(), (2.0, 4));
    }
}
