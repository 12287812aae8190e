//! The device, precision and reusable memory of a model.

use super::buffer::Buffers;
use super::weights::PackedCopies;
use burn::tensor::Device;
use burn_flex::FlexTensor;
use cpcvae_kernels::Workspace;
pub use cpcvae_kernels::product::Precision;
use std::fmt;
use std::sync::Arc;

/// A device, the precision of products on the CPU, and memory that is reused from step to step:
/// unused buffers and packed weights.
///
/// Each training and each opened model has its own, which its layers share, so that computations in
/// the same process do not affect each other. Clones are handles of the same.
///
/// ```
/// use cpcvae::op::{Compute, Precision};
/// use cpcvae::device::device;
///
/// let compute = Compute::new(&device("cpu")?, Precision::F32);
/// assert_eq!(compute.precision(), Precision::F32);
/// # Ok::<(), cpcvae::Error>(())
/// ```
#[derive(Clone)]
pub struct Compute(Arc<Inner>);

struct Inner {
    device: Device,
    workspace: Workspace,
    buffers: Buffers,
    weights: PackedCopies,
}

impl Compute {
    /// With an empty pool. Parameters that need gradients need a device with autodiff.
    pub fn new(device: &Device, precision: Precision) -> Self {
        Self(Arc::new(Inner {
            device: device.clone(),
            workspace: Workspace::new(precision),
            buffers: Buffers::default(),
            weights: PackedCopies::default(),
        }))
    }

    /// The device of the parameters.
    pub fn device(&self) -> &Device {
        &self.0.device
    }

    /// The precision of the factors of large products on the CPU.
    pub fn precision(&self) -> Precision {
        self.0.workspace.precision()
    }

    /// Must be called before parameters change: drops their packed copies, so that they can be
    /// changed in place.
    pub fn forget_weights(&self) {
        self.0.weights.forget();
    }

    /// Frees all pooled memory: after training, buffers of these sizes are not needed.
    pub(crate) fn free_memory(&self) {
        self.0.weights.clear();
        self.0.buffers.clear();
        self.0.workspace.clear();
    }

    /// A buffer for `length` numbers with unspecified content.
    pub fn take(&self, length: usize) -> Vec<f32> {
        self.0.buffers.take(length)
    }

    /// Returns the buffer of a tensor to the pool, if it has no other handle.
    pub(crate) fn give_back(&self, used: FlexTensor) {
        self.0.buffers.give_back(used);
    }

    /// A tensor of this shape, filled by `write`, which must write every number.
    pub(super) fn filled(&self, shape: &[usize], write: impl FnOnce(&mut [f32])) -> FlexTensor {
        self.0.buffers.filled(shape, write)
    }

    pub(super) fn workspace(&self) -> &Workspace {
        &self.0.workspace
    }

    pub(super) fn weights(&self) -> &PackedCopies {
        &self.0.weights
    }
}

impl Default for Compute {
    /// On the CPU in f32.
    fn default() -> Self {
        Self::new(&Device::flex(), Precision::F32)
    }
}

impl fmt::Debug for Compute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compute")
            .field("device", self.device())
            .field("precision", &self.precision())
            .finish_non_exhaustive()
    }
}
