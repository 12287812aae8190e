//! The mirrored wide residual network: from a code through dense layers and transposed
//! convolutions to images.

use super::batch_norm::LEAK;
use super::residual::{Conv, ConvPlan, ResidualBlock};
use super::wide_resnet::{ImageNetShape, in_parts};
use super::{BatchNorm, Mlp, MlpShape};
use crate::op::Compute;
use burn::module::{Module, Param};
use burn::tensor::Tensor;

/// From numbers to images: the layers of [`super::WideResNet`] in reverse order, each convolution
/// transposed, so that sides grow where those of the encoder shrink.
#[derive(Module, Debug)]
pub struct WideResNetDecoder {
    dense: Mlp,
    blocks: Vec<ResidualBlock>,
    norm: BatchNorm,
    last: Conv,
    /// `[channels of the image]`; the other convolutions are followed by a normalisation.
    bias: Param<Tensor<1>>,
    /// Height and width after each block.
    #[module(skip)]
    sizes: Vec<[usize; 2]>,
    /// Height, width and channels of the dense layers' output.
    #[module(skip)]
    meeting: [usize; 3],
}

impl WideResNetDecoder {
    /// `shape.image` is the output. `first_layer` is the number of its first layer within the
    /// model.
    pub fn new(shape: &ImageNetShape, seed: u64, first_layer: u64, compute: &Compute) -> Self {
        let mirrored = |plan: &ConvPlan| ConvPlan {
            inputs: plan.outputs,
            outputs: plan.inputs,
            up: true,
            ..*plan
        };
        let plans: Vec<ConvPlan> = shape.trunk.plans().iter().rev().map(mirrored).collect();
        let mut sizes: Vec<[usize; 2]> = shape.sizes().into_iter().rev().collect();
        let meeting = shape.meeting();
        // The first is the output of the dense layers.
        sizes.remove(0);
        let dense = MlpShape {
            inputs: shape.code,
            hidden: shape.dense.iter().rev().copied().collect(),
            outputs: meeting.iter().product(),
            activation: shape.activation,
            batch_norm: false, // only the convolutions have it
        };
        let after_dense = first_layer + shape.dense.len() as u64 + 1;
        let layers = (after_dense..).step_by(ResidualBlock::LAYERS as usize);
        let after_blocks = after_dense + ResidualBlock::LAYERS * plans.len() as u64;
        let last = mirrored(&shape.stem());
        let blocks = plans.iter().zip(layers);
        Self {
            dense: Mlp::new(&dense, seed, first_layer, compute),
            blocks: blocks
                .map(|(plan, layer)| ResidualBlock::new(*plan, seed, layer, compute))
                .collect(),
            norm: BatchNorm::new(last.inputs, LEAK, compute),
            last: Conv::new(last, seed, after_blocks, compute),
            bias: Param::from_tensor(Tensor::zeros([last.outputs], compute.device())),
            sizes,
            meeting,
        }
    }

    /// The same network, but each channel starts at the mean of its `outputs`.
    pub(crate) fn start_at(mut self, outputs: &[f32]) -> Self {
        let bias = self.bias.val();
        let [channels] = bias.dims();
        let pixels = outputs.len() / channels;
        let mean = |plane: &[f32]| plane.iter().sum::<f32>() / pixels as f32;
        let means: Vec<f32> = outputs.chunks_exact(pixels).map(mean).collect();
        let bias = Tensor::from_floats(means.as_slice(), &bias.device());
        self.bias = Param::from_tensor(bias);
        self
    }

    /// `z [rows, code]` to `[rows, channels * height * width]`, channel by channel.
    pub fn forward(&self, z: Tensor<2>) -> Tensor<2> {
        in_parts(z, |z| self.forward_together(z))
    }

    fn forward_together(&self, z: Tensor<2>) -> Tensor<2> {
        let [rows, _] = z.dims();
        let [height, width, channels] = self.meeting;
        let h = self
            .dense
            .forward(z)
            .reshape([rows, height, width, channels]);
        let blocks = self.blocks.iter().zip(&self.sizes);
        let h = blocks.fold(h, |h, (block, size)| block.forward(h, *size));
        let size = *self.sizes.last().expect("there is a block");
        let pixels = self.last.forward(self.norm.forward(h), size);
        let [_, height, width, channels] = pixels.dims();
        let pixels = pixels + self.bias.val().reshape([1, 1, 1, channels]);
        let planes = pixels.permute([0, 3, 1, 2]);
        planes.reshape([rows, channels * height * width])
    }

    /// See [`BatchNorm::update_running_statistics`].
    pub fn update_running_statistics(&mut self) {
        self.blocks
            .iter_mut()
            .for_each(ResidualBlock::update_running_statistics);
        self.norm.update_running_statistics();
    }
}
