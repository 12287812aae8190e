//! Colour images: pixel by pixel in a data set, channel by channel in a model.

use burn::tensor::{Device, Tensor, TensorData};
use cpcvae::distribution::Family;
use cpcvae::model::{ModelKind, Observation, Shape, TransformPlan};
use cpcvae::net::spatial_transformer::TransformRanges;
use cpcvae::prepare::{FeatureScale, Preprocess};
use cpcvae_data::{Dataset, Labels, Layout, Matrix};

mod toy;

const HEIGHT: usize = 6;
const WIDTH: usize = 8;
const LAYOUT: Layout = Layout::Image {
    height: HEIGHT,
    width: WIDTH,
    channels: 3,
};

fn preprocess() -> Preprocess {
    Preprocess {
        layout: LAYOUT,
        features: FeatureScale::Pixels {
            low: -1.0,
            high: 1.0,
        },
        labels: None,
        label_offsets: Vec::new(),
    }
}

#[test]
fn an_image_survives_the_way_to_the_model_and_back() {
    // All values differ.
    let size = LAYOUT.width();
    let values: Vec<f32> = (0..2 * size)
        .map(|i| i as f32 / (2 * size) as f32)
        .collect();
    let features = Matrix::new(2, size, values).expect("fits");
    let data = Dataset::new("d", features.clone(), LAYOUT, Labels::None).expect("fits");
    let seen = preprocess().apply(data).expect("of the layout").features;
    // The green of the pixel in row 2, column 5, of the second image.
    let (pixel, green) = (2 * WIDTH + 5, 1);
    let in_user_order = features.row(1)[pixel * 3 + green];
    let in_model_order = seen.row(1)[green * HEIGHT * WIDTH + pixel];
    assert!((in_model_order - (2.0 * in_user_order - 1.0)).abs() < 1e-6);
    for (back, was) in preprocess()
        .invert(seen.matrix())
        .values
        .iter()
        .zip(&features.values)
    {
        assert!((back - was).abs() < 1e-6, "{back} {was}");
    }
}

#[test]
fn a_warped_canvas_of_one_colour_has_that_colour_in_every_pixel() {
    let shape = Shape {
        features: LAYOUT.width(),
        image: Some([HEIGHT, WIDTH, 3]),
        likelihood: Family::Normal,
        transform: Some(TransformPlan {
            ranges: TransformRanges::default(),
            canvas: 2.0,
        }),
        ..toy::shape(ModelKind::Vae)
    };
    let observation = Observation::new(&shape, &toy::compute());
    // Mean and variance of red, green and blue, a canvas each.
    let canvas = 4 * HEIGHT * WIDTH;
    assert_eq!(observation.decoder_outputs(), 2 * 3 * canvas);
    let colour = [0.9, 0.5, 0.1f32];
    let maps = colour.iter().map(|value| 2.0 * value - 1.0).chain([0.0; 3]);
    let raw: Vec<f32> = maps.flat_map(|map| vec![map; canvas]).collect();
    let tensor = |values: Vec<f32>| -> Tensor<2> {
        let width = values.len();
        Tensor::from_data(TensorData::new(values, [1, width]), &Device::flex())
    };
    // A small transform, so that no pixel reads outside of the canvas.
    let z_t = tensor(vec![0.2, -0.2, 0.3, 0.1, 0.2, -0.1]);
    let mean = observation.likelihood(tensor(raw), Some(z_t)).mean();
    let values: Vec<f32> = mean.into_data().try_into_vec().expect("f32");
    let made = Matrix::new(1, LAYOUT.width(), values).expect("fits");
    for pixel in preprocess().invert(made).values.chunks_exact(3) {
        for (value, wanted) in pixel.iter().zip(colour) {
            assert!((value - wanted).abs() < 1e-5, "{pixel:?} is not {colour:?}");
        }
    }
}
