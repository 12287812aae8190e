//! Preparation of a user's row for networks and members, as nodes of a graph: the same steps as
//! [`Preprocess::apply`] and [`RowInput`](crate::model::RowInput).

use super::graph::{Graph, Setting, Value};
use super::proto::data_type;
use crate::prepare::{FeatureScale, MixedScale, Preprocess};
use cpcvae_data::{Column, ColumnKind, Layout, Standardizer};

/// The name of the input.
pub(super) const INPUT: &str = "x";

/// Values of the graph for prepared rows.
pub(super) struct Row {
    /// `[rows, features]`, missing cells as 0.
    pub(super) features: Value,
    /// The same with indicators of missing cells: an encoder's input.
    pub(super) seen: Value,
}

/// The input of the graph.
pub(super) struct Input {
    /// See [`data_type`].
    pub(super) kind: i32,
    /// The dimensions after the number of rows.
    pub(super) sides: Vec<usize>,
    /// A description in a sentence.
    pub(super) meaning: String,
}

impl Input {
    /// The input for rows with this preprocessing.
    pub(super) fn of(preprocess: &Preprocess) -> Self {
        let columns = preprocess.columns();
        match &preprocess.layout {
            Layout::Columns(_) => {
                let (kind, more) = match has_offset(columns) {
                    true => (data_type::DOUBLE, "; 64 bits, because some are large"),
                    false => (data_type::FLOAT, ""),
                };
                Self {
                    kind,
                    sides: vec![columns.len()],
                    meaning: format!(
                        "one value a column, in the order and units of `columns`; a category as \
                         the place of its level, a flag as 0 or 1, a missing cell as NaN{more}"
                    ),
                }
            }
            Layout::Image {
                height,
                width,
                channels,
            } => Self {
                kind: data_type::FLOAT,
                sides: vec![*height, *width, *channels],
                meaning: "pixels from 0 (black) to 1 (white), channels last".into(),
            },
        }
    }
}

/// Whether numbers are so large against their spread that they need 64 bits.
fn has_offset(columns: &[Column]) -> bool {
    columns.iter().any(|column| column.offset != 0.0)
}

/// Prepares rows of the input.
pub(super) fn prepare(graph: &mut Graph, preprocess: &Preprocess) -> Row {
    let raw = INPUT.to_string();
    match &preprocess.features {
        FeatureScale::Standardise(scale) => {
            let values = less_offsets(graph, &raw, preprocess.columns());
            let features = standardised(graph, &values, scale);
            Row {
                seen: features.clone(),
                features,
            }
        }
        FeatureScale::Mixed(scale) => {
            let columns = preprocess.columns();
            let values = less_offsets(graph, &raw, columns);
            mixed(graph, &values, columns, scale)
        }
        FeatureScale::Pixels { low, high } => {
            let order = Setting::Ints(vec![0, 3, 1, 2]);
            let planes = graph.node_with("Transpose", &[&raw], &[("perm", order)]);
            let axis = Setting::Int(1);
            let flat = graph.node_with("Flatten", &[&planes], &[("axis", axis)]);
            let (range, low) = (graph.float(high - low), graph.float(*low));
            let stretched = graph.node("Mul", &[&flat, &range]);
            let features = graph.node("Add", &[&stretched, &low]);
            Row {
                seen: features.clone(),
                features,
            }
        }
    }
}

/// Numbers less their offsets, in 32 bits.
fn less_offsets(graph: &mut Graph, raw: &Value, columns: &[Column]) -> Value {
    if !has_offset(columns) {
        return raw.clone();
    }
    let offsets: Vec<f64> = columns.iter().map(|column| column.offset).collect();
    let offsets = graph.doubles(&[columns.len()], &offsets);
    let less = graph.node("Sub", &[raw, &offsets]);
    graph.as_float(&less)
}

fn standardised(graph: &mut Graph, values: &Value, scale: &Standardizer) -> Value {
    let columns = scale.mean.len();
    let mean = graph.floats(&[columns], &scale.mean);
    let sd = graph.floats(&[columns], &scale.scale);
    let centred = graph.node("Sub", &[values, &mean]);
    graph.node("Div", &[&centred, &sd])
}

/// The row of [`MixedScale`]: numbers, flags, counts, levels; 0 where a cell is missing.
fn mixed(graph: &mut Graph, raw: &Value, columns: &[Column], scale: &MixedScale) -> Row {
    let of_kind = |is_kind: fn(&ColumnKind) -> bool| -> Vec<i64> {
        let places = (0..).zip(columns);
        places
            .filter(|(_, column)| is_kind(&column.kind))
            .map(|(place, _)| place)
            .collect()
    };
    let numbers = of_kind(|kind| *kind == ColumnKind::Number);
    let flags = of_kind(|kind| *kind == ColumnKind::Flag);
    let counts = of_kind(|kind| *kind == ColumnKind::Count);
    let mut parts = Vec::new();
    if !numbers.is_empty() {
        let chosen = select(graph, raw, &numbers);
        let scaled = standardised(graph, &chosen, &scale.numbers);
        parts.push(known(graph, &scaled));
    }
    if !flags.is_empty() {
        let chosen = select(graph, raw, &flags);
        parts.push(known(graph, &chosen));
    }
    if !counts.is_empty() {
        let chosen = select(graph, raw, &counts);
        // In 64 bits, since there is no operator for log(1 + x): in 32 bits it would lose digits of
        // small counts.
        let wide = graph.as_double(&chosen);
        let one = graph.double(1.0);
        let more = graph.node("Add", &[&wide, &one]);
        let log = graph.node("Log", &[&more]);
        let log = graph.as_float(&log);
        let (mean, sd) = scale.row.counts.iter().map(|c| (c.mean, c.scale)).unzip();
        let scaled = standardised(graph, &log, &Standardizer { mean, scale: sd });
        parts.push(known(graph, &scaled));
    }
    for (place, column) in (0..).zip(columns) {
        let ColumnKind::Category(levels) = &column.kind else {
            continue;
        };
        // An unknown level or a missing cell equals none of them.
        let chosen = select(graph, raw, &[place]);
        let places: Vec<f32> = (0..levels.len()).map(|level| level as f32).collect();
        let places = graph.floats(&[1, levels.len()], &places);
        let equal = graph.node("Equal", &[&chosen, &places]);
        parts.push(graph.as_float(&equal));
    }
    let features = graph.side_by_side(&parts);
    let first: Vec<usize> = scale.places(columns).map(|places| places.start).collect();
    let can_be_missing = scale.row.can_be_missing.iter();
    let asked: Vec<i64> = can_be_missing
        .filter_map(|place| first.iter().position(|first| first == place))
        .map(|column| column as i64)
        .collect();
    if asked.is_empty() {
        return Row {
            seen: features.clone(),
            features,
        };
    }
    let asked = select(graph, raw, &asked);
    let missing = graph.node("IsNaN", &[&asked]);
    let missing = graph.as_float(&missing);
    Row {
        seen: graph.side_by_side(&[features.clone(), missing]),
        features,
    }
}

/// Columns at these places.
fn select(graph: &mut Graph, values: &Value, places: &[i64]) -> Value {
    let places = graph.ints(places);
    graph.node_with("Gather", &[values, &places], &[("axis", Setting::Int(1))])
}

/// Missing cells as 0.
fn known(graph: &mut Graph, values: &Value) -> Value {
    let missing = graph.node("IsNaN", &[values]);
    let zero = graph.float(0.0);
    graph.node("Where", &[&missing, &zero, values])
}
