//! A graph under construction: nodes and constants with generated names.

use super::proto::{self, attribute_type, data_type};
use crate::train::Parameters;

/// The name of a value in the graph.
pub(super) type Value = String;

/// An attribute of an operator.
pub(super) enum Setting<'a> {
    Int(i64),
    Float(f32),
    Text(&'a str),
    Ints(Vec<i64>),
    Floats(Vec<f32>),
    Texts(Vec<&'static str>),
}

/// Nodes and constants.
#[derive(Default)]
pub(super) struct Graph {
    pub(super) nodes: Vec<proto::Node>,
    pub(super) constants: Vec<proto::Tensor>,
}

impl Graph {
    /// Adds a node with one output, and returns the output's name.
    pub(super) fn node(&mut self, operator: &str, inputs: &[&Value]) -> Value {
        self.node_with(operator, inputs, &[])
    }

    /// The same with attributes.
    pub(super) fn node_with(
        &mut self,
        operator: &str,
        inputs: &[&Value],
        settings: &[(&str, Setting<'_>)],
    ) -> Value {
        let [output] = self.node_of("", operator, inputs, settings);
        output
    }

    /// Adds a node of an operator set with several outputs.
    pub(super) fn node_of<const OUTPUTS: usize>(
        &mut self,
        domain: &str,
        operator: &str,
        inputs: &[&Value],
        settings: &[(&str, Setting<'_>)],
    ) -> [Value; OUTPUTS] {
        let name = format!("{}_{}", operator.to_lowercase(), self.nodes.len());
        let outputs: [Value; OUTPUTS] = std::array::from_fn(|place| match OUTPUTS {
            1 => name.clone(),
            _ => format!("{name}_{place}"),
        });
        self.nodes.push(proto::Node {
            input: inputs.iter().map(|name| name.to_string()).collect(),
            output: outputs.to_vec(),
            name: Some(name),
            op_type: Some(operator.into()),
            attribute: settings.iter().map(attribute).collect(),
            domain: (!domain.is_empty()).then(|| domain.into()),
        });
        outputs
    }

    /// Gives a value the name of an output of the graph.
    pub(super) fn name_output(&mut self, value: &Value, name: &str) {
        self.nodes.push(proto::Node {
            input: vec![value.clone()],
            output: vec![name.into()],
            name: Some(format!("output_{name}")),
            op_type: Some("Identity".into()),
            ..proto::Node::default()
        });
    }

    /// A 32-bit constant.
    pub(super) fn floats(&mut self, shape: &[usize], values: &[f32]) -> Value {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes());
        self.constant(shape, values.len(), data_type::FLOAT, bytes.collect())
    }

    /// A 64-bit constant.
    pub(super) fn doubles(&mut self, shape: &[usize], values: &[f64]) -> Value {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes());
        self.constant(shape, values.len(), data_type::DOUBLE, bytes.collect())
    }

    /// A vector of integers.
    pub(super) fn ints(&mut self, values: &[i64]) -> Value {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes());
        let count = values.len();
        self.constant(&[count], count, data_type::INT64, bytes.collect())
    }

    /// A 32-bit number.
    pub(super) fn float(&mut self, value: f32) -> Value {
        self.floats(&[], &[value])
    }

    /// A 64-bit number.
    pub(super) fn double(&mut self, value: f64) -> Value {
        self.doubles(&[], &[value])
    }

    /// A parameter of the model.
    pub(super) fn parameter(&mut self, parameters: &Parameters, name: &str) -> Value {
        let (shape, values) = of_name(parameters, name);
        self.floats(shape, values)
    }

    /// Converts to 64 bits.
    pub(super) fn as_double(&mut self, value: &Value) -> Value {
        self.cast(value, data_type::DOUBLE)
    }

    /// Converts to 32 bits.
    pub(super) fn as_float(&mut self, value: &Value) -> Value {
        self.cast(value, data_type::FLOAT)
    }

    fn cast(&mut self, value: &Value, to: i32) -> Value {
        let to = Setting::Int(i64::from(to));
        self.node_with("Cast", &[value], &[("to", to)])
    }

    /// Columns `from..to` of `value [rows, columns]`.
    pub(super) fn columns(&mut self, value: &Value, from: usize, to: usize) -> Value {
        let [from, to, axis] = [from, to, 1].map(|number| self.ints(&[number as i64]));
        self.node("Slice", &[value, &from, &to, &axis])
    }

    /// Concatenates columns, `[rows, all columns]`.
    pub(super) fn side_by_side(&mut self, values: &[Value]) -> Value {
        if let [only] = values {
            return only.clone();
        }
        let values: Vec<&Value> = values.iter().collect();
        self.node_with("Concat", &values, &[("axis", Setting::Int(1))])
    }

    /// `x [rows, inputs]` to `[rows, outputs]` by weights and bias.
    pub(super) fn affine(&mut self, x: &Value, weight: &Value, bias: &Value) -> Value {
        self.node("Gemm", &[x, weight, bias])
    }

    /// Softmax of each row.
    pub(super) fn softmax(&mut self, logits: &Value) -> Value {
        self.node_with("Softmax", &[logits], &[("axis", Setting::Int(1))])
    }

    /// Sum of each row, `[rows, 1]`.
    pub(super) fn row_sums(&mut self, value: &Value) -> Value {
        let axis = self.ints(&[1]);
        self.node_with(
            "ReduceSum",
            &[value, &axis],
            &[("keepdims", Setting::Int(1))],
        )
    }

    fn constant(&mut self, shape: &[usize], count: usize, kind: i32, bytes: Vec<u8>) -> Value {
        debug_assert_eq!(shape.iter().product::<usize>(), count);
        let name = format!("constant_{}", self.constants.len());
        self.constants.push(proto::Tensor {
            dims: shape.iter().map(|side| *side as i64).collect(),
            data_type: Some(kind),
            name: Some(name.clone()),
            raw_data: Some(bytes),
        });
        name
    }
}

/// Shape and values of a parameter.
///
/// # Panics
/// If the model has no parameter of that name.
pub(super) fn of_name<'a>(parameters: &'a Parameters, name: &str) -> (&'a [usize], &'a [f32]) {
    let found = parameters.0.get(name);
    let (shape, values) = found.unwrap_or_else(|| panic!("a model of this kind has `{name}`"));
    (shape, values)
}

fn attribute((name, setting): &(&str, Setting<'_>)) -> proto::Attribute {
    let plain = |kind| proto::Attribute {
        name: Some(name.to_string()),
        kind: Some(kind),
        ..proto::Attribute::default()
    };
    match setting {
        Setting::Int(value) => proto::Attribute {
            i: Some(*value),
            ..plain(attribute_type::INT)
        },
        Setting::Float(value) => proto::Attribute {
            f: Some(*value),
            ..plain(attribute_type::FLOAT)
        },
        Setting::Text(value) => proto::Attribute {
            s: Some(value.as_bytes().to_vec()),
            ..plain(attribute_type::STRING)
        },
        Setting::Ints(values) => proto::Attribute {
            ints: values.clone(),
            ..plain(attribute_type::INTS)
        },
        Setting::Floats(values) => proto::Attribute {
            floats: values.clone(),
            ..plain(attribute_type::FLOATS)
        },
        Setting::Texts(values) => proto::Attribute {
            strings: values.iter().map(|text| text.as_bytes().to_vec()).collect(),
            ..plain(attribute_type::STRINGS)
        },
    }
}
