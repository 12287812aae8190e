//! Predictions from few labels: held-out figures, sets, percentiles, imputed cells, suggestions.

mod sandbox;

use cpcvae_data::{Opened, ReadOptions, open_path};
use sandbox::{SMALL, Sandbox, cells, straight_line, two_clouds};

fn number(cell: &str) -> f32 {
    cell.parse()
        .unwrap_or_else(|_| panic!("`{cell}` is not a number"))
}

/// A finished run on two clouds, 12 labels of each class, with its folds.
fn clouds(more: &[&str]) -> (Sandbox, String) {
    let sandbox = Sandbox::new();
    sandbox.write("wine.csv", two_clouds(120, 12));
    let fit = ["wine.csv", "--label", "kind", "--id", "id", "--out", "run"];
    let summary = sandbox.fit(&[&fit[..], more].concat());
    (sandbox, summary)
}

#[test]
fn fit_compares_on_held_out_labels_and_says_what_it_found() {
    let (sandbox, summary) = clouds(&["--folds", "3", "--keep-folds"]);
    for part in [
        "held out    accuracy",
        "24 labels, held out in 3 folds",
        "labels-only",
        "ensemble",
        "cpc",
        "neighbours",
        "extra-trees",
        "label-spreading",
        "unlabelled rows",
        "warning: only 24 labelled rows could be held out, 12 of the rarest class",
    ] {
        assert!(summary.contains(part), "{part} in {summary}");
    }
    let answers: serde_json::Value =
        serde_json::from_slice(&sandbox.read("run/model/answers.json")).expect("JSON");
    assert_eq!(answers["held_out"]["rows"], 24);
    assert_eq!(
        answers["class_scores"].as_array().expect("scores").len(),
        24
    );

    // A second call trains nothing and changes nothing.
    let before = sandbox.files("run/crossfit");
    let again = sandbox.fit(&[
        "wine.csv",
        "--out",
        "run",
        "--resume",
        "--folds",
        "3",
        "--keep-folds",
        "--json",
    ]);
    assert_eq!(before, sandbox.files("run/crossfit"));
    let value: serde_json::Value = serde_json::from_str(&again).expect("JSON");
    assert_eq!(
        value["held_out"]["methods"]
            .as_array()
            .expect("methods")
            .len(),
        // The ensemble, its network and four members, labels alone, neighbours, label spreading.
        9
    );
    assert!(value["held_out"]["verdict"].is_string());
}

#[test]
fn folds_trained_beside_each_other_answer_as_one_after_the_other() {
    let with_threads = |threads| {
        let (sandbox, summary) = clouds(&["--folds", "3", "--keep-folds", "--threads", threads]);
        let models = [0, 1, 2].map(|fold| {
            let folder = format!("run/crossfit/3-folds/cpc/fold-{fold}/model");
            sandbox.read(&format!("{folder}/model.safetensors"))
        });
        let table = summary.split("method").nth(1).expect("a table").to_string();
        (models, sandbox.read("run/model/answers.json"), table)
    };
    assert_eq!(with_threads("1"), with_threads("3"));
}

#[test]
fn every_row_gets_a_full_answer() {
    let (sandbox, _) = clouds(&["--folds", "2", "--no-compare"]);
    let text = sandbox.ok(&["predict", "run", "wine.csv"]);
    let table = cells(&text);
    assert_eq!(
        table[0],
        [
            "row",
            "id",
            "label",
            "p_red wine",
            "p_white",
            "set",
            "log_p",
            "percentile"
        ]
    );
    assert_eq!(table.len(), 121);
    for (row, line) in table[1..].iter().enumerate() {
        assert_eq!(
            (number(&line[0]), number(&line[1])),
            (row as f32, row as f32)
        );
        let (red, white) = (number(&line[3]), number(&line[4]));
        assert!((red + white - 1.0).abs() < 1e-5);
        assert!(line[5].split('|').any(|class| class == line[2]), "{line:?}");
        assert!((0.0..=100.0).contains(&number(&line[7])), "{line:?}");
    }
    // A higher coverage never has smaller sets; one that 24 labels cannot guarantee has all
    // classes.
    let sizes = |coverage: &str| -> Vec<usize> {
        let text = sandbox.ok(&["predict", "run", "wine.csv", "--coverage", coverage]);
        let table = cells(&text);
        table[1..]
            .iter()
            .map(|line| line[5].split('|').count())
            .collect()
    };
    let (narrow, wide) = (sizes("0.5"), sizes("0.95"));
    assert!(narrow.iter().zip(&wide).all(|(a, b)| a <= b));
    assert!(sizes("0.99").iter().all(|size| *size == 2));

    // The same as Parquet, which reads back as the same predictions, and never overwrites the data.
    sandbox.ok(&["predict", "run", "wine.csv", "--out", "a.parquet"]);
    sandbox.ok(&["encode", "run", "wine.csv", "--out", "codes.parquet"]);
    let codes = open_path(sandbox.path("codes.parquet"), &ReadOptions::default());
    let Ok(Opened::Table(codes)) = codes else {
        panic!("codes.parquet is no table");
    };
    assert_eq!(codes.rows, table.len() - 1);
    let answers = ReadOptions::default();
    let Ok(Opened::Table(back)) = open_path(sandbox.path("a.parquet"), &answers) else {
        panic!("a.parquet is no table");
    };
    let names: Vec<&str> = back.columns.iter().map(|column| &column.name[..]).collect();
    assert_eq!(names, table[0]);
    for (row, line) in table[1..].iter().enumerate() {
        for (column, cell) in back.columns.iter().zip(line) {
            assert_eq!(&column.text(row), cell, "row {row}, {}", column.name);
        }
    }
    let before = sandbox.read("wine.csv");
    let error = sandbox.error(&["predict", "run", "wine.csv", "--out", "./wine.csv"]);
    assert_eq!(
        error,
        "`--out ./wine.csv` is the file with the data, which would be overwritten; choose another \
         name"
    );
    assert_eq!(sandbox.read("wine.csv"), before);

    // A row unlike all others is unusual, and is identified by its id.
    sandbox.write("new.csv", "bottle,width,height\nfar,9000,50\nnear,3,0.9\n");
    let table = cells(&sandbox.ok(&["predict", "run", "new.csv", "--id", "bottle"]));
    assert_eq!(
        (table[1][1].as_str(), table[2][1].as_str()),
        ("far", "near")
    );
    assert_eq!(number(&table[1][7]), 0.0, "{table:?}");
    assert!(number(&table[2][7]) > 0.0, "{table:?}");
    let table = cells(&sandbox.ok(&["predict", "run", "new.csv", "--no-density"]));
    assert_eq!(table[0].last().expect("columns"), "set");
    let error = sandbox.error(&["predict", "run", "new.csv", "--id", "cork"]);
    assert_eq!(
        error,
        "new.csv, header: there is no id column `cork`; the columns are: bottle, width, height"
    );
    assert_eq!(
        sandbox
            .run(&["predict", "run", "new.csv", "--coverage", "1"])
            .code,
        2
    );
}

#[test]
fn continuous_labels_have_intervals() {
    let sandbox = Sandbox::new();
    sandbox.write("house.csv", straight_line(120));
    let summary = sandbox.fit(&[
        "house.csv",
        "--label",
        "price",
        "--task",
        "regress",
        "--folds",
        "2",
        "--out",
        "run",
    ]);
    assert!(summary.contains("held out    mean error"), "{summary}");
    assert!(summary.contains("labels-only"), "{summary}");
    let table = cells(&sandbox.ok(&["predict", "run", "house.csv"]));
    assert_eq!(
        table[0],
        [
            "row",
            "price",
            "price_low",
            "price_high",
            "log_p",
            "percentile"
        ]
    );
    for line in &table[1..] {
        let [value, low, high] = [1, 2, 3].map(|column| number(&line[column]));
        assert!(low < value && value < high, "{line:?}");
        assert!(((high - value) - (value - low)).abs() < 1e-2 * (high - low));
    }
    // The prediction is the weighted mean of network and members.
    let explained = cells(&sandbox.ok(&["predict", "run", "house.csv", "--explain"]));
    let voters = [
        "vote_cpc",
        "vote_extra-trees",
        "vote_random-forest",
        "vote_ridge",
        "vote_kernel-ridge",
        "vote_neighbours",
    ];
    assert_eq!(explained[0][6..], voters);
    let report = std::fs::read_to_string(sandbox.path("run/report.json")).expect("there");
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    let shares = report["ensemble"].as_array().expect("voters");
    let share = |place: usize| shares[place]["weight"].as_f64().expect("a number") as f32;
    for line in &explained[1..] {
        let said = (0..voters.len()).map(|place| share(place) * number(&line[6 + place]));
        let (value, mean) = (number(&line[1]), said.sum::<f32>());
        assert!(
            (value - mean).abs() < 1e-3 * value.abs().max(1.0),
            "{line:?}"
        );
    }
    let page = std::fs::read_to_string(sandbox.path("run/report.html")).expect("there");
    assert!(page.contains("answer without that label") && page.contains("price: "));
}

#[test]
fn missing_cells_are_filled_and_others_stay() {
    let (sandbox, _) = clouds(&["--no-crossfit"]);
    let gaps = "kind,height,id,width\nwhite,0.90,a,104\n,,b,104.0\n,NA,c,\nred wine, 0.8 ,d,nan\n";
    sandbox.write("gaps.csv", gaps);
    let filled = cells(&sandbox.ok(&["impute", "run", "gaps.csv"]));
    assert_eq!(filled[0], ["kind", "height", "id", "width"]);
    assert_eq!(
        filled[1],
        ["white", "0.90", "a", "104"],
        "as it was, to the letter"
    );
    assert_eq!(
        (filled[2][0].as_str(), filled[2][3].as_str()),
        ("", "104.0")
    );
    assert_eq!(filled[4][1], "0.8");
    for cell in [&filled[2][1], &filled[3][1], &filled[3][3], &filled[4][3]] {
        assert!(number(cell).is_finite());
    }
    let draws = ["impute", "run", "gaps.csv", "--samples", "2"];
    let drawn = cells(&sandbox.ok(&draws));
    assert_eq!((drawn.len(), drawn[0][0].as_str()), (9, "draw"));
    assert_eq!((drawn[1][0].as_str(), drawn[5][0].as_str()), ("0", "1"));
    assert_eq!(drawn[1][1..], drawn[5][1..], "nothing was missing in it");
    assert_ne!(drawn[3][2], drawn[7][2], "two draws of a missing cell");
    assert_eq!(drawn, cells(&sandbox.ok(&draws)), "the seed decides");

    sandbox.write("bad.csv", "height,width\n0.9,tall\n");
    let error = sandbox.error(&["impute", "run", "bad.csv"]);
    let problem = "bad.csv, row 1, column `width`: `tall` is not a number";
    assert!(error.starts_with(problem), "{error}");
    sandbox.write("bad.csv", "height\n0.9\n");
    let error = sandbox.error(&["impute", "run", "bad.csv"]);
    assert!(error.contains("no feature column `width`"), "{error}");
    let error = sandbox.error(&["impute", "run", "half-moon"]);
    assert_eq!(
        error,
        "`half-moon` has no missing cells; name a table of your own"
    );
}

#[test]
fn unlabelled_rows_are_suggested() {
    let (sandbox, _) = clouds(&["--no-crossfit"]);
    let table = cells(&sandbox.ok(&["suggest", "run", "wine.csv", "-n", "7"]));
    assert_eq!(table[0], ["row", "id", "label", "entropy", "percentile"]);
    assert_eq!(table.len(), 8);
    let mut rows: Vec<usize> = table[1..]
        .iter()
        .map(|line| number(&line[0]) as usize)
        .collect();
    // The first 24 rows have labels.
    assert!(rows.iter().all(|row| *row >= 24), "{rows:?}");
    rows.sort_unstable();
    rows.dedup();
    assert_eq!(rows.len(), 7, "each once");
    sandbox.write("known.csv", "width,height,kind\n104,0.9,white\n");
    let error = sandbox.error(&["suggest", "run", "known.csv"]);
    assert_eq!(error, "all 1 rows of `known` have labels already");
}

#[test]
fn too_few_labels_are_no_error() {
    let sandbox = Sandbox::new();
    sandbox.write("wine.csv", two_clouds(40, 1));
    let answer = sandbox.run(
        &[
            &[
                "fit", "wine.csv", "--label", "kind", "--ignore", "id", "--out", "run",
            ],
            &SMALL[..],
        ]
        .concat(),
    );
    assert_eq!(answer.code, 0, "{answer:?}");
    assert!(answer.err.contains("no labels are held out"), "{answer:?}");
    let answer = sandbox.run(&["predict", "run", "wine.csv"]);
    assert!(
        answer.err.contains("probabilities are not calibrated"),
        "{answer:?}"
    );
    assert!(!answer.out.contains(",set,"), "{answer:?}");
    sandbox.write("run/model/answers.json", "{");
    let error = sandbox.error(&["predict", "run", "wine.csv"]);
    assert!(
        error.contains("answers.json") && error.contains("remove it"),
        "{error}"
    );
}
