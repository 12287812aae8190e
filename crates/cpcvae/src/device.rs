//! Where tensors live.

pub mod machine;

use crate::error::{Error, Result};
use burn::backend::DispatchDevice;
pub use burn::tensor::Device;
use cpcvae_kernels::isa::Isa;
pub use cpcvae_kernels::product::Precision;

/// The device of that name: `cpu`, `wgpu`, `cuda` or `metal`.
pub fn device(name: &str) -> Result<Device> {
    match name {
        "cpu" => Ok(Device::flex()),
        #[cfg(feature = "wgpu")]
        "wgpu" => Ok(Device::wgpu(Default::default())),
        #[cfg(feature = "cuda")]
        "cuda" => Ok(Device::cuda(burn::tensor::DeviceIndex::Default)),
        #[cfg(feature = "metal")]
        "metal" => Ok(Device::metal(Default::default())),
        #[allow(unreachable_patterns)]
        "wgpu" | "cuda" | "metal" => Err(Error::Device(format!(
            "this build of cpcvae has no `{name}` device; build it with \
             `cargo build --release --features {name}`"
        ))),
        other => Err(Error::Device(format!(
            "there is no device `{other}`; there are cpu, wgpu, cuda and metal"
        ))),
    }
}

/// Whether tensors of this device are plain memory that the kernels can work on.
pub(crate) fn is_cpu(device: &Device) -> bool {
    matches!(
        device.clone().without_autodiff().as_dispatch(),
        DispatchDevice::Flex(_)
    )
}

/// Whether the kernels can run on what `CPCVAE_ISA` names; without it they can.
pub fn check_instructions() -> Result<()> {
    Isa::asked_for().map(|_| ()).map_err(Error::Device)
}

/// Sets how many threads the kernels use. Only the first call in a process counts; results do
/// not depend on it.
pub fn set_threads(threads: usize) -> Result<()> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build_global()
        .map_err(|error| Error::Device(format!("{threads} threads: {error}")))
}
