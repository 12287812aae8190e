//! The way past a residual block, beside its convolutions.

use burn_flex::FlexTensor;
use std::sync::{Arc, Mutex};

/// Takes the gradient of a block's output, which is also one of its input, from the block's last
/// convolution back to its first normalisation, which adds it to its own as it writes that. The tape
/// would do the same, but on one thread, in a pass of its own, and free the memory that the next
/// step needs.
///
/// The last convolution depends on the first normalisation, so its gradient always comes first.
#[derive(Clone, Debug, Default)]
pub struct Beside(Arc<Mutex<Option<FlexTensor>>>);

impl Beside {
    pub(super) fn put(&self, gradient: FlexTensor) {
        *self.lock() = Some(gradient);
    }

    pub(super) fn take(&self) -> Option<FlexTensor> {
        self.lock().take()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<FlexTensor>> {
        self.0
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
