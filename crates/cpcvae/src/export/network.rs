//! Networks as nodes of a graph: dense, wide residual and class-conditional ones.

use super::graph::{Graph, Setting, Value, of_name};
use crate::model::{ActivationName, Shape};
use crate::net::{LEAK, Net};
use crate::op::batch_norm::EPSILON;
use crate::train::Parameters;

/// A model's parameters and shapes.
#[derive(Clone, Copy)]
pub(super) struct Networks<'a> {
    pub(super) shape: &'a Shape,
    pub(super) parameters: &'a Parameters,
}

impl Networks<'_> {
    /// An encoder of either kind: `x [rows, inputs]` to `[rows, outputs]`.
    pub(super) fn encoder(&self, graph: &mut Graph, name: &str, x: &Value) -> Value {
        match self.shape.net {
            Net::Mlp => self.dense(graph, name, x),
            Net::Wrn(_) => {
                let flat = self.convolved(graph, name, x);
                self.dense(graph, &format!("{name}.dense"), &flat)
            }
        }
    }

    /// Dense layers: `x [rows, inputs]` to `[rows, outputs]`.
    pub(super) fn dense(&self, graph: &mut Graph, name: &str, x: &Value) -> Value {
        let mut h = x.clone();
        let layer_name = |layer: usize| format!("{name}.layers.{layer}");
        for layer in 0.. {
            h = self.linear(graph, &layer_name(layer), &h);
            if !self.has(&format!("{}.weight", layer_name(layer + 1))) {
                break;
            }
            let norm = format!("{name}.norms.{layer}");
            if self.has(&format!("{norm}.scale")) {
                h = self.normalised(graph, &norm, &h);
            }
            h = self.activated(graph, &h);
        }
        h
    }

    /// A dense network on x and a class, `y [rows, classes]` one-hot.
    pub(super) fn class_conditional(
        &self,
        graph: &mut Graph,
        name: &str,
        x: &Value,
        y: &Value,
    ) -> Value {
        let mut h = self.linear(graph, &format!("{name}.first"), x);
        let norm = format!("{name}.norm");
        if self.has(&format!("{norm}.scale")) {
            h = self.normalised(graph, &norm, &h);
        }
        let class = graph.parameter(self.parameters, &format!("{name}.class"));
        let of_class = graph.node("MatMul", &[y, &class]);
        h = graph.node("Add", &[&h, &of_class]);
        if !self.has(&format!("{name}.rest.layers.0.weight")) {
            return h;
        }
        let h = self.activated(graph, &h);
        self.dense(graph, &format!("{name}.rest"), &h)
    }

    fn has(&self, parameter: &str) -> bool {
        self.parameters.0.contains_key(parameter)
    }

    fn linear(&self, graph: &mut Graph, name: &str, x: &Value) -> Value {
        let weight = graph.parameter(self.parameters, &format!("{name}.weight"));
        let bias = graph.parameter(self.parameters, &format!("{name}.bias"));
        graph.affine(x, &weight, &bias)
    }

    fn activated(&self, graph: &mut Graph, x: &Value) -> Value {
        match self.shape.activation {
            ActivationName::Softplus => graph.node("Softplus", &[x]),
            ActivationName::Relu => graph.node("Relu", &[x]),
            ActivationName::Elu => graph.node_with("Elu", &[x], &[("alpha", Setting::Float(1.0))]),
            ActivationName::LeakyRelu => leaky(graph, x, 0.01),
        }
    }

    /// By running averages; channels are the second dimension of `x`.
    fn normalised(&self, graph: &mut Graph, name: &str, x: &Value) -> Value {
        let part = |graph: &mut Graph, part: &str| {
            graph.parameter(self.parameters, &format!("{name}.{part}"))
        };
        let (scale, shift) = (part(graph, "scale"), part(graph, "shift"));
        let (_, running) = of_name(self.parameters, &format!("{name}.running"));
        let channels = running.len() / 2;
        let mean = graph.floats(&[channels], &running[..channels]);
        let variance = graph.floats(&[channels], &running[channels..]);
        graph.node_with(
            "BatchNormalization",
            &[x, &scale, &shift, &mean, &variance],
            &[("epsilon", Setting::Float(EPSILON))],
        )
    }

    /// The input of the dense layers of a wide residual network for `x [rows, channels * pixels]`.
    fn convolved(&self, graph: &mut Graph, name: &str, x: &Value) -> Value {
        let [height, width, channels] = self.shape.image.expect("convolutions are of images");
        let sides = [-1, channels as i64, height as i64, width as i64];
        let sides = graph.ints(&sides);
        let planes = graph.node("Reshape", &[x, &sides]);
        let mut h = self.convolution(graph, &format!("{name}.stem"), &planes, 1);
        for (block, stride) in self.strides().into_iter().enumerate() {
            h = self.block(graph, &format!("{name}.blocks.{block}"), &h, stride);
        }
        let h = self.rectified(graph, &format!("{name}.norm"), &h);
        // Dense layers take pixels with channels last.
        let order = Setting::Ints(vec![0, 2, 3, 1]);
        let last = graph.node_with("Transpose", &[&h], &[("perm", order)]);
        graph.node_with("Flatten", &[&last], &[("axis", Setting::Int(1))])
    }

    /// The stride of each block.
    fn strides(&self) -> Vec<usize> {
        match self.shape.net {
            Net::Wrn(trunk) => trunk.strides(),
            Net::Mlp => Vec::new(),
        }
    }

    fn block(&self, graph: &mut Graph, name: &str, x: &Value, stride: usize) -> Value {
        let active = self.rectified(graph, &format!("{name}.first_norm"), x);
        let shortcut = format!("{name}.shortcut");
        let skip = match self.has(&format!("{shortcut}.weight")) {
            true => self.convolution(graph, &shortcut, &active, stride),
            false => x.clone(),
        };
        let inner = self.convolution(graph, &format!("{name}.first"), &active, stride);
        let inner = self.rectified(graph, &format!("{name}.second_norm"), &inner);
        let inner = self.convolution(graph, &format!("{name}.second"), &inner, 1);
        graph.node("Add", &[&inner, &skip])
    }

    fn rectified(&self, graph: &mut Graph, name: &str, x: &Value) -> Value {
        let normalised = self.normalised(graph, name, x);
        leaky(graph, &normalised, LEAK)
    }

    fn convolution(&self, graph: &mut Graph, name: &str, x: &Value, stride: usize) -> Value {
        let (shape, values) = of_name(self.parameters, &format!("{name}.weight"));
        let &[kernel, _, inputs, outputs] = shape else {
            unreachable!("kernels have four sides");
        };
        // From [kernel, kernel, inputs, outputs] to [outputs, inputs, kernel, kernel].
        let taps = kernel * kernel;
        let mut turned = Vec::with_capacity(values.len());
        for output in 0..outputs {
            for input in 0..inputs {
                let of_tap = |tap: usize| values[(tap * inputs + input) * outputs + output];
                turned.extend((0..taps).map(of_tap));
            }
        }
        let weight = graph.floats(&[outputs, inputs, kernel, kernel], &turned);
        let (border, stride) = (kernel as i64 / 2, stride as i64);
        graph.node_with(
            "Conv",
            &[x, &weight],
            &[
                ("kernel_shape", Setting::Ints(vec![kernel as i64; 2])),
                ("pads", Setting::Ints(vec![border; 4])),
                ("strides", Setting::Ints(vec![stride; 2])),
            ],
        )
    }
}

fn leaky(graph: &mut Graph, x: &Value, slope: f32) -> Value {
    graph.node_with("LeakyRelu", &[x], &[("alpha", Setting::Float(slope))])
}
