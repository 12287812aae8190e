//! A table of numbers, flags, categories and counts with missing cells, through every command.

mod sandbox;

use sandbox::{SMALL, Sandbox};

/// Two kinds of people; one cell in ten is blank, and one row in three has a label.
fn people(rows: usize) -> String {
    let mut text = String::from("nr,age,smoker,town,visits,ill\n");
    for row in 0..rows {
        let ill = row % 2;
        let wobble = (row * 37) % 11;
        let cells = [
            format!("{}", 30.5 + 20.0 * ill as f32 + wobble as f32),
            ["no", "yes"][usize::from((row * 7) % 5 < 1 + 3 * ill)].replace("no", "false"),
            ["Rome", "Oslo", "Bern"][(ill + usize::from(wobble > 7)) % 3].to_string(),
            // Most often 0 or 1, at times many.
            [0, 0, 1, 1, 1, 0, 2, 3, 5, 12, 40][wobble].to_string(),
        ];
        let cells = cells.iter().enumerate().map(|(column, cell)| {
            let is_missing = (row * 13 + column * 5) % 10 == 0;
            if is_missing { "" } else { cell.as_str() }
        });
        let label = match (row % 3, ill) {
            (0, 0) => "well",
            (0, _) => "ill",
            _ => "",
        };
        let cells: Vec<&str> = cells.collect();
        text += &format!(
            "p{row},{},{label}\n",
            cells.join(",").replace("yes", "true")
        );
    }
    text
}

fn lines(text: &str) -> Vec<Vec<&str>> {
    text.lines().map(|line| line.split(',').collect()).collect()
}

fn is_number(cell: &str) -> bool {
    cell.parse::<f32>().is_ok_and(f32::is_finite)
}

/// The four features are values of their kinds.
fn check_kinds(cells: &[&str]) {
    assert!(is_number(cells[0]), "{cells:?}");
    assert!(["0", "1"].contains(&cells[1]), "{cells:?}");
    assert!(["Rome", "Oslo", "Bern"].contains(&cells[2]), "{cells:?}");
    assert!(cells[3].parse::<u32>().is_ok(), "{cells:?}");
}

#[test]
fn from_fit_to_every_answer() {
    let methods = [
        "cpc",
        "m2",
        "labels-only",
        "vae-then-mlp",
        "vat",
        "sdgm",
        "adgm",
        "m1-m2",
    ];
    for method in methods {
        let sandbox = Sandbox::new();
        sandbox.write("people.csv", people(240));
        let fit = ["fit", "people.csv", "--label", "ill", "--id", "nr"];
        let more = [
            "--method",
            method,
            "--out",
            "run",
            "--column",
            "visits=count",
            "--no-crossfit",
        ];
        let answer = sandbox.run(&[&fit[..], &more, &SMALL].concat());
        assert_eq!(answer.code, 0, "{answer:?}");
        for part in [
            "age",
            "true or false",
            "3 levels: Bern, Oslo, Rome",
            "as declared",
            "10.0%",
        ] {
            assert!(answer.err.contains(part), "{method}: {}", answer.err);
        }
        let metrics = String::from_utf8(sandbox.read("run/metrics.jsonl")).expect("text");
        assert!(
            !metrics.contains("null") && metrics.contains("loss"),
            "{metrics}"
        );

        let predicted = sandbox.ok(&["predict", "run", "people.csv"]);
        let predicted = lines(&predicted);
        assert_eq!(predicted[0][..5], ["row", "nr", "label", "p_ill", "p_well"]);
        assert_eq!((predicted.len(), predicted[7][1]), (241, "p6"));
        assert!(is_number(predicted[5][3]), "{:?}", predicted[5]);
        let text = sandbox.ok(&["evaluate", "run", "people.csv"]);
        assert!(text.contains("240 (80 with a label)"), "{text}");
        if ["labels-only", "vat"].contains(&method) {
            continue;
        }
        let scores = sandbox.ok(&["score", "run", "people.csv", "--samples", "2"]);
        assert!(
            lines(&scores)[1..]
                .iter()
                .all(|line| is_number(line[2]) && is_number(line[3]))
        );
        // Known cells stay; the others become valid values of their kinds.
        for samples in [&[][..], &["--samples", "1"]] {
            let filled = sandbox.ok(&[&["impute", "run", "people.csv"], samples].concat());
            let filled = lines(&filled);
            let before = people(240);
            let before = lines(&before);
            assert_eq!(filled[0], before[0]);
            for (line, before) in filled.iter().zip(&before).skip(1) {
                for (cell, before) in line.iter().zip(before) {
                    assert!(before.is_empty() || cell == before, "{line:?} {before:?}");
                }
                let smoker = line[2].replace("true", "1").replace("false", "0");
                check_kinds(&[line[1], &smoker, line[3], line[4]]);
                assert_eq!(line[5], before[5], "labels are not filled in");
            }
        }
        let made = sandbox.ok(&["reconstruct", "run", "people.csv"]);
        let made = lines(&made);
        assert_eq!(made[0], ["row", "nr", "age", "smoker", "town", "visits"]);
        made[1..].iter().for_each(|line| check_kinds(&line[2..]));
        for noisy in [&[][..], &["--noisy"]] {
            let samples = sandbox.ok(&[&["sample", "run", "--count", "20"], noisy].concat());
            let samples = lines(&samples);
            assert_eq!(samples[0], ["age", "smoker", "town", "visits"]);
            samples[1..].iter().for_each(|line| check_kinds(line));
        }
    }
}

#[test]
fn new_rows_are_read_as_the_model_knows_them() {
    let sandbox = Sandbox::new();
    sandbox.write("people.csv", people(240));
    let fit = [
        "people.csv",
        "--label",
        "ill",
        "--ignore",
        "nr",
        "--out",
        "run",
        "--no-crossfit",
    ];
    sandbox.fit(&fit);
    // In another order, with additional columns and unknown levels.
    sandbox.write(
        "new.csv",
        "note,visits,town,smoker,age\nx,3,Paris,1,\ny,0,Rome,true,44\n",
    );
    let answer = sandbox.run(&["predict", "run", "new.csv"]);
    assert_eq!(answer.code, 0, "{answer:?}");
    assert!(
        answer.err.starts_with(
            "warning: column `town`: the model does not know `Paris` (first in row 1); 1 cells \
             count as missing\n"
        ),
        "{answer:?}"
    );
    assert_eq!(
        lines(&answer.out)[0][..4],
        ["row", "label", "p_ill", "p_well"]
    );
    // An unknown level is not imputed.
    let filled = sandbox.ok(&["impute", "run", "new.csv"]);
    assert_eq!(lines(&filled)[1][..4], ["x", "3", "Paris", "1"]);
    assert!(is_number(lines(&filled)[1][4]), "{filled}");
    sandbox.write("short.csv", "visits,town,smoker\n3,Rome,1\n");
    assert_eq!(
        sandbox.error(&["predict", "run", "short.csv"]),
        "short.csv, header: there is no feature column `age`; the columns are: visits, town, smoker"
    );
    // Nor is a number that does not fit its column; the row is not refused for it.
    sandbox.write("two.csv", "visits,town,smoker,age\n3,Rome,2,44\n");
    let answer = sandbox.run(&["predict", "run", "two.csv"]);
    assert!(
        answer.err.contains(
            "warning: column `smoker`: the model does not know `2` (first in row 1); 1 cells \
             count as missing\n"
        ),
        "{answer:?}"
    );
    assert!(is_number(lines(&answer.out)[1][2]), "{answer:?}");
    sandbox.write("odd.csv", "visits,town,smoker,age\n3,Rome,maybe,44\n");
    let error = sandbox.error(&["predict", "run", "odd.csv"]);
    assert_eq!(
        error,
        "odd.csv, row 1, column `smoker`: `maybe` is not a number, and the column is read as a \
         flag; correct it or leave it blank, or, if it is right, train again with the \
         column as a category (`data.columns`)\n  hint: train again with `--column smoker=category`"
    );
}

#[test]
fn whole_rows_and_gaps() {
    let sandbox = Sandbox::new();
    sandbox.write("whole.csv", sandbox::two_clouds(60, 10));
    sandbox.write("gaps.csv", "width,height\n3.5,\n,0.5\n");
    let fit = [
        "whole.csv",
        "--label",
        "kind",
        "--id",
        "id",
        "--no-crossfit",
    ];
    sandbox.fit(&[&fit[..], &["--out", "plain"]].concat());
    assert_eq!(
        sandbox.error(&["predict", "plain", "gaps.csv"]),
        "`gaps` has missing cells (the first in row 1, column `height`), but all rows that the \
         model was trained on are whole; fill them, or train again with `model.missing_cells`\n  \
         hint: train again with `--set model.missing_cells=true`"
    );
    let more = ["--set", "model.missing_cells=true", "--out", "gaps"];
    sandbox.fit(&[&fit[..], &more].concat());
    sandbox.ok(&["predict", "gaps", "gaps.csv"]);
    for run in ["plain", "gaps"] {
        let filled = sandbox.ok(&["impute", run, "gaps.csv"]);
        let filled = lines(&filled);
        assert_eq!((filled[1][0], filled[2][1]), ("3.5", "0.5"));
        assert!(
            is_number(filled[1][1]) && is_number(filled[2][0]),
            "{filled:?}"
        );
    }
}

#[test]
fn a_kind_that_is_not_one() {
    let sandbox = Sandbox::new();
    sandbox.write("people.csv", people(60));
    let fit = ["fit", "people.csv", "--label", "ill", "--ignore", "nr"];
    let error = sandbox.error(&[&fit[..], &["--column", "age=real"]].concat());
    assert_eq!(
        error,
        "setting `data.columns`: `age=real` is not NAME=KIND; kinds are number, flag, category, \
         count, ignore"
    );
    assert_eq!(sandbox.files("runs"), []);
}
