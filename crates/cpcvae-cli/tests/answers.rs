//! Every command, used like a user would, on small models.

mod sandbox;

use sandbox::{Sandbox, cells};

fn png_size(bytes: &[u8]) -> (u32, u32) {
    assert_eq!(bytes[1..4], *b"PNG");
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    (number(16), number(20))
}

#[test]
fn half_moon_from_fit_to_every_answer() {
    let sandbox = Sandbox::new();
    let summary = sandbox.fit(&["half-moon", "--out", "run"]);
    assert!(
        summary.contains("6 labelled and 994 unlabelled rows"),
        "{summary}"
    );
    assert!(summary.contains("test        accuracy"), "{summary}");

    let text = sandbox.ok(&["evaluate", "run", "half-moon", "--figure", "confusion.png"]);
    assert!(
        text.contains("rows      1,000 (1,000 with a label)"),
        "{text}"
    );
    assert!(text.contains("confusion matrix"), "{text}");
    assert!(png_size(&sandbox.read("confusion.png")).0 > 100);

    let predicted = cells(&sandbox.ok(&["predict", "run", "half-moon"]));
    assert_eq!(predicted.len(), 1001);
    assert_eq!(
        predicted[0],
        ["row", "label", "p_0", "p_1", "log_p", "percentile"]
    );
    let total: f32 = predicted[7][2..4]
        .iter()
        .map(|cell| cell.parse::<f32>().expect("a number"))
        .sum();
    assert!((total - 1.0).abs() < 1e-5);

    let codes = cells(&sandbox.ok(&["encode", "run", "half-moon"]));
    assert_eq!(codes[0], ["row", "mean_0", "mean_1", "sigma_0", "sigma_1"]);
    assert_eq!(codes.len(), 1001);

    let answer = sandbox.run(&["score", "run", "half-moon", "--samples", "3"]);
    assert_eq!(cells(&answer.out)[0], ["row", "elbo", "log_likelihood"]);
    assert!(answer.err.contains("mean of 1,000 rows"), "{}", answer.err);

    let made = cells(&sandbox.ok(&["reconstruct", "run", "half-moon", "--rows", "5"]));
    assert_eq!(made.len(), 6);
    sandbox.ok(&["sample", "run", "--out", "samples.png"]);
    let answer = sandbox.run(&[
        "sample",
        "run",
        "--each-class",
        "--threshold",
        "0.3",
        "--count",
        "4",
    ]);
    assert_eq!(cells(&answer.out).len(), 9, "{answer:?}");
    assert!(answer.err.contains("drawn codes kept"), "{}", answer.err);
}

#[test]
fn glyphs_from_fit_to_figures() {
    let sandbox = Sandbox::new();
    sandbox.fit(&[
        "glyphs",
        "--set",
        "data.rows=200",
        "--labels",
        "20",
        "--code",
        "8",
        "--validation",
        "20",
        "--out",
        "run",
    ]);
    let text = sandbox.ok(&["evaluate", "run", "glyphs"]);
    assert!(
        text.contains("rows      1,000") && text.contains("zigzag"),
        "{text}"
    );
    for kind in ["mean", "sampled", "aligned", "transformed"] {
        sandbox.ok(&[
            "reconstruct",
            "run",
            "glyphs",
            "--kind",
            kind,
            "--out",
            "made.png",
        ]);
        // Two lines of ten, each an original and its reconstruction.
        let (width, height) = png_size(&sandbox.read("made.png"));
        assert!(width > 10 * 28 && height > 4 * 28, "{width} x {height}");
    }
    sandbox.ok(&[
        "sample",
        "run",
        "--count",
        "7",
        "--noisy",
        "--out",
        "samples.svg",
    ]);
    assert!(sandbox.read("samples.svg").starts_with(b"<svg"));
    sandbox.ok(&[
        "sample",
        "run",
        "--class",
        "ring",
        "--threshold",
        "0.01",
        "--out",
        "rings.png",
    ]);
    let drawn = cells(&sandbox.ok(&["sample", "run", "--count", "1"]));
    assert_eq!((drawn.len(), drawn[1].len()), (2, 784));

    // Fitted codes differ from the prior, unless their file does not exist.
    let of = |source| sandbox.ok(&["sample", "run", "--count", "3", "--codes", source]);
    assert_ne!(of("fitted"), of("prior"));
    std::fs::remove_file(sandbox.path("run/model/codes.safetensors")).expect("it was there");
    assert_eq!(of("fitted"), of("prior"));

    // A reader that closes the pipe early, as in `| head`, is not an error.
    let mut child = sandbox.spawn(&["sample", "run", "--count", "500"]);
    drop(child.stdout.take());
    let answer = sandbox.answer(child.wait_with_output().expect("it ends"));
    assert_eq!((answer.code, answer.err.as_str()), (0, ""));
}

#[test]
fn every_method_trains_and_answers() {
    let sandbox = Sandbox::new();
    for method in cpcvae::method::NAMES {
        sandbox.fit(&["half-moon", "--method", method, "--out", method]);
        let text = sandbox.ok(&["evaluate", method, "half-moon"]);
        assert_eq!(text.contains("accuracy"), method != "vae", "{text}");
        let generative = !["labels-only", "vat"].contains(&method);
        assert_eq!(text.contains("ELBO"), generative, "{text}");
    }
    let error = sandbox.error(&["predict", "vae", "half-moon"]);
    assert!(error.contains("does not predict labels"), "{error}");
    let error = sandbox.error(&["sample", "labels-only"]);
    assert!(error.contains("no generative part"), "{error}");
    for method in ["m2", "m1-m2", "adgm", "sdgm", "blended-m2"] {
        sandbox.ok(&["sample", method, "--each-class", "--out", "samples.csv"]);
        sandbox.ok(&["sample", method, "--out", "samples.csv"]);
        sandbox.ok(&["reconstruct", method, "half-moon", "--out", "again.csv"]);
        sandbox.ok(&["encode", method, "half-moon", "--out", "codes.csv"]);
        sandbox.ok(&[
            "score",
            method,
            "half-moon",
            "--samples",
            "2",
            "--out",
            "scores.csv",
        ]);
    }
    for method in ["m1-m2", "sdgm"] {
        let answer = sandbox.run(&["predict", method, "half-moon", "--samples", "3"]);
        assert!(
            !answer.err.contains("--samples has no effect"),
            "{answer:?}"
        );
    }
    sandbox.ok(&["methods"]);
}

#[test]
fn json_is_one_object_and_the_rest_goes_elsewhere() {
    let sandbox = Sandbox::new();
    let parse = |text: &str| -> serde_json::Value {
        assert_eq!(text.lines().count(), 1, "{text}");
        serde_json::from_str(text).expect("JSON")
    };
    let answer = sandbox.run(&[
        "fit",
        "half-moon",
        "--out",
        "run",
        "--json",
        "--max-steps",
        "20",
        "--target-loss",
        "0.5",
        "--set",
        "model.hidden=[8]",
    ]);
    let fit = parse(&answer.out);
    assert!(answer.err.contains("step 20/20"), "{}", answer.err);
    assert_eq!(fit["run"], "run");
    assert_eq!(fit["fit"]["steps"], 20);
    assert!(fit["fit"]["constraint"]["satisfied"].is_boolean());

    let evaluated = parse(&sandbox.ok(&["evaluate", "run", "half-moon", "--json"]));
    assert_eq!(evaluated["accuracy"], fit["test"]["accuracy"]);
    assert_eq!(evaluated["log_loss"], fit["test"]["log_loss"]);
    let scored = parse(&sandbox.ok(&["score", "run", "half-moon", "--json", "--samples", "1"]));
    assert_eq!(scored["rows"], 1000);
    // One draw each: the bound and the score are the same figure, in the same units.
    let difference =
        scored["elbo"].as_f64().expect("a number") - evaluated["elbo"].as_f64().expect("a number");
    assert!(difference.abs() < 0.2, "{scored} {evaluated}");
}

#[test]
fn a_saved_model_predicts_the_same_in_every_process() {
    let sandbox = Sandbox::new();
    sandbox.fit(&["half-moon", "--out", "run"]);
    let predict = ["predict", "run", "half-moon", "--samples", "3"];
    let first = sandbox.ok(&predict);
    assert_eq!(first, sandbox.ok(&predict));
    sandbox.ok(&[&predict[..], &["--out", "p.csv", "--threads", "1"]].concat());
    assert_eq!(first.as_bytes(), sandbox.read("p.csv"));
    let other = sandbox.ok(&[&predict[..], &["--seed", "1"]].concat());
    assert_ne!(first, other, "another seed draws other codes");
}

#[test]
fn settings_are_laid_over_each_other_in_order() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "some.toml",
        "seed = 3\n[method]\nname = \"pc\"\n[train]\nsteps = 7\nlearning_rate = 0.01\nlog_every = 1\n",
    );
    sandbox.ok(&[
        "fit",
        "half-moon",
        "-c",
        "some.toml",
        "--set",
        "train.learning_rate=0.02",
        "--set",
        "train.log_every=2",
        "--set",
        "model.hidden=[8]",
        "--seed",
        "4",
        "--quiet",
        "--out",
        "run",
    ]);
    let config = String::from_utf8(sandbox.read("run/config.toml")).expect("text");
    for line in [
        "seed = 4",
        "name = \"pc\"",
        "steps = 7",
        "learning_rate = 0.02",
        "log_every = 2",
    ] {
        assert!(config.contains(line), "{line} in {config}");
    }
    // The same protocol by one flag.
    sandbox.fit(&["half-moon", "--preset", "paper", "--out", "paper"]);
    let config = String::from_utf8(sandbox.read("paper/config.toml")).expect("text");
    assert!(
        config.contains("half_moon_labels = \"evenly-spaced\""),
        "{config}"
    );
}
