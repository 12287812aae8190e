//! Export of a model to ONNX: one graph from a user's row to code and prediction.
//!
//! The graph contains the run's computation at the means of latent variables: preparation
//! (`input`), the networks (`network`, `model`), the ensemble (`members`) and calibration.

mod compared;
mod graph;
mod hog;
mod input;
mod members;
mod model;
mod network;
mod outputs;
#[doc(hidden)]
pub mod proto;

use crate::device::Precision;
use crate::ensemble::Ensemble;
use crate::error::{Error, Result};
use crate::model::Target;
use crate::run::{Card, Trained};
use crate::train::Parameters;
use cpcvae_data::{Column, ColumnKind, write_atomically};
use graph::Graph;
use input::{INPUT, Input};
use network::Networks;
use outputs::Outputs;
use prost::Message;
use serde::Serialize;
use serde_json::{Value, json};
use std::path::Path;

/// The version of the file format and of its operators: those of 2022, which runtimes support.
const IR_VERSION: i64 = 8;
const OPERATORS: i64 = 17;
/// The version of the operators for classical models (`ai.onnx.ml`).
const ML_OPERATORS: i64 = 3;

/// What is exported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OnnxOptions {
    /// The network's own probabilities without calibration, and without the members of an ensemble,
    /// whose rows are then not in the file.
    pub network_only: bool,
}

/// A graph and its description.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OnnxFile {
    /// The file's content.
    #[doc(hidden)]
    #[serde(skip)]
    pub model: proto::Model,
    /// The input.
    pub input: OnnxValue,
    /// The outputs.
    pub outputs: Vec<OnnxValue>,
    /// Which models predict, and whether predictions equal those of the run, in a sentence or two.
    pub answers: String,
}

/// An input or output of a graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OnnxValue {
    /// Its name.
    pub name: String,
    /// Kind and shape, such as `float [rows, 4]`.
    pub kind: String,
    /// What it is.
    pub meaning: String,
}

/// The parts of a run that are exported.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exported<'a> {
    pub(crate) trained: &'a Trained,
    pub(crate) ensemble: Option<&'a Ensemble>,
    /// The temperature of class probabilities.
    pub(crate) temperature: f64,
}

impl OnnxFile {
    /// The file's bytes.
    pub fn bytes(&self) -> Vec<u8> {
        self.model.encode_to_vec()
    }

    /// Writes the file under a temporary name and renames it.
    pub fn save(&self, path: &Path) -> Result<()> {
        Ok(write_atomically(path, &self.bytes())?)
    }

    pub(crate) fn of(exported: Exported<'_>, options: OnnxOptions) -> Result<Self> {
        let Exported {
            trained, ensemble, ..
        } = exported;
        let card = &trained.card;
        let left_out = ensemble.is_some() && options.network_only;
        let ensemble = ensemble.filter(|_| !options.network_only);
        let parameters = Parameters::of(trained.inference.model());
        if let Some(name) = parameters.not_finite() {
            let problem = format!("the model's `{name}` is not finite, so it cannot be exported");
            return Err(Error::Mismatch(problem));
        }
        let input = Input::of(&card.preprocess);
        let mut graph = Graph::default();
        let row = input::prepare(&mut graph, &card.preprocess);
        let networks = Networks {
            shape: &card.shape,
            parameters: &parameters,
        };
        let predicted = model::outputs(&mut graph, networks, &row);
        let mut outputs = Outputs::default();
        if let Some(code) = &predicted.code {
            outputs.code(&mut graph, code, card.shape.code);
        }
        match (&card.shape.target, &predicted.answer) {
            (Target::Classes(names), Some(answer)) => {
                let common = ensemble.map(|ensemble| {
                    let layout = &card.preprocess.layout;
                    members::vote(&mut graph, ensemble, answer, &row, layout, names.len())
                });
                let answer = common.as_ref().unwrap_or(answer);
                let temperature = match left_out {
                    true => 1.0,
                    false => exported.temperature,
                };
                outputs.classes(&mut graph, answer, names.len(), temperature);
            }
            (Target::Values(names), Some(answer)) => {
                let common = ensemble.map(|ensemble| {
                    let layout = &card.preprocess.layout;
                    members::vote(&mut graph, ensemble, answer, &row, layout, names.len())
                });
                let answer = common.as_ref().unwrap_or(answer);
                outputs.values(&mut graph, answer, names.len(), &card.preprocess);
            }
            (_, None) | (Target::Nothing, _) => {}
        }
        let answers = answers(exported, ensemble, left_out);
        let about = metadata(exported, &input, &answers, left_out);
        let input = outputs::value(INPUT, input.kind, &input.sides, &input.meaning);
        let (infos, values) = outputs.finish();
        let is_ml = |node: &proto::Node| node.domain.is_some();
        let ml = graph
            .nodes
            .iter()
            .any(is_ml)
            .then_some(("ai.onnx.ml", ML_OPERATORS));
        let sets = std::iter::once(("", OPERATORS)).chain(ml);
        let operators = |(domain, version): (&str, i64)| proto::OperatorSet {
            domain: Some(domain.into()),
            version: Some(version),
        };
        Ok(Self {
            model: proto::Model {
                ir_version: Some(IR_VERSION),
                producer_name: Some("cpcvae".into()),
                producer_version: Some(env!("CARGO_PKG_VERSION").into()),
                doc_string: Some(answers.clone()),
                opset_import: sets.map(operators).collect(),
                metadata_props: about,
                graph: Some(proto::Graph {
                    node: graph.nodes,
                    name: Some(format!("{} on {}", card.method, card.data)),
                    initializer: graph.constants,
                    input: vec![input.0],
                    output: infos,
                }),
            },
            input: input.1,
            outputs: values,
            answers,
        })
    }
}

/// Which models predict, in words.
fn answers(exported: Exported<'_>, ensemble: Option<&Ensemble>, left_out: bool) -> String {
    let card = &exported.trained.card;
    let mut text: String = match &card.shape.target {
        Target::Nothing => "codes only: the model predicts nothing".into(),
        Target::Values(_) => {
            let values = "continuous labels in the user's units, without intervals";
            match ensemble {
                Some(ensemble) => {
                    let names = voters(ensemble, card);
                    format!("{values}: the mean of {names} (whose training rows are in the file)")
                }
                None if left_out => format!("{values}: the network's alone"),
                None => values.into(),
            }
        }
        Target::Classes(_) if left_out => {
            "the network's probabilities as it states them; the run itself answers by the vote of \
             the network and its ensemble, and its calibration is of that vote"
                .into()
        }
        Target::Classes(_) => {
            let who = match ensemble {
                Some(ensemble) => {
                    let names = voters(ensemble, card);
                    format!("the vote of {names} (whose training rows are in the file)")
                }
                None => "the network's probabilities".into(),
            };
            let calibration = match exported.temperature == 1.0 {
                true => "not changed by calibration".into(),
                false => format!("calibrated at temperature {:.4}", exported.temperature),
            };
            format!("{who}, {calibration}: what the run answers")
        }
    };
    if card.precision == Some(Precision::Bf16) {
        text += ". The run computes in bf16, the file in f32: answers are those of `precision` f32";
    }
    text
}

fn voters(ensemble: &Ensemble, card: &Card) -> String {
    let voters = ensemble.voters(&card.method).into_iter();
    let names: Vec<String> = voters.map(|voter| voter.name).collect();
    names.join(", ")
}

/// The metadata of the file.
fn metadata(
    exported: Exported<'_>,
    input: &Input,
    answers: &str,
    left_out: bool,
) -> Vec<proto::Entry> {
    let card = &exported.trained.card;
    let (classes, labels) = match &card.shape.target {
        Target::Classes(names) => (names.clone(), Vec::new()),
        Target::Values(names) => (Vec::new(), names.clone()),
        Target::Nothing => (Vec::new(), Vec::new()),
    };
    let columns: Vec<Value> = card.preprocess.columns().iter().map(column).collect();
    let temperature = if left_out { 1.0 } else { exported.temperature };
    let entry = |(key, value): (&str, String)| proto::Entry {
        key: Some(key.into()),
        value: Some(value),
    };
    let texts = [
        ("cpcvae", env!("CARGO_PKG_VERSION").to_string()),
        ("method", card.method.clone()),
        ("data", card.data.clone()),
        ("answers", answers.into()),
        ("input", input.meaning.clone()),
        ("columns", json!(columns).to_string()),
        ("classes", json!(classes).to_string()),
        ("labels", json!(labels).to_string()),
        ("temperature", temperature.to_string()),
    ];
    texts.into_iter().map(entry).collect()
}

fn column(column: &Column) -> Value {
    let mut value = json!({ "name": column.name, "kind": column.kind.name() });
    if let ColumnKind::Category(levels) = &column.kind {
        value["levels"] = json!(levels);
    }
    if let Some(unit) = column.time {
        value["counts"] = json!(unit);
    }
    value
}
