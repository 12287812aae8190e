//! The messages of an ONNX file that are written here, field by field as `onnx.proto` numbers them.
//!
//! Written by hand: a build needs no `protoc`, and readers skip what they do not know. Fields that
//! `onnx.proto` has as optional are so here, because a reader asks whether they are there.

use prost::{Message, Oneof};

/// A file: a graph and what is said about it.
#[derive(Clone, PartialEq, Message)]
pub struct Model {
    /// Version of the file format.
    #[prost(int64, optional, tag = "1")]
    pub ir_version: Option<i64>,
    /// What wrote it.
    #[prost(string, optional, tag = "2")]
    pub producer_name: Option<String>,
    /// The version of that.
    #[prost(string, optional, tag = "3")]
    pub producer_version: Option<String>,
    /// For people.
    #[prost(string, optional, tag = "6")]
    pub doc_string: Option<String>,
    /// The computation.
    #[prost(message, optional, tag = "7")]
    pub graph: Option<Graph>,
    /// Which operators it needs.
    #[prost(message, repeated, tag = "8")]
    pub opset_import: Vec<OperatorSet>,
    /// Names and texts.
    #[prost(message, repeated, tag = "14")]
    pub metadata_props: Vec<Entry>,
}

/// A version of a set of operators.
#[derive(Clone, PartialEq, Message)]
pub struct OperatorSet {
    /// Which set; empty for the usual one.
    #[prost(string, optional, tag = "1")]
    pub domain: Option<String>,
    /// Which version.
    #[prost(int64, optional, tag = "2")]
    pub version: Option<i64>,
}

/// A name with a text.
#[derive(Clone, PartialEq, Message)]
pub struct Entry {
    /// The name.
    #[prost(string, optional, tag = "1")]
    pub key: Option<String>,
    /// The text.
    #[prost(string, optional, tag = "2")]
    pub value: Option<String>,
}

/// Nodes in an order in which they can be computed.
#[derive(Clone, PartialEq, Message)]
pub struct Graph {
    /// The operations.
    #[prost(message, repeated, tag = "1")]
    pub node: Vec<Node>,
    /// Its name.
    #[prost(string, optional, tag = "2")]
    pub name: Option<String>,
    /// Constants.
    #[prost(message, repeated, tag = "5")]
    pub initializer: Vec<Tensor>,
    /// What goes in.
    #[prost(message, repeated, tag = "11")]
    pub input: Vec<ValueInfo>,
    /// What comes out.
    #[prost(message, repeated, tag = "12")]
    pub output: Vec<ValueInfo>,
}

/// One operation.
#[derive(Clone, PartialEq, Message)]
pub struct Node {
    /// Names of values.
    #[prost(string, repeated, tag = "1")]
    pub input: Vec<String>,
    /// Names of values.
    #[prost(string, repeated, tag = "2")]
    pub output: Vec<String>,
    /// Its own name.
    #[prost(string, optional, tag = "3")]
    pub name: Option<String>,
    /// The operator.
    #[prost(string, optional, tag = "4")]
    pub op_type: Option<String>,
    /// Settings of the operator.
    #[prost(message, repeated, tag = "5")]
    pub attribute: Vec<Attribute>,
    /// The operator's set.
    #[prost(string, optional, tag = "7")]
    pub domain: Option<String>,
}

/// A setting of an operator.
#[derive(Clone, PartialEq, Message)]
pub struct Attribute {
    /// Its name.
    #[prost(string, optional, tag = "1")]
    pub name: Option<String>,
    /// A number.
    #[prost(float, optional, tag = "2")]
    pub f: Option<f32>,
    /// A whole number.
    #[prost(int64, optional, tag = "3")]
    pub i: Option<i64>,
    /// A text.
    #[prost(bytes = "vec", optional, tag = "4")]
    pub s: Option<Vec<u8>>,
    /// Numbers.
    #[prost(float, repeated, packed = "false", tag = "7")]
    pub floats: Vec<f32>,
    /// Whole numbers.
    #[prost(int64, repeated, packed = "false", tag = "8")]
    pub ints: Vec<i64>,
    /// Texts.
    #[prost(bytes = "vec", repeated, tag = "9")]
    pub strings: Vec<Vec<u8>>,
    /// Which of them it is, see [`attribute_type`].
    #[prost(int32, optional, tag = "20")]
    pub kind: Option<i32>,
}

/// What an [`Attribute`] may be.
pub mod attribute_type {
    /// A number.
    pub const FLOAT: i32 = 1;
    /// A whole number.
    pub const INT: i32 = 2;
    /// A text.
    pub const STRING: i32 = 3;
    /// Numbers.
    pub const FLOATS: i32 = 6;
    /// Whole numbers.
    pub const INTS: i32 = 7;
    /// Texts.
    pub const STRINGS: i32 = 8;
}

/// A constant.
#[derive(Clone, PartialEq, Message)]
pub struct Tensor {
    /// Its shape.
    #[prost(int64, repeated, packed = "false", tag = "1")]
    pub dims: Vec<i64>,
    /// What its values are, see [`data_type`].
    #[prost(int32, optional, tag = "2")]
    pub data_type: Option<i32>,
    /// Its name.
    #[prost(string, optional, tag = "8")]
    pub name: Option<String>,
    /// Its values, little end first.
    #[prost(bytes = "vec", optional, tag = "9")]
    pub raw_data: Option<Vec<u8>>,
}

/// What the values of a tensor are.
pub mod data_type {
    /// 32 bits.
    pub const FLOAT: i32 = 1;
    /// Whole numbers of 64 bits.
    pub const INT64: i32 = 7;
    /// 64 bits.
    pub const DOUBLE: i32 = 11;
}

/// An input or output.
#[derive(Clone, PartialEq, Message)]
pub struct ValueInfo {
    /// Its name.
    #[prost(string, optional, tag = "1")]
    pub name: Option<String>,
    /// What it is.
    #[prost(message, optional, tag = "2")]
    pub value_type: Option<ValueType>,
    /// For people.
    #[prost(string, optional, tag = "3")]
    pub doc_string: Option<String>,
}

/// What a value is: a tensor here.
#[derive(Clone, PartialEq, Message)]
pub struct ValueType {
    /// A tensor.
    #[prost(message, optional, tag = "1")]
    pub tensor_type: Option<TensorType>,
}

/// Kind and shape of a tensor.
#[derive(Clone, PartialEq, Message)]
pub struct TensorType {
    /// See [`data_type`].
    #[prost(int32, optional, tag = "1")]
    pub elem_type: Option<i32>,
    /// The shape.
    #[prost(message, optional, tag = "2")]
    pub shape: Option<TensorShape>,
}

/// The shape of a tensor.
#[derive(Clone, PartialEq, Message)]
pub struct TensorShape {
    /// Its sides.
    #[prost(message, repeated, tag = "1")]
    pub dim: Vec<Dimension>,
}

/// A side of a tensor.
#[derive(Clone, PartialEq, Message)]
pub struct Dimension {
    /// How long it is.
    #[prost(oneof = "Length", tags = "1, 2")]
    pub length: Option<Length>,
}

/// How long a side is.
#[derive(Clone, PartialEq, Oneof)]
pub enum Length {
    /// So long.
    #[prost(int64, tag = "1")]
    Of(i64),
    /// As long as whatever else has that name.
    #[prost(string, tag = "2")]
    Named(String),
}
