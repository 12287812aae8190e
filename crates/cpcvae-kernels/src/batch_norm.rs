//! Batch normalisation followed by a leaky rectifier: `y = leaky(scale (x - mean) / sd + shift)`
//! for each channel, channels last, and its gradients.

use crate::isa::Isa;
use crate::math::fma;
use crate::parallel;

/// Added to variances, so that a constant channel can be divided by its standard deviation.
pub const EPSILON: f32 = 1e-5;

/// The affine map and rectifier after the normalisation.
#[derive(Clone, Copy, Debug)]
pub struct Rescale<'a> {
    /// `[channels]`
    pub scale: &'a [f32],
    /// `[channels]`
    pub shift: &'a [f32],
    /// Slope of the rectifier below zero: 0 for ReLU, 1 for none.
    pub leak: f32,
}

/// The sizes of the input, `[rows, channels]`: a row is a pixel of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NormShape {
    /// Pixels of all images.
    pub rows: usize,
    /// Channels.
    pub channels: usize,
}

impl NormShape {
    /// Elements of a piece of work, which consists of complete rows.
    fn piece(&self) -> usize {
        (parallel::rows_per_piece(self.channels) * self.channels).max(1)
    }

    fn check(&self, arrays: &[&[f32]], of_channels: &[&[f32]]) {
        assert!(arrays.iter().all(|a| a.len() == self.rows * self.channels));
        assert!(of_channels.iter().all(|a| a.len() == self.channels));
    }
}

/// The statistics of each channel.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistics {
    /// `[channels]`
    pub mean: Vec<f32>,
    /// The variance, with the number of rows as divisor, `[channels]`.
    pub variance: Vec<f32>,
}

impl Statistics {
    fn inverse_sd(&self) -> Vec<f32> {
        let inverse = |variance: &f32| 1.0 / (variance + EPSILON).sqrt();
        self.variance.iter().map(inverse).collect()
    }

    /// `[scale / sd, shift - mean scale / sd]`: normalising is one multiply-add.
    fn as_line(&self, rescale: Rescale) -> [Vec<f32>; 2] {
        let slope: Vec<f32> = self
            .inverse_sd()
            .iter()
            .zip(rescale.scale)
            .map(|(i, s)| i * s)
            .collect();
        let lines = slope.iter().zip(&self.mean).zip(rescale.shift);
        let offset = lines
            .map(|((slope, mean), shift)| shift - mean * slope)
            .collect();
        [slope, offset]
    }
}

/// Mean and variance of each channel of `x [rows, channels]`; both 0 without rows.
///
/// Pieces of rows are centred before they are squared, and combined in double precision, so that a
/// mean far from zero loses no precision.
///
/// # Panics
/// If the length does not fit the shape.
pub fn statistics(shape: &NormShape, x: &[f32]) -> Statistics {
    shape.check(&[x], &[]);
    let (isa, channels) = (Isa::current(), shape.channels);
    let mut moments = vec![0.0; x.len().div_ceil(shape.piece()) * 2 * channels];
    let pieces = x.chunks(shape.piece());
    let places = moments.chunks_mut((2 * channels).max(1));
    parallel::timed_for_each(
        "norm: statistics",
        2 * x.len(),
        pieces.zip(places),
        |(x, moments)| {
            let (mean, squares) = moments.split_at_mut(channels);
            piece_moments(isa, x, mean, squares);
        },
    );
    let (mut mean, mut squares) = (vec![0.0f64; channels], vec![0.0f64; channels]);
    let mut before = 0.0;
    for (x, moments) in x
        .chunks(shape.piece())
        .zip(moments.chunks((2 * channels).max(1)))
    {
        let rows = (x.len() / channels) as f64;
        let all = before + rows;
        let (piece_mean, piece_squares) = moments.split_at(channels);
        let of_piece = piece_mean.iter().zip(piece_squares);
        for (((new_mean, new_squares), mean), squares) in of_piece.zip(&mut mean).zip(&mut squares)
        {
            let apart = f64::from(*new_mean) - *mean;
            *squares += f64::from(*new_squares) + apart * apart * before * rows / all;
            *mean += apart * rows / all;
        }
        before = all;
    }
    let divisor = before.max(1.0);
    Statistics {
        mean: mean.into_iter().map(|mean| mean as f32).collect(),
        variance: squares.into_iter().map(|s| (s / divisor) as f32).collect(),
    }
}

/// `y [rows, channels]` from `x [rows, channels]`.
///
/// # Panics
/// If a slice's length does not fit the shape.
pub fn forward(
    shape: &NormShape,
    statistics: &Statistics,
    rescale: Rescale,
    x: &[f32],
    y: &mut [f32],
) {
    shape.check(&[x, y], &[rescale.scale, rescale.shift, &statistics.mean]);
    let isa = Isa::current();
    let [slope, offset] = statistics.as_line(rescale);
    let pieces = x.chunks(shape.piece()).zip(y.chunks_mut(shape.piece()));
    parallel::timed_for_each("norm: forward", x.len(), pieces, |(x, y)| {
        normalise(isa, &slope, &offset, rescale.leak, x, y);
    });
}

/// Gradients `[gx [rows, channels], g_scale [channels], g_shift [channels]]` of [`forward`] from
/// the gradient `gy [rows, channels]` of its output. `of_batch` says that the statistics are those
/// of `x` itself, so that gradients flow through them; otherwise they are constants. `skip [rows,
/// channels]`, if given, is added to `gx`.
///
/// # Panics
/// If a slice's length does not fit the shape.
#[allow(clippy::too_many_arguments)]
pub fn backward(
    shape: &NormShape,
    (statistics, of_batch): (&Statistics, bool),
    rescale: Rescale,
    x: &[f32],
    gy: &[f32],
    skip: Option<&[f32]>,
    [gx, g_scale, g_shift]: [&mut [f32]; 3],
) {
    let Rescale { scale, shift, leak } = rescale;
    shape.check(&[x, gy, gx], &[scale, shift, g_scale, g_shift]);
    shape.check(skip.as_slice(), &[]);
    let (isa, channels) = (Isa::current(), shape.channels);
    let [slope, offset] = statistics.as_line(rescale);
    let mut partial = vec![0.0; x.len().div_ceil(shape.piece()) * 2 * channels];
    let pieces = x.chunks(shape.piece()).zip(gy.chunks(shape.piece()));
    let places = partial.chunks_mut((2 * channels).max(1));
    parallel::timed_for_each(
        "norm: backward",
        2 * x.len(),
        pieces.zip(places),
        |((x, gy), sums)| {
            let (along, plain) = sums.split_at_mut(channels);
            let mean = &statistics.mean;
            sum_gradients(isa, &slope, &offset, mean, leak, x, gy, along, plain);
        },
    );
    g_scale.fill(0.0);
    g_shift.fill(0.0);
    for sums in partial.chunks((2 * channels).max(1)) {
        let (along, plain) = sums.split_at(channels);
        g_scale
            .iter_mut()
            .zip(along)
            .for_each(|(sum, new)| *sum += new);
        g_shift
            .iter_mut()
            .zip(plain)
            .for_each(|(sum, new)| *sum += new);
    }
    let inverse_sd = statistics.inverse_sd();
    g_scale
        .iter_mut()
        .zip(&inverse_sd)
        .for_each(|(sum, inverse)| *sum *= inverse);
    // gx = slope (gz - mean(gz) - x-hat mean(gz x-hat)), with x-hat = (x - mean) / sd: affine in x.
    let rows = shape.rows.max(1) as f32;
    let of_channel = slope.iter().zip(&inverse_sd).zip(&statistics.mean);
    let sums = g_scale.iter().zip(g_shift.iter());
    let (by_x, constant): (Vec<f32>, Vec<f32>) = of_channel
        .zip(sums)
        .map(|(((slope, inverse), mean), (along, plain))| {
            if !of_batch {
                return (0.0, 0.0);
            }
            let by_x = -slope * inverse * along / rows;
            (by_x, -slope * plain / rows - by_x * mean)
        })
        .unzip();
    let pieces = x.chunks(shape.piece()).zip(gy.chunks(shape.piece()));
    let pieces = pieces.zip(gx.chunks_mut(shape.piece())).enumerate();
    parallel::timed_for_each(
        "norm: backward",
        2 * x.len(),
        pieces,
        |(piece, ((x, gy), gx))| {
            input_gradients(isa, &slope, &offset, &by_x, &constant, leak, x, gy, gx);
            if let Some(skip) = skip {
                let start = piece * shape.piece();
                add(isa, &skip[start..start + gx.len()], gx);
            }
        },
    );
}

kernel! {
    /// Mean and sum of squared differences from it, `[channels]` each, of the rows of `x`.
    fn piece_moments<FMA>(x: &[f32], mean: &mut [f32], squares: &mut [f32]) {
        let channels = mean.len();
        let rows = (x.len() / channels) as f32;
        mean.fill(0.0);
        squares.fill(0.0);
        for row in x.chunks_exact(channels) {
            for (sum, x) in mean.iter_mut().zip(row) {
                *sum += x;
            }
        }
        for mean in mean.iter_mut() {
            *mean /= rows;
        }
        for row in x.chunks_exact(channels) {
            for ((sum, mean), x) in squares.iter_mut().zip(mean.iter()).zip(row) {
                let apart = x - mean;
                *sum = fma::<FMA>(apart, apart, *sum);
            }
        }
    }
}

kernel! {
    fn normalise<FMA>(slope: &[f32], offset: &[f32], leak: f32, x: &[f32], y: &mut [f32]) {
        let channels = slope.len();
        for (x, y) in x.chunks_exact(channels).zip(y.chunks_exact_mut(channels)) {
            for (((x, y), slope), offset) in x.iter().zip(y).zip(slope).zip(offset) {
                let z = fma::<FMA>(*x, *slope, *offset);
                *y = if z > 0.0 { z } else { leak * z };
            }
        }
    }
}

kernel! {
    /// Sums over rows of `gz (x - mean)` and of `gz`, the gradient before the rectifier.
    fn sum_gradients<FMA>(
        slope: &[f32], offset: &[f32], mean: &[f32], leak: f32, x: &[f32], gy: &[f32],
        along: &mut [f32], plain: &mut [f32],
    ) {
        let channels = slope.len();
        along.fill(0.0);
        plain.fill(0.0);
        for (x, gy) in x.chunks_exact(channels).zip(gy.chunks_exact(channels)) {
            let of_channel = slope.iter().zip(offset).zip(mean);
            let sums = along.iter_mut().zip(plain.iter_mut());
            for (((x, gy), ((slope, offset), mean)), (along, plain)) in
                x.iter().zip(gy).zip(of_channel).zip(sums)
            {
                let z = fma::<FMA>(*x, *slope, *offset);
                let gz = if z > 0.0 { *gy } else { leak * gy };
                *along = fma::<FMA>(gz, x - mean, *along);
                *plain += gz;
            }
        }
    }
}

kernel! {
    fn add<FMA>(added: &[f32], sums: &mut [f32]) {
        for (sum, added) in sums.iter_mut().zip(added) {
            *sum += added;
        }
    }
}

kernel! {
    /// `gx = slope gz + by_x x + constant`.
    fn input_gradients<FMA>(
        slope: &[f32], offset: &[f32], by_x: &[f32], constant: &[f32], leak: f32, x: &[f32],
        gy: &[f32], gx: &mut [f32],
    ) {
        let channels = slope.len();
        let rows = x.chunks_exact(channels).zip(gy.chunks_exact(channels));
        for ((x, gy), gx) in rows.zip(gx.chunks_exact_mut(channels)) {
            let of_channel = slope.iter().zip(offset).zip(by_x.iter().zip(constant));
            for (((x, gy), gx), ((slope, offset), (by_x, constant))) in
                x.iter().zip(gy).zip(gx).zip(of_channel)
            {
                let z = fma::<FMA>(*x, *slope, *offset);
                let gz = if z > 0.0 { *gy } else { leak * gy };
                *gx = fma::<FMA>(*slope, gz, fma::<FMA>(*by_x, *x, *constant));
            }
        }
    }
}
