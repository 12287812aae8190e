//! A model's code and prediction as nodes of a graph.

use super::graph::{Graph, Setting, Value};
use super::input::Row;
use super::network::Networks;
use crate::model::{AuxiliaryShape, ModelKind, Target};
use crate::net::spatial_transformer::DIMENSIONS as TRANSFORM;

/// The graph's values for a model's code and prediction.
pub(super) struct ModelOutputs {
    /// The mean of q(z|x), `[rows, code]`; `None` for a classifier.
    pub(super) code: Option<Value>,
    /// Probabilities of the classes, before calibration, or standardised labels, `[rows, outputs]`;
    /// `None` for a model without predictions.
    pub(super) answer: Option<Value>,
}

/// The same as [`encode`](crate::infer::Inference::encode) and
/// [`predict`](crate::infer::Inference::predict) at the means of latent variables.
pub(super) fn outputs(graph: &mut Graph, networks: Networks<'_>, row: &Row) -> ModelOutputs {
    let shape = networks.shape;
    match shape.kind {
        ModelKind::Vae => {
            let raw = networks.encoder(graph, "Vae.encoder", &row.seen);
            let code = graph.columns(&raw, 0, shape.code);
            let answer = (shape.target != Target::Nothing).then(|| {
                let transform = shape.transform.as_ref().map_or(0, |_| TRANSFORM);
                let seen = graph.columns(&code, transform, shape.code - shape.style);
                let outputs = networks.dense(graph, "Vae.predictor", &seen);
                in_shares(graph, &outputs, &shape.target)
            });
            ModelOutputs {
                code: Some(code),
                answer,
            }
        }
        ModelKind::Classifier => {
            let outputs = networks.encoder(graph, "Classifier.network", &row.seen);
            ModelOutputs {
                code: None,
                answer: Some(in_shares(graph, &outputs, &shape.target)),
            }
        }
        ModelKind::LabelVae | ModelKind::BlendedVae => {
            let network = match shape.kind {
                ModelKind::BlendedVae => "LabelVae.discriminative",
                _ => "LabelVae.classifier",
            };
            let logits = networks.dense(graph, network, &row.seen);
            let answer = graph.softmax(&logits);
            let y = most_probable(graph, &answer, shape.target.outputs());
            let raw = networks.class_conditional(graph, "LabelVae.encoder", &row.seen, &y);
            ModelOutputs {
                code: Some(graph.columns(&raw, 0, shape.code)),
                answer: Some(answer),
            }
        }
        ModelKind::StackedVae => {
            let raw = networks.encoder(graph, "StackedVae.features.encoder", &row.seen);
            let code = graph.columns(&raw, 0, shape.code);
            let logits = networks.dense(graph, "StackedVae.labels.classifier", &code);
            ModelOutputs {
                answer: Some(graph.softmax(&logits)),
                code: Some(code),
            }
        }
        ModelKind::AuxiliaryVae(AuxiliaryShape { dimensions, .. }) => {
            let of_a = if dimensions == 0 {
                shape.code
            } else {
                dimensions
            };
            let raw = networks.dense(graph, "AuxiliaryVae.auxiliary", &row.seen);
            let a = graph.columns(&raw, 0, of_a);
            let both = graph.side_by_side(&[row.seen.clone(), a]);
            let logits = networks.dense(graph, "AuxiliaryVae.classifier", &both);
            let answer = graph.softmax(&logits);
            let y = most_probable(graph, &answer, shape.target.outputs());
            let raw = networks.class_conditional(graph, "AuxiliaryVae.encoder", &both, &y);
            ModelOutputs {
                code: Some(graph.columns(&raw, 0, shape.code)),
                answer: Some(answer),
            }
        }
    }
}

fn in_shares(graph: &mut Graph, outputs: &Value, target: &Target) -> Value {
    match target {
        Target::Classes(_) => graph.softmax(outputs),
        Target::Values(_) | Target::Nothing => outputs.clone(),
    }
}

/// The index of the largest value of each row, `[rows]`.
pub(super) fn largest(graph: &mut Graph, values: &Value) -> Value {
    let settings = [("axis", Setting::Int(1)), ("keepdims", Setting::Int(0))];
    graph.node_with("ArgMax", &[values], &settings)
}

/// One-hot rows of the largest entry of each row, `[rows, classes]`.
fn most_probable(graph: &mut Graph, probabilities: &Value, classes: usize) -> Value {
    let best = largest(graph, probabilities);
    let depth = graph.ints(&[classes as i64]);
    let values = graph.floats(&[2], &[0.0, 1.0]);
    graph.node("OneHot", &[&best, &depth, &values])
}
