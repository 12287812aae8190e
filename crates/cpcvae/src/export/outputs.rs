//! The outputs of a graph: names, types, shapes and descriptions.

use super::OnnxValue;
use super::graph::{Graph, Value};
use super::model::largest;
use super::proto::{self, data_type};
use crate::infer::calibrate::SMALLEST;
use crate::prepare::Preprocess;

/// Outputs so far.
#[derive(Default)]
pub(super) struct Outputs(Vec<(proto::ValueInfo, OnnxValue)>);

impl Outputs {
    /// The mean of q(z|x).
    pub(super) fn code(&mut self, graph: &mut Graph, code: &Value, dimensions: usize) {
        graph.name_output(code, "code");
        let meaning = "the mean of the code, as `encode` gives it";
        self.push("code", data_type::FLOAT, &[dimensions], meaning);
    }

    /// Calibrated probabilities and the most probable class.
    pub(super) fn classes(
        &mut self,
        graph: &mut Graph,
        stated: &Value,
        classes: usize,
        temperature: f64,
    ) {
        let probabilities = match temperature == 1.0 {
            true => stated.clone(),
            false => {
                let wide = graph.as_double(stated);
                let least = graph.double(SMALLEST);
                let wide = graph.node("Max", &[&wide, &least]);
                let log = graph.node("Log", &[&wide]);
                let inverse = graph.double(1.0 / temperature);
                let scaled = graph.node("Mul", &[&log, &inverse]);
                let shares = graph.softmax(&scaled);
                graph.as_float(&shares)
            }
        };
        graph.name_output(&probabilities, "probabilities");
        let best = largest(graph, &probabilities);
        graph.name_output(&best, "label");
        let meaning = "of the classes, in the order of `classes`";
        self.push("probabilities", data_type::FLOAT, &[classes], meaning);
        let meaning = "the place of the most probable class in `classes`";
        self.push("label", data_type::INT64, &[], meaning);
    }

    /// Continuous labels from standardised ones.
    pub(super) fn values(
        &mut self,
        graph: &mut Graph,
        scaled: &Value,
        labels: usize,
        preprocess: &Preprocess,
    ) {
        let mut values = scaled.clone();
        if let Some(scale) = &preprocess.labels {
            let sd = graph.floats(&[labels], &scale.scale);
            let mean = graph.floats(&[labels], &scale.mean);
            values = graph.node("Mul", &[&values, &sd]);
            values = graph.node("Add", &[&values, &mean]);
        }
        let mut kind = data_type::FLOAT;
        if !preprocess.label_offsets.is_empty() {
            kind = data_type::DOUBLE;
            let offsets = graph.doubles(&[labels], &preprocess.label_offsets);
            let wide = graph.as_double(&values);
            values = graph.node("Add", &[&wide, &offsets]);
        }
        graph.name_output(&values, "values");
        self.push("values", kind, &[labels], "in the order of `labels`");
    }

    /// The outputs for the file, and for display.
    pub(super) fn finish(self) -> (Vec<proto::ValueInfo>, Vec<OnnxValue>) {
        self.0.into_iter().unzip()
    }

    fn push(&mut self, name: &str, kind: i32, sides: &[usize], meaning: &str) {
        self.0.push(value(name, kind, sides, meaning));
    }
}

/// An input or output whose first dimension is the number of rows, for the file and for display.
pub(super) fn value(
    name: &str,
    kind: i32,
    sides: &[usize],
    meaning: &str,
) -> (proto::ValueInfo, OnnxValue) {
    let rows = proto::Length::Named("rows".into());
    let sides_known = sides.iter().map(|side| proto::Length::Of(*side as i64));
    let dimension = |length| proto::Dimension {
        length: Some(length),
    };
    let shape = proto::TensorShape {
        dim: std::iter::once(rows)
            .chain(sides_known)
            .map(dimension)
            .collect(),
    };
    let info = proto::ValueInfo {
        name: Some(name.into()),
        doc_string: Some(meaning.into()),
        value_type: Some(proto::ValueType {
            tensor_type: Some(proto::TensorType {
                elem_type: Some(kind),
                shape: Some(shape),
            }),
        }),
    };
    let word = match kind {
        data_type::DOUBLE => "double",
        data_type::INT64 => "int64",
        _ => "float",
    };
    let sides = sides.iter().map(|side| format!(", {side}"));
    let value = OnnxValue {
        name: name.into(),
        kind: format!("{word} [rows{}]", sides.collect::<String>()),
        meaning: meaning.into(),
    };
    (info, value)
}
