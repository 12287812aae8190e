//! Tiny models and batches that the tests share.
#![allow(dead_code)] // each test file uses its own part of it

use burn::tensor::{Device, Tensor, TensorData};
use cpcvae::distribution::Family;
use cpcvae::model::{ActivationName, Model, ModelKind, Shape, Target};
use cpcvae::noise::{Noise, NoisePurpose};
use cpcvae::objective::Examples;
use cpcvae::op::{Compute, Precision};

/// Classes of the toy data.
pub const CLASSES: usize = 3;
/// Features of a row.
pub const FEATURES: usize = 4;

pub fn device() -> Device {
    Device::flex().autodiff()
}

/// On [`device`], in f32.
pub fn compute() -> Compute {
    Compute::new(&device(), Precision::F32)
}

pub fn shape(kind: ModelKind) -> Shape {
    Shape {
        kind,
        features: FEATURES,
        image: None,
        code: 2,
        style: 0,
        net: cpcvae::net::Net::Mlp,
        hidden: vec![7, 5],
        predictor: vec![],
        activation: ActivationName::Softplus,
        batch_norm: false,
        likelihood: Family::Normal,
        row: None,
        scale_floor: 0.01,
        transform: None,
        target: Target::Classes(["a", "b", "c"].map(String::from).to_vec()),
    }
}

pub fn vae() -> Model {
    Model::new(&shape(ModelKind::Vae), 1, &compute())
}

pub fn label_vae() -> Model {
    Model::new(&shape(ModelKind::LabelVae), 1, &compute())
}

/// Rows of standard normal numbers.
pub fn features(rows: usize) -> Tensor<2> {
    Noise::new(9, 0, &device()).normal(NoisePurpose::Features, [rows, FEATURES])
}

pub fn one_hot(classes: &[usize]) -> Tensor<2> {
    let mut values = vec![0.0; classes.len() * CLASSES];
    for (row, class) in classes.iter().enumerate() {
        values[row * CLASSES + class] = 1.0;
    }
    tensor(values, [classes.len(), CLASSES])
}

/// Labelled rows with alternating classes, and unlabelled rows.
pub fn examples(labelled: usize, unlabelled: usize) -> Examples {
    let classes: Vec<usize> = (0..labelled).map(|row| row % CLASSES).collect();
    Examples {
        features: features(labelled + unlabelled),
        labels: one_hot(&classes),
        labelled,
        classes: true,
        pseudo_labels: None,
    }
}

pub fn tensor<const D: usize>(values: Vec<f32>, shape: [usize; D]) -> Tensor<D> {
    Tensor::from_data(TensorData::new(values, shape), &device())
}

pub fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().try_into_vec().expect("f32")
}
