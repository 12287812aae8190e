use cpcvae::config::{RunConfig, parse_settings};
use cpcvae::method::DataKind;
use cpcvae::run::{RunFolder, run};
use cpcvae::train::Silent;
use cpcvae_data::{HalfMoon, HalfMoonLabels};
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let seeds: u64 = std::env::var("SEEDS").ok().and_then(|s| s.parse().ok()).unwrap_or(1);
    let random = std::env::var("RANDOM").is_ok();
    let labels = std::env::var("LABELS").ok().and_then(|s| s.parse().ok()).unwrap_or(6);
    for seed in 0..seeds {
        let config = RunConfig::defaults(&args[0], DataKind::Table, "half-moon")?
            .overlaid(&parse_settings(&args[1..])?, "--set")?;
        let config = RunConfig { seed, ..config };
        let setting = if random { HalfMoonLabels::Random } else { HalfMoonLabels::EvenlySpaced };
        let source = HalfMoon { labels, setting, seed, ..HalfMoon::default() }.generate()?;
        let dir = std::env::temp_dir().join(format!("trial-{}-{seed}", std::process::id()));
        let report = run(&config, source, &RunFolder::at(&dir), &cpcvae::device::device("cpu")?, &mut Silent)?;
        println!("seed {seed} acc {:?} elbo {:?} steps {} in {:.1} s", report.test.as_ref().and_then(|t| t.accuracy), report.test.as_ref().and_then(|t| t.elbo), report.fit.steps, report.fit.seconds);
        std::fs::remove_dir_all(&dir)?;
    }
    Ok(())
}
