//! An experiment's numbers as text, Markdown, CSV and JSON.

use super::{Entry, Metric, Plan};
use crate::table::TextTable;
use serde_json::{Value, json};

/// The table as plain text.
pub fn text(plan: &Plan, entries: &[Entry]) -> String {
    table(plan, entries).to_text()
}

/// The table as Markdown.
pub(crate) fn markdown(plan: &Plan, entries: &[Entry]) -> String {
    table(plan, entries).to_markdown()
}

/// Every number unrounded, a line each.
pub fn csv(entries: &[Entry]) -> String {
    let header = [
        "method",
        "setting",
        "labels",
        "code",
        "metric",
        "unit",
        "draws",
        "mean",
        "std",
        "min",
        "paper",
        "paper_std",
        "chosen",
    ];
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let row = |entry: &Entry| {
        vec![
            entry.method.clone(),
            entry.setting.clone(),
            entry.labels.to_string(),
            entry.code.to_string(),
            name(entry.metric),
            entry.unit.into(),
            entry.draws.to_string(),
            entry.mean.to_string(),
            number(entry.std),
            entry.min.to_string(),
            number(entry.paper),
            number(entry.paper_std),
            entry.chosen.clone(),
        ]
    };
    let table = TextTable {
        header: header.map(String::from).to_vec(),
        rows: entries.iter().map(row).collect(),
    };
    table.to_csv()
}

/// The table as one object.
pub fn json(entries: &[Entry]) -> Value {
    json!({ "cells": entries })
}

fn name(metric: Metric) -> String {
    let value = serde_json::to_value(metric).expect("a plain name");
    value.as_str().unwrap_or_default().into()
}

/// One line for each row of the experiment, columns for each metric; settings only if there are
/// several, the lowest value only for several draws, the paper's values only if there are any.
fn table(plan: &Plan, entries: &[Entry]) -> TextTable {
    let has_settings = entries
        .iter()
        .any(|entry| entry.setting != entries[0].setting);
    let metrics = &plan.report.metrics;
    let has_paper = |metric: Metric| {
        let mut own = entries.iter().filter(|entry| entry.metric == metric);
        own.any(|entry| entry.paper.is_some())
    };
    let has_lowest = entries.iter().any(|entry| entry.draws > 1);
    let mut header = vec!["method".to_string()];
    if has_settings {
        header.push("setting".into());
    }
    header.extend(["labels", "code", "draws"].map(String::from));
    for metric in metrics {
        header.push(metric.heading());
        if has_lowest {
            header.push("lowest".into());
        }
        if has_paper(*metric) {
            header.push("paper".into());
        }
    }
    if let Some(base) = &plan.report.relative_to {
        header.push(format!("times {base}"));
        if has_paper(metrics[0]) {
            header.push("paper's times".into());
        }
    }

    let lines = entries.chunk_by(same_line);
    let rows = lines.map(|line| {
        let first = &line[0];
        let mut cells = vec![match first.chosen.as_str() {
            "" => first.method.clone(),
            chosen => format!("{} ({chosen})", first.method),
        }];
        if has_settings {
            cells.push(first.setting.clone());
        }
        cells.extend([first.labels, first.code, first.draws].map(|number| number.to_string()));
        for metric in metrics {
            let entry = line.iter().find(|entry| entry.metric == *metric);
            let decimals = metric.decimals();
            cells.push(entry.map_or("-".into(), |e| spread(e.mean, e.std, decimals)));
            if has_lowest {
                cells.push(entry.map_or("-".into(), |e| format!("{:.decimals$}", e.min)));
            }
            if has_paper(*metric) {
                let paper = entry.and_then(|e| Some((e.paper?, e.paper_std)));
                cells.push(paper.map_or("-".into(), |(mean, std)| printed(mean, std)));
            }
        }
        if let Some(base) = &plan.report.relative_to {
            let reference = entries.iter().find(|entry| {
                entry.method == *base && entry.metric == metrics[0] && same_place(entry, first)
            });
            let ratio = |of: fn(&Entry) -> Option<f64>| {
                let ratio = reference.and_then(|base| Some(of(first)? / of(base)?));
                ratio.map_or("-".into(), |ratio| format!("{ratio:.2}"))
            };
            cells.push(ratio(|entry| Some(entry.mean)));
            if has_paper(metrics[0]) {
                cells.push(ratio(|entry| entry.paper));
            }
        }
        cells
    });
    TextTable {
        header,
        rows: rows.collect(),
    }
}

fn same_line(a: &Entry, b: &Entry) -> bool {
    a.method == b.method && same_place(a, b)
}

fn same_place(a: &Entry, b: &Entry) -> bool {
    (&a.setting, a.labels, a.code) == (&b.setting, b.labels, b.code)
}

/// In the paper's format.
fn printed(mean: f64, std: Option<f64>) -> String {
    match std {
        Some(std) => format!("{mean} ± {std}"),
        None => mean.to_string(),
    }
}

/// "96.7 ± 0.5", or the mean alone.
fn spread(mean: f64, std: Option<f64>, decimals: usize) -> String {
    match std {
        Some(std) => format!("{mean:.decimals$} ± {std:.decimals$}"),
        None => format!("{mean:.decimals$}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::cells::tests::plan;
    use super::*;

    fn entry(method: &str, setting: &str, mean: f64, paper: Option<f64>) -> Entry {
        Entry {
            method: method.into(),
            setting: setting.into(),
            labels: 6,
            code: 2,
            metric: Metric::Accuracy,
            unit: "%",
            draws: 2,
            mean,
            std: Some(1.25),
            min: mean - 1.0,
            paper,
            paper_std: None,
            chosen: String::new(),
        }
    }

    #[test]
    fn the_papers_value_stands_beside_ours() {
        let entries = [
            entry("PC", "even", 80.0, Some(78.1)),
            entry("CPC", "even", 99.0, None),
        ];
        let expected = "\
| method | labels | code | draws | test accuracy (%) | lowest | paper |
| ------ | -----: | ---: | ----: | ----------------: | -----: | ----: |
| PC     |      6 |    2 |     2 |        80.0 ± 1.2 |   79.0 |  78.1 |
| CPC    |      6 |    2 |     2 |        99.0 ± 1.2 |   98.0 |     - |
";
        assert_eq!(markdown(&plan(), &entries), expected);
        let mut relative = plan();
        relative.report.relative_to = Some("PC".into());
        let text = text(&relative, &entries);
        assert!(text.contains("times PC") && text.contains("1.24"), "{text}");
        assert!(text.ends_with("-\n"), "no paper value, no ratio: {text}");
    }

    #[test]
    fn several_settings_have_a_column() {
        let entries = [
            entry("PC", "even", 80.0, None),
            entry("PC", "random", 70.0, None),
        ];
        let text = text(&plan(), &entries);
        assert!(
            text.contains("setting") && text.contains("random"),
            "{text}"
        );
        assert_eq!(text.lines().count(), 4);
    }

    #[test]
    fn json_and_csv_have_every_number() {
        let entries = [entry("PC", "even", 80.0, Some(78.1))];
        let value = json(&entries);
        let cell = &value["cells"][0];
        for key in [
            "method", "setting", "labels", "code", "draws", "mean", "std", "min", "paper",
        ] {
            assert!(!cell[key].is_null(), "{key} in {value}");
        }
        let csv = csv(&entries);
        assert!(
            csv.ends_with("PC,even,6,2,accuracy,%,2,80,1.25,79,78.1,,\n"),
            "{csv}"
        );
    }
}
