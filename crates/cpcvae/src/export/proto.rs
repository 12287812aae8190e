//! The messages of an ONNX file that are written here, with the field numbers of `onnx.proto`.
//!
//! Written by hand, so that a build does not need `protoc`; readers skip unknown fields. Fields
//! that are optional in `onnx.proto` are so here, because a reader checks whether they are present.

use prost::{Message, Oneof};

/// A file: a graph and its metadata.
#[derive(Clone, PartialEq, Message)]
pub struct Model {
    /// Version of the file format.
    #[prost(int64, optional, tag = "1")]
    pub ir_version: Option<i64>,
    /// The producer.
    #[prost(string, optional, tag = "2")]
    pub producer_name: Option<String>,
    /// The version of the producer.
    #[prost(string, optional, tag = "3")]
    pub producer_version: Option<String>,
    /// A description.
    #[prost(string, optional, tag = "6")]
    pub doc_string: Option<String>,
    /// The computation.
    #[prost(message, optional, tag = "7")]
    pub graph: Option<Graph>,
    /// The operator sets that it needs.
    #[prost(message, repeated, tag = "8")]
    pub opset_import: Vec<OperatorSet>,
    /// Metadata.
    #[prost(message, repeated, tag = "14")]
    pub metadata_props: Vec<Entry>,
}

/// A version of an operator set.
#[derive(Clone, PartialEq, Message)]
pub struct OperatorSet {
    /// The set; empty for the default one.
    #[prost(string, optional, tag = "1")]
    pub domain: Option<String>,
    /// The version.
    #[prost(int64, optional, tag = "2")]
    pub version: Option<i64>,
}

/// A key with a value.
#[derive(Clone, PartialEq, Message)]
pub struct Entry {
    /// The key.
    #[prost(string, optional, tag = "1")]
    pub key: Option<String>,
    /// The value.
    #[prost(string, optional, tag = "2")]
    pub value: Option<String>,
}

/// Nodes in topological order.
#[derive(Clone, PartialEq, Message)]
pub struct Graph {
    /// The nodes.
    #[prost(message, repeated, tag = "1")]
    pub node: Vec<Node>,
    /// Its name.
    #[prost(string, optional, tag = "2")]
    pub name: Option<String>,
    /// Constants.
    #[prost(message, repeated, tag = "5")]
    pub initializer: Vec<Tensor>,
    /// The inputs.
    #[prost(message, repeated, tag = "11")]
    pub input: Vec<ValueInfo>,
    /// The outputs.
    #[prost(message, repeated, tag = "12")]
    pub output: Vec<ValueInfo>,
}

/// One operation.
#[derive(Clone, PartialEq, Message)]
pub struct Node {
    /// Inputs.
    #[prost(string, repeated, tag = "1")]
    pub input: Vec<String>,
    /// Outputs.
    #[prost(string, repeated, tag = "2")]
    pub output: Vec<String>,
    /// Its own name.
    #[prost(string, optional, tag = "3")]
    pub name: Option<String>,
    /// The operator.
    #[prost(string, optional, tag = "4")]
    pub op_type: Option<String>,
    /// Attributes of the operator.
    #[prost(message, repeated, tag = "5")]
    pub attribute: Vec<Attribute>,
    /// The operator set.
    #[prost(string, optional, tag = "7")]
    pub domain: Option<String>,
}

/// An attribute of an operator.
#[derive(Clone, PartialEq, Message)]
pub struct Attribute {
    /// Its name.
    #[prost(string, optional, tag = "1")]
    pub name: Option<String>,
    /// A number.
    #[prost(float, optional, tag = "2")]
    pub f: Option<f32>,
    /// An integer.
    #[prost(int64, optional, tag = "3")]
    pub i: Option<i64>,
    /// A text.
    #[prost(bytes = "vec", optional, tag = "4")]
    pub s: Option<Vec<u8>>,
    /// Numbers.
    #[prost(float, repeated, packed = "false", tag = "7")]
    pub floats: Vec<f32>,
    /// Integers.
    #[prost(int64, repeated, packed = "false", tag = "8")]
    pub ints: Vec<i64>,
    /// Texts.
    #[prost(bytes = "vec", repeated, tag = "9")]
    pub strings: Vec<Vec<u8>>,
    /// Its type, see [`attribute_type`].
    #[prost(int32, optional, tag = "20")]
    pub kind: Option<i32>,
}

/// The type of an [`Attribute`].
pub mod attribute_type {
    /// A number.
    pub const FLOAT: i32 = 1;
    /// An integer.
    pub const INT: i32 = 2;
    /// A text.
    pub const STRING: i32 = 3;
    /// Numbers.
    pub(crate) const FLOATS: i32 = 6;
    /// Integers.
    pub(crate) const INTS: i32 = 7;
    /// Texts.
    pub(crate) const STRINGS: i32 = 8;
}

/// A constant.
#[derive(Clone, PartialEq, Message)]
pub struct Tensor {
    /// Its shape.
    #[prost(int64, repeated, packed = "false", tag = "1")]
    pub dims: Vec<i64>,
    /// The type of its values, see [`data_type`].
    #[prost(int32, optional, tag = "2")]
    pub data_type: Option<i32>,
    /// Its name.
    #[prost(string, optional, tag = "8")]
    pub name: Option<String>,
    /// Its values, little-endian.
    #[prost(bytes = "vec", optional, tag = "9")]
    pub raw_data: Option<Vec<u8>>,
}

/// The type of the values of a tensor.
pub mod data_type {
    /// 32 bits.
    pub const FLOAT: i32 = 1;
    /// 64-bit integers.
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
    /// Its type.
    #[prost(message, optional, tag = "2")]
    pub value_type: Option<ValueType>,
    /// A description.
    #[prost(string, optional, tag = "3")]
    pub doc_string: Option<String>,
}

/// The type of a value: a tensor here.
#[derive(Clone, PartialEq, Message)]
pub struct ValueType {
    /// A tensor.
    #[prost(message, optional, tag = "1")]
    pub tensor_type: Option<TensorType>,
}

/// Element type and shape of a tensor.
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
    /// Its dimensions.
    #[prost(message, repeated, tag = "1")]
    pub dim: Vec<Dimension>,
}

/// A dimension of a tensor.
#[derive(Clone, PartialEq, Message)]
pub struct Dimension {
    /// Its length.
    #[prost(oneof = "Length", tags = "1, 2")]
    pub length: Option<Length>,
}

/// The length of a dimension.
#[derive(Clone, PartialEq, Oneof)]
pub enum Length {
    /// A fixed length.
    #[prost(int64, tag = "1")]
    Of(i64),
    /// A symbolic length.
    #[prost(string, tag = "2")]
    Named(String),
}
