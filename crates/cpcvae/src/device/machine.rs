//! Capabilities of this build and this machine.

use super::{Precision, check_instructions};
use crate::error::Result;
use cpcvae_kernels::features::features;
use cpcvae_kernels::isa::Isa;
use serde::Serialize;

/// A graphics processor that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Adapter {
    /// Its name.
    pub name: String,
    /// Its kind: a discrete GPU, an integrated one, software.
    pub kind: String,
    /// The system's interface to it, such as Vulkan.
    pub interface: String,
    /// Its driver.
    pub driver: String,
}

/// A device by its name, and whether this build has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BuiltDevice {
    /// Its name, as `device` takes it.
    pub name: &'static str,
    /// Whether this build has it.
    pub is_built: bool,
}

/// Capabilities of this build and this machine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Machine {
    /// The processor's name; empty where the system does not give it.
    pub processor: String,
    /// Relevant processor features, and whether it has them.
    pub features: Vec<(&'static str, bool)>,
    /// Instruction sets that the kernels support on it, best first.
    pub instructions: Vec<String>,
    /// The one in use.
    pub chosen: String,
    /// The precision of products that `auto` selects.
    pub precision: &'static str,
    /// Threads that kernels use.
    pub threads: usize,
    /// Hardware threads of the machine.
    pub processors: usize,
    /// Bytes of memory, of the machine or the limit of its container.
    pub memory: u64,
    /// The limit on memory for reading data.
    pub reading: u64,
    /// Devices, and whether this build has them.
    pub devices: Vec<BuiltDevice>,
    /// Graphics processors; `None` without the feature `wgpu`.
    pub adapters: Option<Vec<Adapter>>,
}

impl Machine {
    /// Detects them.
    pub fn detect() -> Result<Self> {
        check_instructions()?;
        let named = |isa: &Isa| format!("{isa:?}").to_lowercase();
        let devices = [
            ("cpu", true),
            ("wgpu", cfg!(feature = "wgpu")),
            ("cuda", cfg!(feature = "cuda")),
            ("metal", cfg!(feature = "metal")),
        ];
        Ok(Self {
            processor: processor(),
            features: features(),
            instructions: Isa::supported().iter().map(named).collect(),
            chosen: named(&Isa::current()),
            precision: Precision::auto().name(),
            threads: rayon::current_num_threads(),
            processors: std::thread::available_parallelism().map_or(1, usize::from),
            memory: cpcvae_data::machine_memory(),
            reading: cpcvae_data::most_memory(),
            devices: devices
                .into_iter()
                .map(|(name, is_built)| BuiltDevice { name, is_built })
                .collect(),
            adapters: adapters(),
        })
    }
}

fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("model name"));
    line.map_or(String::new(), |line| {
        line.trim_start_matches([' ', '\t', ':']).into()
    })
}

#[cfg(not(feature = "wgpu"))]
fn adapters() -> Option<Vec<Adapter>> {
    None
}

#[cfg(feature = "wgpu")]
fn adapters() -> Option<Vec<Adapter>> {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    // On native systems the result is available at once.
    let mut asked = pin!(instance.enumerate_adapters(wgpu::Backends::all()));
    let mut context = Context::from_waker(Waker::noop());
    let found = loop {
        match asked.as_mut().poll(&mut context) {
            Poll::Ready(found) => break found,
            Poll::Pending => std::thread::yield_now(),
        }
    };
    let adapter = |adapter: &wgpu::Adapter| {
        let info = adapter.get_info();
        Adapter {
            name: info.name.clone(),
            kind: format!("{:?}", info.device_type),
            interface: format!("{:?}", info.backend),
            driver: format!("{} {}", info.driver, info.driver_info)
                .trim()
                .into(),
        }
    };
    Some(found.iter().map(adapter).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_the_machine_holds_together() {
        let machine = Machine::detect().expect("instructions");
        assert!(machine.instructions.contains(&machine.chosen));
        assert!(machine.instructions.contains(&"portable".to_string()));
        assert!(machine.threads >= 1 && machine.processors >= 1);
        assert!(machine.memory >= 64 << 20 && machine.reading > 0);
        let built = machine.devices.iter().filter(|device| device.is_built);
        for device in built {
            assert!(super::super::device(device.name).is_ok(), "{device:?}");
        }
        assert_eq!(machine.adapters.is_some(), cfg!(feature = "wgpu"));
    }
}
