//! The real MNIST, if CPCVAE_DATA names a folder with its files.

mod sandbox;

use sandbox::Sandbox;

#[test]
fn the_papers_protocol_by_one_flag() {
    let Ok(data) = std::env::var("CPCVAE_DATA") else {
        eprintln!("skipped: CPCVAE_DATA is not set to a folder with MNIST");
        return;
    };
    let sandbox = Sandbox::new();
    let text = sandbox.ok(&[
        "fit",
        "mnist",
        "--preset",
        "paper",
        "--data-dir",
        &data,
        "--set",
        "model.hidden=[30]",
        "--set",
        "model.code=10",
        "--max-steps",
        "20",
        "--out",
        "run",
        "--json",
        "--quiet",
    ]);
    let report: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(report["labelled"], 100);
    assert_eq!(report["unlabelled"], 49_900);
    assert_eq!(report["fit"]["validation"]["rows"], 10_000);
    assert_eq!(report["test"]["rows"], 10_000);
}
