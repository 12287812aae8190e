//! `cpcvae export` and `fit --tensorboard`: files and output.

mod sandbox;

use sandbox::{SMALL, Sandbox};

#[test]
fn a_model_becomes_a_file_and_what_is_in_it_is_told() {
    let sandbox = Sandbox::new();
    let fit = [
        "fit",
        "half-moon",
        "--out",
        "run",
        "--quiet",
        "--tensorboard",
        "board",
    ];
    sandbox.ok(&[&fit[..], &SMALL].concat());
    let text = sandbox.ok(&["export", "run", "moon.onnx"]);
    for words in [
        "input   x             float [rows, 2]",
        "output  code          float [rows, 2]",
        "output  probabilities float [rows, 2]",
        "output  label         int64 [rows]",
        "answers the network's probabilities",
    ] {
        assert!(text.contains(words), "{text}");
    }
    let file = sandbox.read("moon.onnx");
    let holds = |name: &[u8]| file.windows(name.len()).any(|bytes| bytes == name);
    assert!(holds(b"Gemm") && holds(b"cpc on half-moon"));
    let answer = sandbox.ok(&["export", "run", "moon.onnx", "--json"]);
    let answer: serde_json::Value = serde_json::from_str(&answer).expect("one object");
    assert_eq!(answer["bytes"].as_u64(), Some(file.len() as u64));
    // Terms over time are in a folder with the training's name.
    let events = std::fs::read_dir(sandbox.path("board/cpc")).expect("a folder");
    assert_eq!(events.count(), 1);
    let error = sandbox.error(&["export", "run", "moon.pt"]);
    assert!(error.contains("does not end in .onnx"), "{error}");
    let error = sandbox.error(&["export", "nowhere", "moon.onnx"]);
    assert!(error.contains("`cpcvae fit` makes one"), "{error}");
}
