//! Rows of several kinds: probabilities sum to one, gradients are correct, and a missing cell
//! contributes nothing.

mod toy;

use burn::tensor::{Tensor, TensorData};
use cpcvae::distribution::{CountScale, Mixed, NegativeBinomial, RowLayout};
use cpcvae::model::{Model, ModelKind, Shape};
use cpcvae::noise::{Noise, NoisePurpose};
use toy::{tensor, values};

const SCALE: CountScale = CountScale {
    mean: 1.2,
    scale: 0.8,
    largest: None,
};

/// One column of each kind; the category has three levels.
fn layout() -> RowLayout {
    RowLayout {
        numbers: 1,
        flags: 1,
        counts: vec![SCALE],
        categories: vec![3],
        can_be_missing: vec![0, 3],
    }
}

fn mixed(layout: &RowLayout, raw: Vec<f32>) -> Mixed {
    let rows = raw.len() / layout.parameters();
    let raw = tensor(raw, [rows, layout.parameters()]);
    Mixed::new(layout.clone(), 0.01, raw)
}

/// Parameters of a row: number (mean, scale), flag, count (log-mean, dispersion), levels.
const RAW: [f32; 8] = [0.4, -0.3, 0.7, 0.5, 0.2, 0.1, -0.6, 1.1];

fn log_prob(raw: &[f32], x: &[f32]) -> f64 {
    let x = tensor(x.to_vec(), [1, x.len()]);
    f64::from(values(mixed(&layout(), raw.to_vec()).log_prob(x))[0])
}

/// A row with the given values.
fn row(number: f32, flag: f32, count: f32, level: Option<usize>) -> Vec<f32> {
    let mut row = vec![number, flag, SCALE.encode(count), 0.0, 0.0, 0.0];
    match level {
        Some(level) => row[3 + level] = 1.0,
        None => row[3..].fill(f32::NAN),
    }
    row
}

#[test]
fn each_kind_adds_up_to_one() {
    let nan = f32::NAN;
    let p = |row: Vec<f32>| log_prob(&RAW, &row).exp();
    let flags = p(row(nan, 0.0, nan, None)) + p(row(nan, 1.0, nan, None));
    assert!((flags - 1.0).abs() < 1e-6, "{flags}");
    let levels: f64 = (0..3).map(|level| p(row(nan, nan, nan, Some(level)))).sum();
    assert!((levels - 1.0).abs() < 1e-6, "{levels}");
    let counts: f64 = (0..400).map(|k| p(row(nan, nan, k as f32, None))).sum();
    assert!((counts - 1.0).abs() < 1e-4, "{counts}");
    let cells = (0..3000).map(|i| -15.0 + 0.01 * (i as f32 + 0.5));
    let numbers: f64 = cells.map(|x| p(row(x, nan, nan, None)) * 0.01).sum();
    assert!((numbers - 1.0).abs() < 1e-4, "{numbers}");
}

#[test]
fn columns_are_independent_given_the_code() {
    let nan = f32::NAN;
    let whole = log_prob(&RAW, &row(0.3, 1.0, 4.0, Some(2)));
    let parts = [
        row(0.3, nan, nan, None),
        row(nan, 1.0, nan, None),
        row(nan, nan, 4.0, None),
        row(nan, nan, nan, Some(2)),
    ];
    let sum: f64 = parts.iter().map(|part| log_prob(&RAW, part)).sum();
    assert!((whole - sum).abs() < 1e-5, "{whole} {sum}");
}

/// The negative binomial's logarithm by sums of logarithms in f64:
/// lnG(k + r) - lnG(r) - lnG(k + 1) is the sum of ln((r + i) / (i + 1)).
fn log_negative_binomial(k: u32, mean: f64, r: f64) -> f64 {
    let ratio: f64 = (0..k)
        .map(|i| ((r + f64::from(i)) / f64::from(i + 1)).ln())
        .sum();
    ratio + r * (r / (r + mean)).ln() + f64::from(k) * (mean / (r + mean)).ln()
}

#[test]
fn the_negative_binomial_is_right_from_rare_to_huge_counts() {
    let inverse_softplus = |y: f64| if y > 20.0 { y } else { (y.exp() - 1.0).ln() } as f32;
    for r in [0.01, 0.5, 1.0, 7.5, 400.0] {
        for mean in [0.02f64, 1.0, 30.0, 20_000.0] {
            for k in [0, 1, 2, 17, 300, 50_000] {
                let cell = |value: f32| tensor(vec![value], [1, 1]);
                let distribution =
                    NegativeBinomial::from_raw(cell(mean.ln() as f32), cell(inverse_softplus(r)));
                let actual = f64::from(values(distribution.log_prob(cell(k as f32)))[0]);
                let expected = log_negative_binomial(k, mean, r);
                assert!(
                    (actual - expected).abs() < 2e-5 * expected.abs().max(50.0),
                    "k {k}, mean {mean}, r {r}: {actual} is not {expected}"
                );
            }
        }
    }
}

#[test]
fn gradients_match_finite_differences() {
    let x = row(0.3, 1.0, 4.0, Some(2));
    let raw = Tensor::<2>::from_data(TensorData::new(RAW.to_vec(), [1, 8]), &toy::device())
        .require_grad();
    let mixed = Mixed::new(layout(), 0.01, raw.clone());
    let gradients = mixed.log_prob(tensor(x.clone(), [1, 6])).sum().backward();
    let gradient = values(raw.grad(&gradients).expect("used"));
    for place in 0..RAW.len() {
        let at = |by: f32| {
            let mut raw = RAW;
            raw[place] += by;
            log_prob(&raw, &x)
        };
        let difference = (at(1e-2) - at(-1e-2)) / 2e-2;
        assert!(
            (f64::from(gradient[place]) - difference).abs() < 2e-3,
            "{place}: {} is not {difference}",
            gradient[place]
        );
    }
}

/// A missing cell gives its parameters a gradient of exactly 0 and changes no other.
#[test]
fn a_missing_cell_is_as_if_it_were_not_there() {
    let gradient = |x: Vec<f32>| {
        let raw = Tensor::<2>::from_data(TensorData::new(RAW.to_vec(), [1, 8]), &toy::device())
            .require_grad();
        let mixed = Mixed::new(layout(), 0.01, raw.clone());
        let gradients = mixed.log_prob(tensor(x, [1, 6])).sum().backward();
        values(raw.grad(&gradients).expect("used"))
    };
    let nan = f32::NAN;
    let whole = gradient(row(0.3, 1.0, 4.0, Some(2)));
    let parts: [(Vec<f32>, &[usize]); 4] = [
        (row(nan, 1.0, 4.0, Some(2)), &[0, 1]),
        (row(0.3, nan, 4.0, Some(2)), &[2]),
        (row(0.3, 1.0, nan, Some(2)), &[3, 4]),
        (row(0.3, 1.0, 4.0, None), &[5, 6, 7]),
    ];
    for (x, own) in parts {
        let part = gradient(x.clone());
        for place in 0..RAW.len() {
            let expected = if own.contains(&place) {
                0.0
            } else {
                whole[place]
            };
            assert_eq!(part[place], expected, "{x:?}, parameter {place}");
        }
    }
}

#[test]
fn one_row_serves_several_rows_of_parameters() {
    let other: Vec<f32> = RAW.iter().map(|value| value * 0.5 - 0.1).collect();
    let x = row(0.3, 0.0, f32::NAN, Some(1));
    let both = mixed(&layout(), [RAW.to_vec(), other.clone()].concat());
    let together = values(both.log_prob(tensor(x.clone(), [1, 6])));
    assert_eq!(f64::from(together[0]), log_prob(&RAW, &x));
    assert_eq!(f64::from(together[1]), log_prob(&other, &x));
}

/// Draws have the means of the distribution and valid values.
#[test]
fn draws_follow_the_distribution() {
    let rows = 20_000;
    let many = mixed(&layout(), RAW.repeat(rows));
    let draws = values(many.sample(&Noise::new(5, 0, &toy::device())));
    let column =
        |place: usize| -> Vec<f32> { draws.iter().skip(place).step_by(6).copied().collect() };
    let average = |values: &[f32]| values.iter().map(|v| f64::from(*v)).sum::<f64>() / rows as f64;
    let mean = values(mixed(&layout(), RAW.to_vec()).mean());
    for place in [0, 1, 3, 4, 5] {
        let drawn = average(&column(place));
        assert!(
            (drawn - f64::from(mean[place])).abs() < 0.02,
            "{place}: {drawn}"
        );
    }
    let whole = |value: f32| (value - value.round()).abs() < 1e-5;
    assert!(column(1).into_iter().chain(column(4)).all(whole));
    let counts: Vec<f32> = column(2).iter().map(|v| SCALE.decode(*v)).collect();
    assert!(
        counts
            .iter()
            .all(|count| (count - count.round()).abs() < 1e-2)
    );
    // Mean m and variance m + m^2 / r.
    let m = f64::from(0.5f32 * SCALE.scale + SCALE.mean).exp();
    let r = (1.0 + 0.2f64.exp()).ln();
    let drawn = average(&counts);
    let spread = counts.iter().map(|c| (f64::from(*c) - drawn).powi(2));
    let variance = spread.sum::<f64>() / rows as f64;
    assert!((drawn / m - 1.0).abs() < 0.05, "{drawn} is not {m}");
    assert!(
        (variance / (m + m * m / r) - 1.0).abs() < 0.15,
        "{variance}"
    );
}

/// The gradient of a draw is that of a reparameterised number, and of the mean of anything else.
#[test]
fn draws_carry_the_gradient_of_their_means() {
    let noise = Noise::new(5, 3, &toy::device());
    let epsilon = values(noise.normal(NoisePurpose::Features, [1, 1]))[0];
    let gradient = |drawn: bool| {
        let raw = Tensor::<2>::from_data(TensorData::new(RAW.to_vec(), [1, 8]), &toy::device())
            .require_grad();
        let mixed = Mixed::new(layout(), 0.01, raw.clone());
        let made = if drawn {
            mixed.sample(&noise)
        } else {
            mixed.mean()
        };
        let weights = tensor(vec![1.0, 2.0, 3.0, 1.0, 2.0, 4.0], [1, 6]);
        let gradients = (made * weights).sum().backward();
        values(raw.grad(&gradients).expect("used"))
    };
    let (drawn, mean) = (gradient(true), gradient(false));
    let slope = 1.0 / (1.0 + 0.3f32.exp()); // of softplus at -0.3
    assert!((drawn[1] - epsilon * slope).abs() < 1e-5, "{}", drawn[1]);
    for place in [0, 2, 3, 4, 5, 6, 7] {
        assert!((drawn[place] - mean[place]).abs() < 1e-6, "{place}");
    }
}

/// A model's output for a row does not depend on the values stored in missing cells, but on whether
/// they are missing.
#[test]
fn an_encoder_sees_which_cells_are_missing() {
    let shape = Shape {
        features: layout().width(),
        row: Some(layout()),
        ..toy::shape(ModelKind::Vae)
    };
    let Model::Vae(vae) = Model::new(&shape, 1, &toy::compute()) else {
        panic!("a VAE was asked for");
    };
    let code = |x: Vec<f32>| values(vae.encode(tensor(x, [1, 6])).mean());
    let missing = code(row(f32::NAN, 1.0, 4.0, None));
    let at_mean = code(row(0.0, 1.0, 4.0, None));
    assert!(missing.iter().all(|value| value.is_finite()));
    assert_ne!(missing, at_mean, "the mean is not the same as not known");
    let made = vae.missing_as_in(
        tensor(row(0.7, 0.0, 2.0, Some(1)), [1, 6]),
        tensor(row(f32::NAN, 1.0, 4.0, Some(0)), [1, 6]),
    );
    let made = values(made);
    assert!(made[0].is_nan() && made[1..].iter().all(|value| value.is_finite()));
}
