//! Every key of `report.json` and of `--json` is in `docs/json.md`.

mod sandbox;

use sandbox::{Sandbox, two_groups};
use serde_json::Value;
use std::collections::BTreeSet;

/// Paths of all values that are neither objects nor lists, `[]` for a list.
fn paths(value: &Value, path: &str, all: &mut BTreeSet<String>) {
    match value {
        Value::Object(entries) => {
            for (key, value) in entries {
                let dot = if path.is_empty() { "" } else { "." };
                paths(value, &format!("{path}{dot}{key}"), all);
            }
        }
        Value::Array(values) => {
            for value in values {
                paths(value, &format!("{path}[]"), all);
            }
        }
        _ => drop(all.insert(path.to_string())),
    }
}

#[test]
fn all_keys_are_documented() {
    let docs = include_str!("../../../docs/json.md");
    let sandbox = Sandbox::new();
    sandbox.write("t.csv", two_groups());
    let fit = [
        "t.csv", "--label", "kind", "--out", "run", "--folds", "2", "--json",
    ];
    let report = |sandbox: &Sandbox| String::from_utf8(sandbox.read("run/report.json"));
    let texts = [
        sandbox.fit(&fit),
        report(&sandbox).expect("UTF-8"),
        sandbox.ok(&["evaluate", "run", "t.csv", "--json"]),
        sandbox.ok(&["score", "run", "t.csv", "--json"]),
    ];
    for text in texts {
        let value: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(value["format"], 1);
        let mut all = BTreeSet::new();
        paths(&value, "", &mut all);
        for path in all {
            assert!(
                docs.contains(&format!("`{path}`")),
                "`{path}` is not in docs/json.md"
            );
        }
    }
}
