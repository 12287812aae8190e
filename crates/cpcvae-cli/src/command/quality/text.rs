//! A description as text.

use crate::printer::{count, percent};
use cpcvae::describe::{Description, Effort, Measured, SampleFigures, Way};
use cpcvae::run::Card;
use cpcvae_data::Layout;
use cpcvae_lab::table::TextTable;

/// All figures as text.
///
/// `beside` is the model that log p(x) is compared with.
pub(super) fn text(
    card: &Card,
    data: &str,
    found: &Description,
    effort: Effort,
    beside: &str,
) -> String {
    let rows = match found.measured {
        Measured::Test => "test rows",
        Measured::Validation => "validation rows (there are no test rows)",
    };
    let mut text = format!(
        "{} on {data}: {} {rows} that it was not trained on\n\n",
        card.method,
        count(found.rows)
    );
    text += &density(found, beside);
    text += &reconstructions(card, found);
    if let (Some(accuracy), Some(labels)) = (found.classifier_accuracy, found.classifier_labels) {
        let moved = match found.classifier_moved_accuracy {
            Some(moved) => format!(" ({:.2}% where they are moved)", 100.0 * moved),
            None => String::new(),
        };
        text += &format!(
            "classifier       has {:.2}% of unseen rows right{moved}, learnt from {} labels of the \
             data\n",
            100.0 * accuracy,
            count(labels)
        );
    }
    if found.samples.iter().any(|way| !way.classes.is_empty()) {
        text += &format!("\n{}", explained(found, effort));
        text += &by_class(&found.samples).to_text();
    }
    text + &distances(found)
}

fn density(found: &Description, name: &str) -> String {
    let likelihood = serde_json::to_value(found.likelihood).unwrap_or_default();
    let floor = match found.scale_floor {
        Some(floor) => format!(", scale floor {floor}"),
        None => String::new(),
    };
    let beside = match (found.beside, found.more_than_beside) {
        (Some(beside), Some(more)) => {
            format!("; of {name} {beside:.2}: {more:+.2}%")
        }
        _ => String::new(),
    };
    format!(
        "log p(x)         {:.2} nats a row{beside}\n                 (likelihood {}{floor}, {} \
         draws a row; compare only with the same likelihood and floor)\n",
        found.log_likelihood,
        likelihood.as_str().unwrap_or("unknown"),
        found.draws
    )
}

fn reconstructions(card: &Card, found: &Description) -> String {
    let made = &found.reconstructed;
    let mut parts = Vec::new();
    if let Some(error) = made.squared_error {
        let units = match card.preprocess.layout {
            Layout::Image { .. } => "pixels from 0 to 1",
            Layout::Columns(_) => "in the columns' units",
        };
        parts.push(format!("mean squared error {error:.5} ({units})"));
    }
    if let Some(ink) = made.ink {
        parts.push(format!("ink {ink:.2} of the originals'"));
    }
    match parts.is_empty() {
        true => String::new(),
        false => format!("reconstructions  {}\n", parts.join(", ")),
    }
}

fn explained(found: &Description, effort: Effort) -> String {
    let limit = format!("of at most {} drawn", count(effort.most_codes));
    match found.samples.iter().any(|way| way.way == Way::Direct) {
        true => format!(
            "samples, {} a class, drawn of p(x|y); taken: the classifier says it is that class\n",
            effort.samples
        ),
        false => format!(
            "samples, {} wanted a class; kept: codes {limit} that the predictor gives to the \
             class with {} or more;\ntaken: the classifier says that the sample is of the class\n",
            effort.samples, effort.threshold
        ),
    }
}

/// A line for each class, with the ways of drawing side by side.
fn by_class(ways: &[SampleFigures]) -> TextTable {
    let mut table = TextTable {
        header: vec!["class".into()],
        rows: Vec::new(),
    };
    let share = |share: Option<f64>| share.map_or("-".into(), percent);
    for way in ways {
        let name = name(way.way);
        let header = ["kept", "found", "taken"].map(|what| format!("{name}: {what}"));
        table.header.extend(header);
    }
    let classes = ways.first().map_or(0, |way| way.classes.len());
    for class in 0..classes {
        let mut row = vec![ways[0].classes[class].class.clone()];
        for figures in ways.iter().filter_map(|way| way.classes.get(class)) {
            let rare = if figures.too_rare { " (too rare)" } else { "" };
            row.extend([
                format!("{:.3}%", 100.0 * figures.acceptance),
                format!("{}{rare}", figures.found),
                share(figures.taken),
            ]);
        }
        table.rows.push(row);
    }
    let mut all = vec!["all".to_string()];
    for way in ways {
        let found: usize = way.classes.iter().map(|class| class.found).sum();
        let drawn: usize = way.classes.iter().map(|class| class.drawn).sum();
        let kept = 100.0 * found as f64 / drawn.max(1) as f64;
        all.extend([format!("{kept:.3}%"), count(found), share(way.taken)]);
    }
    table.rows.push(all);
    table
}

fn distances(found: &Description) -> String {
    let of_ways = found.samples.iter().filter_map(|way| {
        let distance = way.frechet?;
        Some(format!("{} {distance:.2}", name(way.way)))
    });
    let of_ways: Vec<String> = of_ways.collect();
    if of_ways.is_empty() {
        return String::new();
    }
    let real = match found.frechet_of_real_rows {
        Some(distance) => format!("; of training rows {distance:.2}"),
        None => String::new(),
    };
    format!(
        "\nFréchet distance of samples to these rows in the classifier's last layer: {}{real}\n",
        of_ways.join(", ")
    )
}

fn name(way: Way) -> &'static str {
    match way {
        Way::Prior => "prior",
        Way::Fitted => "fitted",
        Way::Direct => "p(x|y)",
    }
}
