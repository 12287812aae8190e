//! Devices by name, and the number of threads.

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

/// Whether tensors of this device are in memory that the CPU kernels can use.
pub(crate) fn is_cpu(device: &Device) -> bool {
    matches!(
        device.clone().without_autodiff().as_dispatch(),
        DispatchDevice::Flex(_)
    )
}

/// Whether the machine supports the instruction set in `CPCVAE_ISA`; true if it is not set.
pub fn check_instructions() -> Result<()> {
    Isa::requested().map(|_| ()).map_err(Error::Device)
}

/// Sets the number of threads of the kernels. Only the first call in a process has an effect;
/// results do not depend on it.
pub fn set_threads(threads: usize) -> Result<()> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build_global()
        .map_err(|error| Error::Device(format!("{threads} threads: {error}")))
}
