//! Columns of several kinds, each with a distribution of its own.

use super::{Categorical, NegativeBinomial, RowLayout};
use crate::noise::{Noise, NoisePurpose};
use burn::tensor::{Tensor, activation};
use std::ops::Range;

const LN_2PI: f64 = 1.837_877_066_409_345_5;

/// Normals for numbers, Bernoullis for flags, negative binomials for counts, categoricals for
/// categories. Given the code, columns are independent; a missing cell is left out.
///
/// Values of rows are laid out as [`RowLayout`] says; `raw [rows, parameters]` as `[means of
/// numbers | their scales | logits of flags | log-means of counts | their dispersions | logits
/// of levels]`.
#[derive(Clone, Debug)]
pub struct Mixed {
    layout: RowLayout,
    scale_floor: f32,
    raw: Tensor<2>,
}

impl Mixed {
    /// The distribution with the decoder's unconstrained outputs `raw [rows, parameters]`;
    /// `scale_floor` is the smallest standard deviation of a number.
    pub fn new(layout: RowLayout, scale_floor: f32, raw: Tensor<2>) -> Self {
        Self {
            layout,
            scale_floor,
            raw,
        }
    }

    /// log p of the known cells of `x [rows, width]`, summed: `[rows]`. With fewer rows in `x`,
    /// each of them is used for several consecutive rows of parameters.
    ///
    /// A missing cell (NaN) adds exactly 0, to the sum and to every gradient.
    pub fn log_prob(&self, x: Tensor<2>) -> Tensor<1> {
        let ([rows, _], [given, width]) = (self.raw.dims(), x.dims());
        let x = match given == rows {
            true => x,
            false => x
                .reshape([given, 1, width])
                .repeat_dim(1, rows / given.max(1))
                .reshape([rows, width]),
        };
        let missing = x.clone().is_nan();
        let x = x.mask_fill(missing.clone(), 0.0);
        let of_known = |cells: Tensor<2>, places: Range<usize>| {
            let missing = missing.clone().slice([0..rows, places]);
            cells.mask_fill(missing, 0.0).sum_dim(1)
        };
        let part = |places: Range<usize>| x.clone().slice([0..rows, places]);
        let mut terms = Vec::new();
        if let Some((mean, sigma)) = self.numbers() {
            let places = self.layout.number_places();
            let distance = ((part(places.clone()) - mean) / sigma.clone()).square();
            let cells = (distance.add_scalar(LN_2PI)).mul_scalar(-0.5) - sigma.log();
            terms.push(of_known(cells, places));
        }
        if let Some(logits) = self.flags() {
            let places = self.layout.flag_places();
            // x l - log(1 + e^l), safe for large |l|.
            let cells = part(places.clone()) * logits.clone() - activation::softplus(logits, 1.0);
            terms.push(of_known(cells, places));
        }
        if let Some(counts) = self.counts() {
            let places = self.layout.count_places();
            let cells = counts.log_prob(self.decode_counts(part(places.clone())));
            terms.push(of_known(cells, places));
        }
        for (places, category) in self.layout.category_places().zip(self.categories()) {
            // A missing category is a block of zeros, which adds nothing to the product.
            terms.push((part(places) * category.log_probs()).sum_dim(1));
        }
        terms
            .into_iter()
            .reduce(|sum, term| sum + term)
            .expect("a row has at least one column")
            .reshape([rows])
    }

    /// One draw for each row, `[rows, width]`. Numbers are differentiable draws. Flags, levels and
    /// counts are drawn with the gradient of their mean (straight-through), since discrete draws
    /// have none of their own.
    pub fn sample(&self, noise: &Noise) -> Tensor<2> {
        let [rows, _] = self.raw.dims();
        let through = |drawn: Tensor<2>, mean: Tensor<2>| (drawn - mean.clone()).detach() + mean;
        let mut parts = Vec::new();
        if let Some((mean, sigma)) = self.numbers() {
            parts.push(
                mean + sigma * noise.normal(NoisePurpose::Features, [rows, self.layout.numbers]),
            );
        }
        // Flags, then levels, then counts use columns of one noise matrix.
        let (flags, counts) = (self.layout.flags, self.counts());
        let levels = self.layout.categories.iter().sum::<usize>();
        let for_counts = counts.as_ref().map_or(0, |counts| counts.noise_shape()[1]);
        let uniform = noise.uniform(NoisePurpose::Levels, [rows, flags + levels + for_counts]);
        let uniform = |places: Range<usize>| uniform.clone().slice([0..rows, places]);
        if let Some(logits) = self.flags() {
            let mean = activation::sigmoid(logits);
            let drawn = uniform(0..flags).lower(mean.clone().detach()).float();
            parts.push(through(drawn, mean));
        }
        if let Some(counts) = counts {
            let from = flags + levels;
            let drawn = counts.draw(uniform(from..from + for_counts));
            parts.push(through(
                self.encode_counts(drawn),
                self.encode_counts(counts.mean()),
            ));
        }
        let first = self.layout.count_places().end;
        for (places, category) in self.layout.category_places().zip(self.categories()) {
            let places = places.start - first + flags..places.end - first + flags;
            // The level with the largest log P plus Gumbel noise is a draw from P.
            let gumbel = uniform(places).clamp_min(1e-12).log().neg().log().neg();
            let score = category.log_probs().detach() + gumbel;
            let drawn = score.clone().greater_equal(score.max_dim(1)).float();
            parts.push(through(drawn, category.probs()));
        }
        Tensor::cat(parts, 1)
    }

    /// Means of numbers, probabilities of flags and levels, encoded means of counts:
    /// `[rows, width]`.
    pub fn mean(&self) -> Tensor<2> {
        let numbers = self.numbers().map(|(mean, _)| mean);
        let flags = self.flags().map(activation::sigmoid);
        let counts = self
            .counts()
            .map(|counts| self.encode_counts(counts.mean()));
        let levels = self.categories().map(|category| category.probs());
        let parts = [numbers, flags, counts].into_iter().flatten();
        Tensor::cat(parts.chain(levels).collect(), 1)
    }

    /// Means and standard deviations, `[rows, numbers]` each.
    fn numbers(&self) -> Option<(Tensor<2>, Tensor<2>)> {
        let numbers = self.layout.numbers;
        (numbers > 0).then(|| {
            let raw_scale = self.part(numbers..2 * numbers);
            let sigma = activation::softplus(raw_scale, 1.0).add_scalar(self.scale_floor);
            (self.part(0..numbers), sigma)
        })
    }

    /// Logits, `[rows, flags]`.
    fn flags(&self) -> Option<Tensor<2>> {
        let (from, flags) = (2 * self.layout.numbers, self.layout.flags);
        (flags > 0).then(|| self.part(from..from + flags))
    }

    fn counts(&self) -> Option<NegativeBinomial> {
        let (from, counts) = (self.counts_from(), self.layout.counts.len());
        (counts > 0).then(|| {
            // In the units of the encoded counts, so that outputs near 0 fit the training rows.
            let log_mean = self.part(from..from + counts) * self.count_row(|c| c.scale)
                + self.count_row(|c| c.mean);
            NegativeBinomial::from_raw(log_mean, self.part(from + counts..from + 2 * counts))
        })
    }

    fn categories(&self) -> impl Iterator<Item = Categorical> {
        // In the parameters a number or a count takes two places before the levels, in a row only
        // one.
        let shift = self.layout.numbers + self.layout.counts.len();
        self.layout.category_places().map(move |places| {
            Categorical::from_logits(self.part(places.start + shift..places.end + shift))
        })
    }

    fn counts_from(&self) -> usize {
        2 * self.layout.numbers + self.layout.flags
    }

    fn part(&self, places: Range<usize>) -> Tensor<2> {
        let [rows, _] = self.raw.dims();
        self.raw.clone().slice([0..rows, places])
    }

    /// The standardised log(1 + count) for `[rows, counts]`.
    fn encode_counts(&self, counts: Tensor<2>) -> Tensor<2> {
        (counts.log1p() - self.count_row(|c| c.mean)) / self.count_row(|c| c.scale)
    }

    /// The inverse of `encode_counts`, rounded: `[rows, counts]`.
    fn decode_counts(&self, encoded: Tensor<2>) -> Tensor<2> {
        (encoded * self.count_row(|c| c.scale) + self.count_row(|c| c.mean))
            .exp()
            .sub_scalar(1.0)
            .round()
            .clamp_min(0.0)
    }

    /// One field of each count's scale, `[1, counts]`.
    fn count_row(&self, of: impl Fn(&super::CountScale) -> f32) -> Tensor<2> {
        let values: Vec<f32> = self.layout.counts.iter().map(of).collect();
        let counts = values.len();
        Tensor::<1>::from_floats(values.as_slice(), &self.raw.device()).reshape([1, counts])
    }
}
