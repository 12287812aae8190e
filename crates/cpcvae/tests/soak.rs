//! Repeated fits and predictions in one process: results stay the same and memory use flat. A few
//! rounds by default; `CPCVAE_SOAK=7200 cargo test --release --test soak -- --nocapture` runs for
//! two hours.
#![cfg(target_os = "linux")]

use cpcvae::prelude::*;
use std::time::{Duration, Instant};

/// Rounds before memory is measured: pools and the allocator have reached their size by then.
const WARM_UP: usize = 5;

/// Resident memory of this process, in bytes.
fn memory() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("Linux has it");
    let pages: u64 = text
        .split(' ')
        .nth(1)
        .and_then(|pages| pages.parse().ok())
        .expect("a number");
    pages * 4096
}

fn table(path: &std::path::Path) {
    let row = |row: usize| {
        let label = ["", "low", "high"][if row.is_multiple_of(3) {
            1 + row % 2
        } else {
            0
        }];
        let gap = if row.is_multiple_of(7) { "" } else { "1.5" };
        format!(
            "{}.25,{gap},{},{label}\n",
            row % 2 * 8 + row % 5,
            ["Rome", "Bern"][row % 2]
        )
    };
    let rows: String = (0..300).map(row).collect();
    std::fs::write(path, format!("a,b,town,kind\n{rows}")).expect("writable");
}

/// All methods of a model, with the results as one line.
fn round(folder: &std::path::Path) -> Result<String> {
    let path = folder.join("t.csv");
    let data = Dataset::read(&path, Label::column("kind"))?;
    let run = folder.join("run");
    let estimator = Cpc::new()
        .seed(3)
        .steps(120)
        .folds(2)
        .folder(&run)
        .overwrite(true);
    estimator.fit(&data)?;
    let fitted = Fitted::load(&run)?;
    let rows = fitted.read(&path)?;
    let answers = fitted.predict(&rows)?;
    let filled = fitted.impute(&rows, Filling::Draw(1), 10)?;
    let parts = (
        answers.outputs,
        answers.percentile,
        filled.rows,
        fitted.sample(20)?,
        fitted.encode(&rows)?.mean,
        fitted.verdict(),
    );
    Ok(format!("{parts:?}"))
}

#[test]
fn answers_stay_the_same_and_memory_flat() {
    let asked = std::env::var("CPCVAE_SOAK").ok();
    let time = Duration::from_secs(asked.and_then(|text| text.parse().ok()).unwrap_or(0));
    let folder = tempfile::tempdir().expect("a folder");
    table(&folder.path().join("t.csv"));
    let began = Instant::now();
    let first = round(folder.path()).expect("a fit");
    let (mut rounds, mut least, mut most) = (1, u64::MAX, 0);
    while rounds < 2 * WARM_UP || began.elapsed() < time {
        assert_eq!(
            round(folder.path()).expect("a fit"),
            first,
            "round {rounds}"
        );
        rounds += 1;
        if rounds > WARM_UP {
            least = least.min(memory());
            most = most.max(memory());
        }
        if rounds % 50 == 0 {
            println!(
                "{rounds} rounds, {} MB now, {} to {} MB",
                memory() >> 20,
                least >> 20,
                most >> 20
            );
        }
    }
    println!(
        "{rounds} rounds in {:.0} s, {} to {} MB",
        began.elapsed().as_secs_f64(),
        least >> 20,
        most >> 20
    );
    assert!(
        most < least + least / 4 + (16 << 20),
        "memory went from {least} to {most} bytes"
    );
}
