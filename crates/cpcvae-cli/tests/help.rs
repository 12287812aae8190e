//! The output of `--help`.

mod sandbox;

use sandbox::Sandbox;

/// Compares with `tests/snapshots/NAME.txt`; with CPCVAE_UPDATE set, writes it instead.
fn check(name: &str, arguments: &[&str]) {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots");
    let path = folder.join(format!("{name}.txt"));
    let text = Sandbox::new().ok(arguments);
    if std::env::var_os("CPCVAE_UPDATE").is_some() {
        std::fs::create_dir_all(&folder).expect("writable");
        std::fs::write(&path, &text).expect("writable");
    }
    let expected = std::fs::read_to_string(&path)
        .unwrap_or_default()
        .replace("\r\n", "\n");
    assert_eq!(
        text, expected,
        "if this is meant, run the test with CPCVAE_UPDATE=1"
    );
}

#[test]
fn the_commands_are_listed_with_examples() {
    check("cpcvae", &["--help"]);
}

#[test]
fn commands_explain_themselves() {
    check("predict", &["predict", "--help"]);
    check("fit", &["fit", "-h"]);
}

#[test]
fn every_command_has_examples() {
    let sandbox = Sandbox::new();
    let commands = [
        "fit",
        "evaluate",
        "predict",
        "impute",
        "suggest",
        "learning-curve",
        "encode",
        "score",
        "reconstruct",
        "sample",
        "quality",
        "export",
        "demo",
        "tune",
        "experiment",
        "data",
        "devices",
        "completions",
    ];
    for command in commands {
        let text = sandbox.ok(&[command, "--help"]);
        assert!(text.contains("Example"), "{text}");
    }
    // Every documented flag is there.
    let text = sandbox.ok(&["fit", "--help"]);
    for flag in [
        "--label ",
        "--labels",
        "--method",
        "--epochs",
        "--max-steps",
        "--seed",
        "--out",
        "--config",
        "--set",
        "--resume",
        "--target-loss",
        "--target-accuracy",
        "--solver",
        "--task",
        "--unlabeled-value",
        "--ignore",
        "--validation",
        "--test",
        "--code",
        "--data-dir",
        "--device",
        "--threads",
        "--quiet",
        "--json",
        "--preset",
        "--folds",
        "--repeats",
        "--no-crossfit",
        "--no-compare",
    ] {
        assert!(text.contains(flag), "{flag} in {text}");
    }
}

#[test]
fn versions_completions_and_data_sets() {
    let sandbox = Sandbox::new();
    assert_eq!(
        sandbox.ok(&["--version"]),
        format!("cpcvae {}\n", env!("CARGO_PKG_VERSION"))
    );
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(sandbox.ok(&["completions", shell]).contains("reconstruct"));
    }
    check("data-list", &["data", "list"]);
    assert_eq!(
        sandbox.error(&["data", "fetch", "glyphs"]),
        "`glyphs` is generated on demand; there is nothing to fetch"
    );
}
