//! The messages of an event file that are written here, field by field as TensorBoard's `event.proto`
//! and `summary.proto` number them.

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
    /// What it tells.
    #[prost(oneof = "What", tags = "3, 5, 7")]
    pub what: Option<What>,
}

/// What an event tells.
#[derive(Clone, PartialEq, Oneof)]
pub enum What {
    /// The first record's: how the file is to be read.
    #[prost(string, tag = "3")]
    FileVersion(String),
    /// Values.
    #[prost(message, tag = "5")]
    Summary(Summary),
    /// That a training begins, or goes on, at this step.
    #[prost(message, tag = "7")]
    SessionLog(SessionLog),
}

/// Beginning of a training: what was written before of this step and later ones no longer counts.
#[derive(Clone, PartialEq, Message)]
pub struct SessionLog {
    /// 1: it begins.
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

/// What can be shown.
#[derive(Clone, PartialEq, Oneof)]
pub enum Shown {
    /// A number.
    #[prost(float, tag = "2")]
    Number(f32),
    /// A picture.
    #[prost(message, tag = "4")]
    Image(Image),
}

/// A picture.
#[derive(Clone, PartialEq, Message)]
pub struct Image {
    /// Pixels.
    #[prost(int32, tag = "1")]
    pub height: i32,
    /// Pixels.
    #[prost(int32, tag = "2")]
    pub width: i32,
    /// 1 grey, 3 colours.
    #[prost(int32, tag = "3")]
    pub colorspace: i32,
    /// A PNG.
    #[prost(bytes = "vec", tag = "4")]
    pub encoded_image_string: Vec<u8>,
}
