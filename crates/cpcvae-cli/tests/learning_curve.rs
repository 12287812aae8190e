//! `cpcvae learning-curve`: accuracy against the number of labels.

mod sandbox;

use sandbox::{SMALL, Sandbox, two_clouds};

fn curve<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let start = [
        "learning-curve",
        "wine.csv",
        "--label",
        "kind",
        "--ignore",
        "id",
    ];
    [&start[..], &SMALL, &["--quiet", "--folds", "2"], more].concat()
}

#[test]
fn a_learning_curve_is_measured_drawn_and_put_in_words() {
    let sandbox = Sandbox::new();
    sandbox.write("wine.csv", two_clouds(80, 20));
    let text = sandbox.ok(&curve(&["--counts", "16,4", "--figure", "curve.svg"]));
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].contains("held-out accuracy"), "{text}");
    assert!(lines[2].trim_start().starts_with("4 "), "{text}");
    assert!(lines[3].trim_start().starts_with("16 "), "{text}");
    assert!(
        text.contains("accuracy on 40 held-out rows went from"),
        "{text}"
    );
    assert!(sandbox.read("curve.svg").starts_with(b"<svg"));
    let error = sandbox.error(&curve(&["--counts", "30"]));
    assert!(
        error.contains("20 are left when a fold is held out"),
        "{error}"
    );
    let again = sandbox.ok(&curve(&["--counts", "4,16", "--figure", "curve.svg"]));
    assert_eq!(text, again, "finished folds are taken as they are");
}

#[test]
fn a_learning_curve_is_of_the_model_that_fit_would_train() {
    let sandbox = Sandbox::new();
    let mut table = String::from("a,b,c,d,e,f,g,h,kind\n");
    for row in 0..60 {
        let value = |column: usize| ((row * (column + 3) * 7) % 11 + 5 * (row % 2)).to_string();
        let values: Vec<String> = (0..8).map(value).collect();
        let kind = ["one", "other"][row % 2];
        table += &format!("{},{kind}\n", values.join(","));
    }
    sandbox.write("wine.csv", table);
    let start = ["learning-curve", "wine.csv", "--label", "kind", "--quiet"];
    let more = ["--folds", "2", "--counts", "6,12", "--out", "curve"];
    sandbox.ok(&[&start[..], &more, &SMALL].concat());
    let configs = sandbox.files("curve").into_iter();
    let configs: Vec<String> = configs
        .filter(|(path, _)| path.ends_with("config.toml"))
        .map(|(_, content)| String::from_utf8(content).expect("text"))
        .collect();
    assert_eq!(configs.len(), 4);
    // Half of the columns; a table of two has a code of two.
    assert!(configs.iter().all(|config| config.contains("code = 4\n")));
}
