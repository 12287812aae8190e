//! Convolution layers, and residual blocks of them.

use super::batch_norm::{BatchNorm, LEAK};
use crate::noise::{Noise, NoisePurpose};
use crate::op::Compute;
use crate::op::conv::{Way, convolve, convolve_onto, convolve_up};
use crate::op::residual::residual;
use burn::module::{Module, Param};
use burn::tensor::Tensor;

/// The shape of a convolution.
#[derive(Clone, Copy, Debug)]
pub struct ConvPlan {
    /// Input channels.
    pub inputs: usize,
    /// Output channels.
    pub outputs: usize,
    /// Side of the kernel.
    pub kernel: usize,
    /// The factor by which the sides shrink (or, if transposed, grow).
    pub stride: usize,
    /// Whether it is a transposed convolution.
    pub up: bool,
}

/// A convolution without bias, plain or transposed.
#[derive(Module, Debug)]
pub struct Conv {
    /// `[kernel, kernel, inputs, outputs]`; for a transposed one `[.., outputs, inputs]`.
    weight: Param<Tensor<4>>,
    #[module(skip)]
    stride: usize,
    #[module(skip)]
    up: bool,
    #[module(skip)]
    compute: Compute,
}

impl Conv {
    /// Normal weights with the scale of He et al. (2015). `layer` distinguishes layers of one
    /// model.
    pub fn new(plan: ConvPlan, seed: u64, layer: u64, compute: &Compute) -> Self {
        let ConvPlan {
            inputs,
            outputs,
            kernel,
            stride,
            up,
        } = plan;
        // A transposed convolution spreads each input over the outputs of a stride.
        let taps = if up {
            (kernel * kernel).div_ceil(stride * stride)
        } else {
            kernel * kernel
        };
        let deviation = (2.0 / (taps * inputs) as f64).sqrt();
        let (first, second) = if up {
            (outputs, inputs)
        } else {
            (inputs, outputs)
        };
        let unit = Noise::new(seed, layer, compute.device())
            .normal(NoisePurpose::Weights, [kernel * kernel * first, second]);
        let weight = unit
            .mul_scalar(deviation)
            .reshape([kernel, kernel, first, second]);
        Self {
            weight: Param::from_tensor(weight),
            stride,
            up,
            compute: compute.clone(),
        }
    }

    /// `x [rows, height, width, inputs]` to `[rows, .., .., outputs]`; a transposed one makes
    /// images of `size`, which is height and width.
    pub fn forward(&self, x: Tensor<4>, size: [usize; 2]) -> Tensor<4> {
        let weight = self.weight.val();
        if self.up {
            convolve_up(&self.compute, x, weight, self.stride, size)
        } else {
            convolve(&self.compute, x, weight, self.stride)
        }
    }

    /// The same with `skip`, of the output's shape, added.
    fn forward_onto(&self, x: Tensor<4>, size: [usize; 2], skip: Tensor<4>) -> Tensor<4> {
        let (weight, way) = (self.weight.val(), self.way(size));
        convolve_onto(&self.compute, x, weight, self.stride, way, skip)
    }

    fn way(&self, size: [usize; 2]) -> Way {
        if self.up { Way::Up(size) } else { Way::Down }
    }
}

/// `x + conv(act(conv(act(x))))`, with batch normalisation before each activation. Where sizes
/// change, the skip connection has a 1x1 convolution of x's activation.
#[derive(Module, Debug)]
pub struct ResidualBlock {
    first_norm: BatchNorm,
    first: Conv,
    second_norm: BatchNorm,
    second: Conv,
    shortcut: Option<Conv>,
}

impl ResidualBlock {
    /// Layer numbers used by a block.
    pub const LAYERS: u64 = 3;

    /// `plan` is that of the first convolution, which changes the sizes.
    pub fn new(plan: ConvPlan, seed: u64, first_layer: u64, compute: &Compute) -> Self {
        let ConvPlan {
            inputs, outputs, ..
        } = plan;
        let conv = |plan, layer| Conv::new(plan, seed, first_layer + layer, compute);
        let same = ConvPlan {
            inputs: outputs,
            stride: 1,
            ..plan
        };
        let shortcut = ConvPlan { kernel: 1, ..plan };
        Self {
            first_norm: BatchNorm::new(inputs, LEAK, compute),
            first: conv(plan, 0),
            second_norm: BatchNorm::new(outputs, LEAK, compute),
            second: conv(same, 1),
            shortcut: (inputs != outputs || plan.stride > 1).then(|| conv(shortcut, 2)),
        }
    }

    /// `x [rows, height, width, inputs]` to `[rows, .., .., outputs]`; a transposed block makes
    /// images of `size`.
    pub fn forward(&self, x: Tensor<4>, size: [usize; 2]) -> Tensor<4> {
        if self.shortcut.is_none() && x.is_autodiff() {
            return self.forward_in_one(x, size);
        }
        let active = self.first_norm.forward(x.clone());
        let skip = match &self.shortcut {
            Some(shortcut) => shortcut.forward(active.clone(), size),
            None => x,
        };
        let inner = self.first.forward(active, size);
        let inner = self.second_norm.forward(inner);
        self.second.forward_onto(inner, size, skip)
    }

    /// In training, a block with an identity skip connection is one operation.
    fn forward_in_one(&self, x: Tensor<4>, size: [usize; 2]) -> Tensor<4> {
        let compute = &self.second.compute;
        let halves = [
            self.first_norm.before(self.first.weight.val()),
            self.second_norm.before(self.second.weight.val()),
        ];
        let (y, [first, second]) = residual(compute, x, halves, LEAK, self.second.way(size));
        self.first_norm.note(first);
        self.second_norm.note(second);
        y
    }

    /// See [`BatchNorm::update_running_statistics`].
    pub fn update_running_statistics(&mut self) {
        self.first_norm.update_running_statistics();
        self.second_norm.update_running_statistics();
    }
}
