//! `cpcvae quality`, used like a user would, on small models.

mod sandbox;

use sandbox::{Sandbox, two_clouds};

const QUICK: [&str; 8] = [
    "--draws",
    "2",
    "--rows",
    "50",
    "--samples",
    "5",
    "--threshold",
    "0.4",
];

fn quality(sandbox: &Sandbox, arguments: &[&str]) -> sandbox::Answer {
    sandbox.run(&[&["quality"], arguments, &QUICK[..]].concat())
}

#[test]
fn half_moon_as_text_and_json() {
    let sandbox = Sandbox::new();
    sandbox.fit(&["half-moon", "--out", "run"]);
    let text = quality(&sandbox, &["run", "half-moon"]);
    assert_eq!(text.code, 0, "{text:?}");
    for part in [
        "cpc on half-moon: 50 test rows that it was not trained on",
        "of the plain VAE",
        "likelihood normal, scale floor 0.01, 2 draws a row",
        "mean squared error",
        "learnt from 1,000 labels",
        "prior: kept",
        "fitted: taken",
        "Fréchet distance",
    ] {
        assert!(text.out.contains(part), "{part} in {}", text.out);
    }
    assert!(text.err.contains("classifier: step"), "{}", text.err);
    // The second time nothing is trained.
    let json = quality(&sandbox, &["run", "half-moon", "--json"]);
    assert!(!json.err.contains("step"), "{}", json.err);
    let value: serde_json::Value = serde_json::from_str(&json.out).expect("one JSON object");
    assert_eq!(value["method"], "cpc");
    assert_eq!(value["measured"], "test");
    assert_eq!(value["samples"][0]["way"], "prior");
    assert_eq!(value["samples"][1]["classes"][1]["class"], "1");
    assert!(value["log_likelihood"].is_f64() && value["beside"].is_f64());
    assert!(
        sandbox
            .path("run/quality/vae/model/model.safetensors")
            .exists()
    );
    assert!(
        !sandbox.path("run/quality/page.png").exists(),
        "a table has no page"
    );

    // Another run in place of a plain VAE.
    sandbox.fit(&["half-moon", "--out", "other", "--method", "pc"]);
    let text = quality(&sandbox, &["run", "half-moon", "--beside", "other"]);
    assert!(text.out.contains("nats a row; of other"), "{text:?}");
}

#[test]
fn images_have_a_page() {
    let sandbox = Sandbox::new();
    let rows = ["--set", "data.rows=200"];
    sandbox.fit(&[&["glyphs", "--out", "run"], &rows[..]].concat());
    let answer = quality(&sandbox, &["run", "glyphs", "--page", "page.png"]);
    assert_eq!(answer.code, 0, "{answer:?}");
    assert!(answer.out.contains("of the originals'"), "{}", answer.out);
    assert_eq!(sandbox.read("page.png")[1..4], *b"PNG");
}

#[test]
fn a_users_table_with_test_rows() {
    let sandbox = Sandbox::new();
    sandbox.write("points.csv", two_clouds(80, 20));
    let file = [
        "points.csv",
        "--label",
        "kind",
        "--id",
        "id",
        "--no-crossfit",
    ];
    sandbox.fit(&[&file[..], &["--test", "0.3", "--out", "run"]].concat());
    let answer = quality(&sandbox, &["run", "points.csv"]);
    assert_eq!(answer.code, 0, "{answer:?}");
    // 12 of the 40 labelled rows are test rows.
    assert!(answer.out.contains("12 test rows"), "{}", answer.out);
    assert!(
        answer.out.contains("learnt from 28 labels"),
        "{}",
        answer.out
    );
    assert!(answer.out.contains("red wine"), "{}", answer.out);
}

#[test]
fn the_papers_half_moon_is_measured_on_new_rows() {
    let sandbox = Sandbox::new();
    let setting = ["--set", "data.half_moon_labels=evenly-spaced"];
    sandbox.fit(
        &[
            &["half-moon", "--out", "run", "--method", "vae"],
            &setting[..],
        ]
        .concat(),
    );
    let answer = quality(&sandbox, &["run", "half-moon"]);
    assert!(answer.err.contains("new ones are measured"), "{answer:?}");
    assert!(!answer.out.contains("plain VAE"), "{}", answer.out);
}

#[test]
fn bad_use_is_explained() {
    let sandbox = Sandbox::new();
    sandbox.fit(&["half-moon", "--out", "run"]);
    sandbox.fit(&["half-moon", "--out", "labels", "--method", "labels-only"]);
    let error = |arguments: &[&str]| sandbox.error(&[&["quality"], arguments].concat());
    let problem = error(&["labels", "half-moon"]);
    assert!(
        problem.contains("`labels-only` has no generative part"),
        "{problem}"
    );
    let problem = error(&["run", "glyphs"]);
    assert!(
        problem.contains("trained on `half-moon`, not on `glyphs`"),
        "{problem}"
    );
    let problem = error(&["run", "half-moon", "--page", "page.png"]);
    assert!(problem.contains("--page draws images"), "{problem}");
    let problem = error(&["run", "half-moon", "--threshold", "2"]);
    assert!(problem.contains("the threshold is 2;"), "{problem}");
    let problem = error(&["run", "half-moon", "--beside", "labels"]);
    assert!(problem.contains("no generative part"), "{problem}");
    sandbox.fit(&[
        "half-moon",
        "--out",
        "floor",
        "--set",
        "model.scale_floor=0.2",
    ]);
    let problem = error(&["run", "half-moon", "--beside", "floor"]);
    assert!(problem.contains("cannot be compared"), "{problem}");

    // A file of which all rows were used for training.
    sandbox.write("points.csv", two_clouds(80, 20));
    let file = [
        "points.csv",
        "--label",
        "kind",
        "--id",
        "id",
        "--no-crossfit",
        "--out",
    ];
    sandbox.fit(&[&file[..], &["all"]].concat());
    let problem = error(&["all", "points.csv"]);
    assert!(
        problem.contains("train it again with `--test 0.2`"),
        "{problem}"
    );
    let problem = error(&["run", "points.csv"]);
    assert!(problem.contains("trained on `half-moon`"), "{problem}");
}
