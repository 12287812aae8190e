//! Whether a row is unusual depends on its known cells, not on how many are missing.

mod sandbox;

use sandbox::Sandbox;

const COLUMNS: usize = 6;

/// A number from 0 to 1 that depends on both (SplitMix64).
fn pseudo(number: usize, salt: usize) -> f64 {
    let mut bits = (number * 64 + salt) as u64;
    bits = bits.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (bits >> 40) as f64 / (1u64 << 24) as f64
}

/// Rows of six correlated columns on different scales, of which some cells are missing; an unusual
/// row combines values of both kinds.
fn row(number: usize, missing: usize, is_odd: bool) -> String {
    let centre = if number.is_multiple_of(2) { -2.0 } else { 2.0 };
    let mut order: Vec<usize> = (0..COLUMNS).collect();
    order.sort_by(|a, b| pseudo(number, 50 + a).total_cmp(&pseudo(number, 50 + b)));
    let cells = (0..COLUMNS).map(|column| {
        let noise: f64 = (0..4).map(|part| pseudo(number, column + 11 * part)).sum();
        let side = if is_odd && column % 2 == 0 { -1.0 } else { 1.0 };
        match order[..missing].contains(&column) {
            true => String::new(),
            false => format!(
                "{:.3}",
                (side * centre + noise - 2.0) * 10f64.powi(column as i32)
            ),
        }
    });
    cells.collect::<Vec<_>>().join(",")
}

fn trained(more: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new();
    let mut table = "a,b,c,d,e,f,kind\n".to_string();
    for number in 0..600 {
        let label = match number % 5 {
            0 => ["low", "high"][number % 2],
            _ => "",
        };
        let missing = [0, 0, 1, 2][number % 4];
        table += &format!("{},{label}\n", row(number, missing, false));
    }
    sandbox.write("t.csv", table);
    let fit = [
        "fit",
        "t.csv",
        "--label",
        "kind",
        "--no-crossfit",
        "--max-steps",
        "300",
    ];
    sandbox.ok(&[&fit[..], &["--out", "run", "--quiet"], more].concat());
    sandbox
}

fn percentiles(sandbox: &Sandbox, rows: &[String]) -> Vec<f64> {
    sandbox.write("new.csv", format!("a,b,c,d,e,f\n{}\n", rows.join("\n")));
    let answers = sandbox.ok(&["predict", "run", "new.csv"]);
    let last = |line: &str| line.rsplit(',').next()?.parse().ok();
    let found: Vec<f64> = answers.lines().skip(1).filter_map(last).collect();
    assert_eq!(found.len(), rows.len());
    found
}

fn check(sandbox: &Sandbox) {
    let usual = |missing| {
        (1000..1300)
            .map(|number| row(number, missing, false))
            .collect::<Vec<_>>()
    };
    let mean = |missing| {
        let found = percentiles(sandbox, &usual(missing));
        found.iter().sum::<f64>() / found.len() as f64
    };
    let means: Vec<f64> = (0..4).map(mean).collect();
    for mean in &means {
        assert!((mean - means[0]).abs() < 7.0, "{means:?}");
    }
    // With and without missing cells, unusual rows are distinguished from typical ones.
    let mixed = |from: usize, is_odd| {
        let rows = (from..from + 200).map(|number| row(number, number % 4, is_odd));
        percentiles(sandbox, &rows.collect::<Vec<_>>())
    };
    let (odd, others) = (mixed(2000, true), mixed(3000, false));
    let wins = odd
        .iter()
        .map(|odd| others.iter().filter(|other| odd < other).count());
    let share = wins.sum::<usize>() as f64 / (odd.len() * others.len()) as f64;
    assert!(share > 0.9, "{share}");
    let nothing = percentiles(sandbox, &[",,,,,".into(), row(5, 0, false)]);
    assert_eq!(nothing[0], 0.0);
}

#[test]
fn percentiles_by_distance_do_not_depend_on_missing_cells() {
    check(&trained(&[]));
}

#[test]
fn percentiles_by_log_p_do_not_depend_on_missing_cells() {
    check(&trained(&["--set", "ensemble.kept_rows=0"]));
}
