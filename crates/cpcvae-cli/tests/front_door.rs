//! The command line and the library train the same model from the same table; and the report page.

mod sandbox;

use cpcvae::prelude::*;
use sandbox::Sandbox;

/// Two groups of points with an id, in which a few rows have a label.
fn table() -> String {
    let rows = (0..80).map(|i| {
        let class = if i < 16 { ["left", "right"][i % 2] } else { "" };
        let x = i as f32 % 7.0 + 20.0 * (i % 2) as f32;
        format!("row{i},{x},{},{class}\n", i % 5)
    });
    format!("id,x,y,class\n{}", rows.collect::<String>())
}

#[test]
fn the_library_and_the_command_line_make_the_same_bytes() {
    let sandbox = Sandbox::new();
    sandbox.write("table.csv", table());
    let path = sandbox.path("table.csv");
    let text = path.display().to_string();
    let fit = ["fit", &text, "--label", "class", "--out", "cli", "--quiet"];
    sandbox.ok(&[
        &fit[..],
        &["--max-steps", "40", "--folds", "2", "--no-compare"],
    ]
    .concat());

    let data = Dataset::read(&path, Label::column("class")).expect("a table");
    let fitted = Cpc::new().steps(40).folds(2).fit(&data).expect("fits");
    fitted.save(sandbox.path("library")).expect("saves");
    for file in [
        "config.toml",
        "split.json",
        "metrics.jsonl",
        "model/model.safetensors",
        "model/codes.safetensors",
        "model/card.json",
        "model/answers.json",
    ] {
        let read = |folder: &str| sandbox.read(&format!("{folder}/{file}"));
        assert!(read("cli") == read("library"), "{file} differs");
    }
}

#[test]
fn a_run_has_a_page_that_needs_nothing_from_elsewhere() {
    let sandbox = Sandbox::new();
    // A class whose name contains HTML.
    sandbox.write("table.csv", table().replace("left", "<b>&left"));
    let fit = [
        "fit",
        "table.csv",
        "--label",
        "class",
        "--out",
        "run",
        "--max-steps",
        "40",
    ];
    let output = sandbox.run(&[&fit[..], &["--folds", "2"]].concat());
    assert_eq!(output.code, 0, "{output:?}");
    assert!(
        output.err.contains("column `id`"),
        "ids are reported: {}",
        output.err
    );
    let page = String::from_utf8(sandbox.read("run/report.html")).expect("UTF-8");
    let parts = [
        "Verdict",
        "Accuracy",
        "Calibration",
        "Confusion",
        "Map of codes",
        "Training",
        "Class profiles",
        "Rows to label next",
        "Columns",
        "Settings",
        "labels-only",
    ];
    for part in parts {
        assert!(page.contains(part), "no {part}");
    }
    assert!(page.contains("&lt;b&gt;&amp;left") && !page.contains("<b>&left"));
    for from_elsewhere in ["http://", "https://", "<script", "<link", "url("] {
        assert!(!page.contains(from_elsewhere), "{from_elsewhere}");
    }
    // Rows to label are named by their id.
    assert!(page.contains("<td>row"));
    let answers = sandbox.ok(&["predict", "run", "table.csv"]);
    assert!(
        answers
            .lines()
            .nth(1)
            .expect("a row")
            .starts_with("0,row0,"),
        "{answers}"
    );
}

#[test]
fn without_a_label_likely_columns_are_named() {
    let sandbox = Sandbox::new();
    sandbox.write("table.csv", table());
    let error = sandbox.error(&["fit", "table.csv"]);
    assert!(
        error.contains("columns that look like labels: `class` (2 values, 80% of the rows blank)"),
        "{error}"
    );
}

#[test]
fn settings_of_before_are_read_with_a_note() {
    let sandbox = Sandbox::new();
    sandbox.write("table.csv", table());
    let fit = [
        "fit",
        "table.csv",
        "--label",
        "class",
        "--out",
        "run",
        "--max-steps",
        "20",
    ];
    let old = ["--no-crossfit", "--set", "method.neighbour_weight=3"];
    let output = sandbox.run(&[&fit[..], &old].concat());
    assert_eq!(output.code, 0, "{output:?}");
    let note = "`method.neighbour_weight` is an old name; it is read as `pseudo_labels.weight`";
    assert!(output.err.contains(note), "{}", output.err);
    let config = String::from_utf8(sandbox.read("run/config.toml")).expect("UTF-8");
    assert!(config.contains("weight = 3.0"), "{config}");
}
