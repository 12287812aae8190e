//! What is written is of the kind and in the units that were read: large numbers with all digits,
//! whole numbers whole and in their range, dates as dates.

mod sandbox;

use sandbox::{SMALL, Sandbox};
use std::io::Write;
use std::process::Stdio;

/// Unix times within 40 seconds, grades from 1 to 5, dates, and a target that follows the time;
/// every fifth row has gaps, every third no target.
fn visits(rows: usize) -> String {
    let mut text = String::from("seen,grade,born,done\n");
    for row in 0..rows {
        let late = (row * 17 % 41) as f64;
        let seen = 1.7e9 - 20.0 + late;
        let grade = 1 + row * 7 % 5;
        let born = format!("19{}-0{}-1{}", 60 + row % 30, 1 + row % 9, row % 10);
        let done = match row % 3 {
            0 => String::new(),
            _ => (seen + 100.0 + late / 4.0).to_string(),
        };
        text += &match row % 5 {
            0 => format!("{seen},,,{done}\n"),
            1 => format!(",{grade},{born},{done}\n"),
            _ => format!("{seen},{grade},{born},{done}\n"),
        };
    }
    text
}

fn cells(text: &str) -> Vec<Vec<String>> {
    let cells = |line: &str| line.split(',').map(String::from).collect();
    text.lines().skip(1).map(cells).collect()
}

/// Asserts that cells are what the columns `seen`, `grade` and `born` can be.
fn check(seen: &str, grade: &str, born: &str) {
    let seen: f64 = seen.parse().unwrap();
    assert!(
        (1.7e9 - 20.0..=1.7e9 + 20.0).contains(&seen) && seen.fract() == 0.0,
        "{seen}"
    );
    assert!(["1", "2", "3", "4", "5"].contains(&grade), "{grade}");
    let is_date = born.len() == 10 && born.starts_with("19") && born.as_bytes()[4] == b'-';
    assert!(is_date, "{born}");
}

#[test]
fn large_whole_and_dated_columns_come_back_as_they_were() {
    let sandbox = Sandbox::new();
    sandbox.write("visits.csv", visits(120));
    let fit = [
        "fit",
        "visits.csv",
        "--label",
        "done",
        "--out",
        "run",
        "--folds",
        "2",
        "--no-compare",
    ];
    let answer = sandbox.run(&[&fit[..], &SMALL].concat());
    assert_eq!(answer.code, 0, "{answer:?}");
    assert!(
        answer.err.contains("task: regress (41 different"),
        "{}",
        answer.err
    );

    let filled = cells(&sandbox.ok(&["impute", "run", "visits.csv"]));
    filled
        .iter()
        .for_each(|row| check(&row[0], &row[1], &row[2]));
    assert!(filled.iter().any(|row| row[0] != filled[2][0]));
    let made = sandbox.ok(&["sample", "run", "--count", "20", "--noisy"]);
    let header: Vec<&str> = made.lines().next().unwrap().split(',').collect();
    let place = header.iter().position(|name| *name == "seen").unwrap();
    for row in cells(&made) {
        check(&row[place], &row[place + 1], &row[place + 2]);
    }

    let predicted = cells(&sandbox.ok(&["predict", "run", "visits.csv", "--coverage", "0.8"]));
    let number = |cell: &String| cell.parse::<f64>().unwrap();
    for row in &predicted {
        let [value, low, high] = [&row[1], &row[2], &row[3]].map(number);
        assert!((value - 1.7e9 - 105.0).abs() < 100.0, "{value}");
        assert!(
            value - low > 0.1 && high - value > 0.1,
            "{low} {value} {high}"
        );
    }
    assert!(predicted.iter().any(|row| row[1] != predicted[0][1]));

    let text = sandbox.ok(&["evaluate", "run", "visits.csv", "--label", "done"]);
    let rmse = text
        .lines()
        .find(|line| line.contains("RMSE"))
        .unwrap_or(&text);
    let rmse = rmse
        .split_whitespace()
        .find_map(|word| word.parse::<f64>().ok());
    assert!(
        rmse.is_some_and(|rmse| (0.1..60.0).contains(&rmse)),
        "{text}"
    );
}

#[test]
fn a_number_too_far_away_is_named_instead_of_answered() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "t.csv",
        format!(
            "a,b,y\n{}",
            "1,2.5,u\n2,3.5,v\n3,1.5,u\n4,0.5,v\n".repeat(10)
        ),
    );
    sandbox.fit(&["t.csv", "--label", "y", "--out", "run", "--no-crossfit"]);
    sandbox.write("far.csv", "a,b\n1,2.5\n1e29,2\n");
    let message = sandbox.error(&["predict", "run", "far.csv"]);
    assert!(
        message.contains("row 1, column `a`: 1e29 is more than"),
        "{message}"
    );
}

#[test]
fn a_table_may_come_through_a_pipe() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(&[
        "fit",
        "-",
        "--label",
        "done",
        "--out",
        "run",
        "--no-crossfit",
        "--max-steps",
        "5",
    ]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(visits(3000).as_bytes())
        .unwrap();
    let answer = sandbox.answer(child.wait_with_output().unwrap());
    assert_eq!(answer.code, 0, "{answer:?}");
    assert!(
        answer.out.contains("3,000") || answer.out.contains("2,000"),
        "{answer:?}"
    );
}
