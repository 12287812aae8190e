//! An observer that asks for a stop, as Ctrl-C does.

use cpcvae::train::{Observer, StepReport};

/// Stops after a number of logged or taken steps, and remembers the last one.
pub struct StopAt {
    limit: u64,
    /// The last step that was logged.
    pub last: u64,
}

impl StopAt {
    /// Stops after the logged step `limit`; 0 stops before the first.
    pub fn step(limit: u64) -> Self {
        Self { limit, last: 0 }
    }
}

impl Observer for StopAt {
    fn on_step(&mut self, report: &StepReport<'_>) {
        self.last = report.step;
    }

    fn wants_stop(&mut self) -> bool {
        self.last >= self.limit
    }
}
