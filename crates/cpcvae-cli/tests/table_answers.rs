//! Answers about tables, as a user asks for them, on small models.

mod sandbox;

use sandbox::{Sandbox, cells, small_run, straight_line, two_clouds};

#[test]
fn a_table_with_text_labels_and_blanks() {
    let sandbox = Sandbox::new();
    sandbox.write("wine.csv", two_clouds(120, 30));
    let summary = sandbox.fit(&[
        "wine.csv", "--label", "kind", "--ignore", "id", "--test", "0.2",
    ]);
    assert!(
        summary.contains("48 labelled and 60 unlabelled rows"),
        "{summary}"
    );
    assert!(summary.contains("run folder  runs/wine-cpc"), "{summary}");

    // New rows: columns in another order, additional ones, no label.
    sandbox.write("new.csv", "height,note,width\n0.9,hello,104\n0.8,world,3\n");
    let predicted = cells(&sandbox.ok(&["predict", "runs/wine-cpc", "new.csv"]));
    assert_eq!(
        predicted[0][..5],
        ["row", "label", "p_red wine", "p_white", "set"]
    );
    assert_eq!(predicted.len(), 3);

    // One class only, so that class numbers differ from the model's.
    sandbox.write(
        "white.csv",
        "width,height,kind\n104,0.9,white\n103,0.8,white\n",
    );
    let text = sandbox.ok(&["evaluate", "runs/wine-cpc", "white.csv", "--json"]);
    let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(value["confusion"][0], serde_json::json!([0, 0]));
    assert_eq!(value["classes"], serde_json::json!(["red wine", "white"]));

    let made = cells(&sandbox.ok(&["sample", "runs/wine-cpc", "--count", "3"]));
    assert_eq!(made[0], ["width", "height"]);
    sandbox.write("rose.csv", "width,height,kind\n104,0.9,rose\n");
    let error = sandbox.error(&["evaluate", "runs/wine-cpc", "rose.csv"]);
    assert!(
        error.contains("class `rose` is not among the expected classes (red wine, white)"),
        "{error}"
    );
}

#[test]
fn a_table_whose_rows_all_have_labels() {
    let sandbox = Sandbox::new();
    sandbox.write("wine.csv", two_clouds(40, 20));
    let fit = ["wine.csv", "--label", "kind", "--ignore", "id"];
    let summary = sandbox.fit(&[&fit[..], &["--no-crossfit"]].concat());
    assert!(
        summary.contains("40 labelled and 0 unlabelled rows"),
        "{summary}"
    );
}

#[test]
fn a_table_with_a_continuous_label() {
    let sandbox = Sandbox::new();
    sandbox.write("house.csv", straight_line(300));
    let summary = sandbox.ok(&[
        "fit",
        "house.csv",
        "--label",
        "price",
        "--task",
        "regress",
        "--max-steps",
        "400",
        "--set",
        "model.hidden=[16]",
        "--method",
        "pc",
        "--test",
        "0.2",
        "--quiet",
        "--out",
        "run",
    ]);
    assert!(
        summary.contains("RMSE") && summary.contains("R2"),
        "{summary}"
    );
    let predicted = cells(&sandbox.ok(&["predict", "run", "house.csv", "--samples", "2"]));
    assert_eq!(predicted[0][..2], ["row", "price"]);
    // In the table's units, not in standard deviations.
    let price: f32 = predicted[1][1].parse().expect("a number");
    assert!((500.0..1500.0).contains(&price), "{price}");
    let text = sandbox.ok(&["evaluate", "run", "house.csv"]);
    assert!(
        text.contains("300 (150 with a label)") && text.contains("RMSE"),
        "{text}"
    );
    let error = sandbox.error(&["sample", "run", "--each-class"]);
    assert_eq!(
        error,
        "this model predicts no classes; leave out --class and --each-class"
    );
}

#[test]
fn an_exported_table_can_be_learnt_from() {
    let sandbox = Sandbox::new();
    let export = ["data", "export", "half-moon"];
    sandbox.ok(&[&export[..], &["--labels", "60", "--out", "moons.csv"]].concat());
    sandbox.ok(&[&export[..], &["--test", "--out", "new.csv"]].concat());
    let table = cells(&String::from_utf8(sandbox.read("moons.csv")).expect("text"));
    assert_eq!(table[0].last().expect("columns"), "class");
    let labelled = table[1..].iter().filter(|row| !row[2].is_empty()).count();
    assert_eq!((table.len(), labelled), (1001, 60));
    sandbox.fit(&["moons.csv", "--label", "class", "--out", "run"]);
    let text = sandbox.ok(&["evaluate", "run", "new.csv"]);
    assert!(text.contains("1,000 with a label"), "{text}");

    let glyphs = sandbox.ok(&["data", "export", "glyphs", "--labels", "20"]);
    let shown = glyphs.lines().skip(1).filter(|line| !line.ends_with(','));
    assert_eq!(shown.count(), 20);
}

#[test]
fn no_rows_give_a_header() {
    let sandbox = small_run();
    sandbox.write("none.csv", "a,b\n");
    let answers = sandbox.ok(&["predict", "run", "none.csv"]);
    assert!(answers.starts_with("row,label,p_high,p_low"), "{answers}");
    assert_eq!(answers.lines().count(), 1, "{answers}");
}

#[test]
fn every_command_that_writes_a_table_writes_parquet() {
    let sandbox = small_run();
    let commands: [&[&str]; 7] = [
        &["predict", "run", "t.csv"],
        &["encode", "run", "t.csv"],
        &["score", "run", "t.csv"],
        &["suggest", "run", "t.csv"],
        &["reconstruct", "run", "t.csv"],
        &["sample", "run", "--count", "5"],
        &["data", "export", "half-moon"],
    ];
    for command in commands {
        sandbox.ok(&[command, &["--out", "out.parquet"]].concat());
        let bytes = sandbox.read("out.parquet");
        assert!(
            bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"),
            "{command:?}"
        );
    }
    // Written files can be read.
    sandbox.ok(&["sample", "run", "--count", "5", "--out", "new.parquet"]);
    let answers = sandbox.ok(&["predict", "run", "new.parquet"]);
    assert_eq!(answers.lines().count(), 6, "{answers}");
}

#[test]
fn each_class_is_evaluated() {
    let sandbox = small_run();
    let text = sandbox.ok(&["evaluate", "run", "t.csv"]);
    assert!(text.contains("precision  recall"), "{text}");
    let json = sandbox.ok(&["evaluate", "run", "t.csv", "--json"]);
    assert!(json.contains("\"per_class\":[{"), "{json}");
}
