//! Keys of earlier versions: old names of settings are still read, and keys that are newer than a
//! run get the value that reproduces its training.

use super::RunConfig;
use crate::error::{Error, Result};
use crate::method::DataKind;
use toml::{Table, Value};

/// Settings of `cpc` that have moved: the old key in `[method]`, the new section and key.
const RENAMED: [(&str, &str, &str); 8] = [
    ("neighbour_weight", "pseudo_labels", "weight"),
    ("neighbour_decay", "pseudo_labels", "decay"),
    ("neighbour_refreshes", "pseudo_labels", "refreshes"),
    ("neighbour_view", "pseudo_labels", "features"),
    ("neighbours", "pseudo_labels", "neighbours"),
    ("neighbour_reach", "pseudo_labels", "alpha"),
    ("mixing", "pseudo_labels", "mixup"),
    ("jitter", "method", "input_noise"),
];

/// Keys that are newer than the first recorded results, with the value (as JSON) that reproduces
/// the earlier behaviour.
pub const LATER_KEYS: [(&str, &str, &str); 12] = [
    ("model", "net", r#""mlp""#),
    ("model", "depth", "28"),
    ("model", "width", "2"),
    ("model", "batch_norm", "false"),
    ("model", "decoder_start", r#""zero""#),
    ("method", "input_noise", "0.0"),
    ("method", "aggregate_views", r#""both""#),
    ("method", "aggregate_decay", "0.0"),
    ("method", "simulated", r#""draw""#),
    ("train", "stretch", "0.0"),
    ("train", "labelled_evidence", r#""batch""#),
    ("train", "shards", "1"),
];

/// The same for keys that are older than the first recorded results.
const EARLIER_KEYS: [(&str, &str, &str); 3] = [
    ("train", "precision", r#""f32""#),
    ("train", "shift", "0"),
    ("model", "missing_cells", "false"),
];

/// Newer keys of `[data]`, whose defaults reproduce the earlier behaviour.
const LATER_DATA_KEYS: [&str; 10] = [
    "columns",
    "id",
    "missing",
    "contrast",
    "features_name",
    "gray",
    "labels_file",
    "most_bytes",
    "size",
    "strict",
];

/// Renames settings of earlier versions, and returns notes about them. A setting under its new name
/// takes precedence over the old one.
pub(super) fn rename(settings: &mut Table) -> Vec<String> {
    let mut notes = Vec::new();
    for (old, section, new) in RENAMED {
        let method = settings.get_mut("method").and_then(Value::as_table_mut);
        let Some(value) = method.and_then(|method| method.remove(old)) else {
            continue;
        };
        notes.push(format!(
            "`method.{old}` is an old name; it is read as `{section}.{new}`"
        ));
        for (key, value) in current(old, new, value) {
            let section = settings
                .entry(section)
                .or_insert_with(|| Value::Table(Table::new()));
            if let Some(section) = section.as_table_mut() {
                section.entry(key).or_insert(value);
            }
        }
    }
    notes
}

/// The current keys and values for an old setting.
fn current(old: &str, new: &str, value: Value) -> Vec<(String, Value)> {
    let number = || value.as_float().or(value.as_integer().map(|n| n as f64));
    let source = |name: &str| ("source".to_string(), Value::from(name));
    match (old, number()) {
        // Without weight there were no pseudo-labels.
        ("neighbour_weight", Some(0.0)) => vec![source("none")],
        // 0 meant: chosen by leave-one-out.
        ("neighbour_reach", Some(0.0)) => vec![source("ensemble")],
        ("neighbour_reach", _) => vec![(new.into(), value), source("propagation")],
        _ => match value.as_str() {
            Some("edges") => vec![(new.into(), "hog".into())],
            _ => vec![(new.into(), value)],
        },
    }
}

/// The complete settings of a run of an earlier version. It is an error if a key is missing that
/// existed from the start.
pub(super) fn completed(mut settings: Table, context: &str) -> Result<RunConfig> {
    rename(&mut settings);
    let text = |section: &str, key: &str| settings.get(section)?.get(key)?.as_str();
    let method = text("method", "name").unwrap_or_default().to_string();
    let source = text("data", "source").unwrap_or_default().to_string();
    let usual = RunConfig::defaults(&method, DataKind::Table, &source)?;
    let usual = Table::try_from(&usual).expect("a configuration has only plain values");
    let before = LATER_KEYS.iter().chain(&EARLIER_KEYS);
    for (section, key, value) in before {
        let has_key = usual[*section].get(key).is_some();
        if let (true, Some(section)) = (has_key, settings.get_mut(*section)) {
            let value = serde_json::from_str(value).expect("a constant of this file");
            add(section, key, value);
        }
    }
    if let Some(data) = settings.get_mut("data") {
        for key in LATER_DATA_KEYS {
            add(data, key, usual["data"][key].clone());
        }
    }
    match settings.get_mut("pseudo_labels") {
        Some(section) => {
            for (key, value) in usual["pseudo_labels"].as_table().into_iter().flatten() {
                add(section, key, value.clone());
            }
        }
        None => {
            settings.insert("pseudo_labels".into(), usual["pseudo_labels"].clone());
        }
    }
    settings.try_into().map_err(|error| Error::Config {
        context: context.into(),
        problem: toml::de::Error::to_string(&error).trim().into(),
    })
}

fn add(section: &mut Value, key: &str, value: Value) {
    if let Some(section) = section.as_table_mut() {
        section.entry(key).or_insert(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{PseudoLabelSourceName, Request, parse_settings};

    fn settings(pairs: &[&str]) -> Table {
        let pairs: Vec<String> = pairs.iter().map(ToString::to_string).collect();
        parse_settings(&pairs).expect("well formed")
    }

    #[test]
    fn old_names_of_settings_are_read_with_a_note() {
        let mut request = Request::new(None);
        request.push(
            "test",
            settings(&[
                "method.neighbour_weight=7",
                "method.neighbour_reach=0.9",
                "method.neighbour_view=edges",
                "method.mixing=0.5",
                "method.jitter=0.25",
            ]),
        );
        let usual = RunConfig::defaults("cpc", DataKind::Images, "own").expect("known");
        let config = request.laid_over(usual).expect("known keys");
        let pseudo = &config.pseudo_labels;
        assert_eq!(pseudo.source, PseudoLabelSourceName::Propagation);
        assert_eq!((pseudo.weight, pseudo.alpha, pseudo.mixup), (7.0, 0.9, 0.5));
        assert_eq!(request.notes().len(), 5);
        let note = "`method.neighbour_weight` is an old name; it is read as `pseudo_labels.weight`";
        assert_eq!(request.notes()[0], note);
    }

    #[test]
    fn a_new_name_wins_over_an_old_one() {
        let mut both = settings(&["method.neighbours=5", "pseudo_labels.neighbours=9"]);
        rename(&mut both);
        assert_eq!(both["pseudo_labels"]["neighbours"].as_integer(), Some(9));
        let mut none = settings(&["method.neighbour_weight=0"]);
        rename(&mut none);
        assert_eq!(none["pseudo_labels"]["source"].as_str(), Some("none"));
    }

    #[test]
    fn a_run_without_later_keys_is_completed_as_it_was_trained() {
        let config = RunConfig::defaults("cpc", DataKind::Table, "half-moon").expect("known");
        let mut old = Table::try_from(&config).expect("plain values");
        old.remove("pseudo_labels");
        let keys = LATER_KEYS.iter().chain(&EARLIER_KEYS);
        for (section, key, _) in keys {
            if let Some(section) = old[*section].as_table_mut() {
                section.remove(*key);
            }
        }
        let data = old["data"].as_table_mut().expect("a section");
        for key in LATER_DATA_KEYS {
            data.remove(key);
        }
        let text = old.to_string();
        let read = RunConfig::from_toml(&text, "test").expect("completed");
        assert_eq!(read.data, config.data);
        assert_eq!(read.pseudo_labels, config.pseudo_labels);
        assert_eq!(read.train.precision, crate::config::PrecisionName::F32);
        // A key that always existed cannot be left out.
        old["train"]
            .as_table_mut()
            .expect("a section")
            .remove("steps");
        let error = RunConfig::from_toml(&old.to_string(), "test").expect_err("cut");
        assert!(error.to_string().contains("steps"), "{error}");
    }
}
