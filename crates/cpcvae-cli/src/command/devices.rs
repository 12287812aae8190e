//! `cpcvae devices`: capabilities of this build and this machine.

use crate::ExitCode;
use crate::args::DevicesArgs;
use crate::printer::Printer;
use anyhow::Result;
use cpcvae::device::machine::Machine;

/// Detects and prints them.
pub(crate) fn run(args: &DevicesArgs, printer: Printer) -> Result<ExitCode> {
    args.place.set_up()?;
    let machine = Machine::detect()?;
    printer.answer(&text(&machine), &serde_json::to_value(&machine)?)?;
    Ok(ExitCode::SUCCESS)
}

fn text(machine: &Machine) -> String {
    let gibibytes = |bytes: u64| bytes as f64 / f64::from(1 << 30);
    let with = |wanted: bool| {
        let features = machine.features.iter().filter(|(_, has)| *has == wanted);
        let names: Vec<&str> = features.map(|(name, _)| *name).collect();
        match names.is_empty() {
            true => "-".to_string(),
            false => names.join(" "),
        }
    };
    let unknown = |text: &str| if text.is_empty() { "unknown" } else { text }.to_string();
    let mut text = format!(
        "processor     {}\n\
         features      {} (without: {})\n\
         instructions  {}, of {}; CPCVAE_ISA names another\n\
         precision     auto means {}\n\
         threads       {} of {}\n\
         memory        {:.1} GiB, of which reading may take {:.1}\n",
        unknown(&machine.processor),
        with(true),
        with(false),
        machine.chosen,
        machine.instructions.join(", "),
        machine.precision,
        machine.threads,
        machine.processors,
        gibibytes(machine.memory),
        gibibytes(machine.reading),
    );
    for device in &machine.devices {
        let built = match device.is_built {
            true => "in this build".to_string(),
            false => format!(
                "not in this build (cargo build --release --features {})",
                device.name
            ),
        };
        text += &format!("{:<14}{built}\n", format!("device {}", device.name));
    }
    match &machine.adapters {
        None => text += "GPUs          not looked for without the feature wgpu\n",
        Some(found) if found.is_empty() => text += "GPUs          none found\n",
        Some(found) => {
            for gpu in found {
                let (kind, interface) = (&gpu.kind, &gpu.interface);
                text += &format!(
                    "GPU           {} ({kind}, {interface}, {})\n",
                    gpu.name, gpu.driver
                );
            }
        }
    }
    text
}
