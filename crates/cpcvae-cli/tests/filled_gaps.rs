//! `impute` predicts missing cells from the others of their row.

mod sandbox;

use sandbox::Sandbox;

const ROWS: usize = 400;
/// In one of this many rows, one cell is removed.
const STEP: usize = 5;

/// A latent number between -2 and 2 that all columns of a row depend on.
fn hidden(row: usize) -> f64 {
    (row * 137 % ROWS) as f64 / ROWS as f64 * 4.0 - 2.0
}

/// `width = 2 h + 1`, `depth = -h`, `height = h / 2 + 3`; with `more`, also whether h is positive, and a
/// count between 0 and 40.
fn cells(row: usize, more: bool) -> Vec<String> {
    let h = hidden(row);
    let mut cells = [2.0 * h + 1.0, -h, h / 2.0 + 3.0]
        .iter()
        .map(f64::to_string)
        .collect::<Vec<_>>();
    if more {
        cells.push(if h > 0.0 { "yes" } else { "no" }.into());
        cells.push(((h + 2.0) * 10.0).floor().to_string());
    }
    cells
}

fn table(more: bool, gap_of: Option<usize>) -> String {
    let header = ["width", "depth", "height", "positive", "visits"];
    let columns = if more { 5 } else { 3 };
    let mut text = header[..columns].join(",") + "\n";
    for row in 0..ROWS {
        let mut cells = cells(row, more);
        if let (Some(column), 0) = (gap_of, row % STEP) {
            cells[column].clear();
        }
        text += &(cells.join(",") + "\n");
    }
    text
}

fn trained(sandbox: &Sandbox, more: bool) {
    sandbox.write("whole.csv", table(more, None));
    let fit = [
        "fit",
        "whole.csv",
        "--method",
        "vae",
        "--max-steps",
        "600",
        "--code",
        "1",
        "--set",
        "model.hidden=[40]",
        "--set",
        "train.learning_rate=3e-3",
        "--out",
        "run",
        "--quiet",
        "--column",
        "visits=count",
    ];
    sandbox.ok(if more { &fit } else { &fit[..fit.len() - 2] });
}

/// The imputed cells of a column with the true ones.
fn filled(sandbox: &Sandbox, more: bool, column: usize) -> Vec<(String, String)> {
    sandbox.write("gaps.csv", table(more, Some(column)));
    let text = sandbox.ok(&["impute", "run", "gaps.csv"]);
    let lines = text.lines().skip(1).enumerate();
    let with_gap = lines.filter(|(row, _)| row % STEP == 0);
    with_gap
        .map(|(row, line)| {
            let cell = line.split(',').nth(column).expect("a cell");
            (cell.to_string(), cells(row, more)[column].clone())
        })
        .collect()
}

/// Root mean squared error over the standard deviation of the truth.
fn error(pairs: &[(String, String)]) -> f64 {
    let number = |text: &String| text.parse::<f64>().expect("a number");
    let truth: Vec<f64> = pairs.iter().map(|(_, truth)| number(truth)).collect();
    let mean = truth.iter().sum::<f64>() / truth.len() as f64;
    let spread: f64 = truth.iter().map(|value| (value - mean).powi(2)).sum();
    let squares: f64 = pairs
        .iter()
        .map(|(made, truth)| (number(made) - number(truth)).powi(2))
        .sum();
    (squares / spread).sqrt()
}

#[test]
fn a_cell_is_found_from_the_others() {
    let sandbox = Sandbox::new();
    trained(&sandbox, false);
    for column in 0..3 {
        let error = error(&filled(&sandbox, false, column));
        assert!(error < 0.35, "column {column}: {error}");
    }
}

#[test]
fn cells_of_all_kinds_are_found() {
    let sandbox = Sandbox::new();
    trained(&sandbox, true);
    for column in [0, 1, 2, 4] {
        let error = error(&filled(&sandbox, true, column));
        assert!(error < 0.4, "column {column}: {error}");
    }
    let positive = filled(&sandbox, true, 3);
    let right = positive
        .iter()
        .filter(|(made, truth)| made == truth)
        .count();
    assert!(
        right * 10 >= positive.len() * 9,
        "{right} of {}",
        positive.len()
    );
    for (made, _) in filled(&sandbox, true, 4) {
        let count: f64 = made.parse().expect("a number");
        assert!(
            (0.0..=40.0).contains(&count) && count.fract() == 0.0,
            "{made}"
        );
    }
}
