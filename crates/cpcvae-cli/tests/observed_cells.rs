//! A row is as unusual as its known cells are, however many of them are missing.

mod sandbox;

use sandbox::Sandbox;

/// Rows of six columns that go together; every tenth cell is missing in the table to learn from.
fn row(number: usize, missing: usize) -> String {
    let pseudo = |salt: usize| ((number * 7919 + salt * 104_729) % 1000) as f64 / 1000.0;
    let centre = if number % 2 == 0 { -2.0 } else { 2.0 };
    let cells = (0..6).map(|column| {
        let noise = pseudo(column) + pseudo(column + 11) + pseudo(column + 23) - 1.5;
        match (number + column) % 6 < missing {
            true => String::new(),
            false => format!("{:.3}", centre + noise),
        }
    });
    cells.collect::<Vec<_>>().join(",")
}

#[test]
fn percentiles_do_not_rise_with_missing_cells() {
    let sandbox = Sandbox::new();
    let mut table = "a,b,c,d,e,f,kind\n".to_string();
    for number in 0..600 {
        let label = ["", "low", "high"][if number % 5 == 0 { 1 + number % 2 } else { 0 }];
        table += &format!("{},{label}\n", row(number, usize::from(number % 3 == 0)));
    }
    sandbox.write("t.csv", table);
    sandbox.ok(&[
        "fit",
        "t.csv",
        "--label",
        "kind",
        "--no-crossfit",
        "--out",
        "run",
        "--quiet",
        "--max-steps",
        "400",
    ]);
    let mean = |missing: usize| {
        let rows: Vec<String> = (1000..1200).map(|number| row(number, missing)).collect();
        sandbox.write("new.csv", format!("a,b,c,d,e,f\n{}\n", rows.join("\n")));
        let answers = sandbox.ok(&["predict", "run", "new.csv"]);
        let last = |line: &str| {
            line.rsplit(',')
                .next()
                .and_then(|cell| cell.parse::<f64>().ok())
        };
        let percentiles: Vec<f64> = answers.lines().skip(1).filter_map(last).collect();
        assert_eq!(percentiles.len(), 200);
        percentiles.iter().sum::<f64>() / 200.0
    };
    let means: Vec<f64> = (0..4).map(mean).collect();
    for (missing, mean) in means.iter().enumerate() {
        assert!(
            (mean - means[0]).abs() < 15.0,
            "{missing} missing cells: {means:?}"
        );
    }
}
