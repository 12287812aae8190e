//! The messages of an event file that are written here, with the field numbers of TensorBoard's
//! `event.proto` and `summary.proto`.

use prost::{Message, Oneof};

/// One record of an event file.
#[derive(Clone, PartialEq, Message)]
pub struct Event {
    /// Seconds since the beginning of 1970.
    #[prost(double, tag = "1")]
    pub wall_time: f64,
    /// Steps taken.
    #[prost(int64, tag = "2")]
    pub step: i64,
    /// Its content.
    #[prost(oneof = "What", tags = "3, 5, 7")]
    pub what: Option<What>,
}

/// The content of an event.
#[derive(Clone, PartialEq, Oneof)]
pub enum What {
    /// The version, in the first record.
    #[prost(string, tag = "3")]
    FileVersion(String),
    /// Values.
    #[prost(message, tag = "5")]
    Summary(Summary),
    /// Training starts, or resumes, at this step.
    #[prost(message, tag = "7")]
    SessionLog(SessionLog),
}

/// Start of a training: earlier records of this step and later ones are discarded.
#[derive(Clone, PartialEq, Message)]
pub struct SessionLog {
    /// 1: start.
    #[prost(int32, tag = "1")]
    pub status: i32,
}

/// Values of a step.
#[derive(Clone, PartialEq, Message)]
pub struct Summary {
    /// The values.
    #[prost(message, repeated, tag = "1")]
    pub value: Vec<Value>,
}

/// A value under a name.
#[derive(Clone, PartialEq, Message)]
pub struct Value {
    /// The name.
    #[prost(string, tag = "1")]
    pub tag: String,
    /// The value.
    #[prost(oneof = "Shown", tags = "2, 4")]
    pub shown: Option<Shown>,
}

/// The type of a value.
#[derive(Clone, PartialEq, Oneof)]
pub enum Shown {
    /// A number.
    #[prost(float, tag = "2")]
    Number(f32),
    /// An image.
    #[prost(message, tag = "4")]
    Image(Image),
}

/// An image.
#[derive(Clone, PartialEq, Message)]
pub struct Image {
    /// Height in pixels.
    #[prost(int32, tag = "1")]
    pub height: i32,
    /// Width in pixels.
    #[prost(int32, tag = "2")]
    pub width: i32,
    /// 1 grey, 3 colour.
    #[prost(int32, tag = "3")]
    pub colorspace: i32,
    /// A PNG.
    #[prost(bytes = "vec", tag = "4")]
    pub encoded_image_string: Vec<u8>,
}
