//! TPE and importances compared with Optuna's, on the same trials. Values are printed by
//! `tests/reference/tpe.py` (Optuna 5.0.0).

use cpcvae_search::{Sampler, Space, Tpe, Trial, TrialState, importances};

const SPACE: &str = r#"
rate = { low = 1e-4, high = 1.0, log = true }
weight = { low = -2.0, high = 3.0 }
units = { low = 1, high = 4000, log = true }
layers = { low = 1, high = 500 }
kind = { choices = ["a", "b", "c"] }
"#;

/// In the script's order; TOML tables are sorted by their keys.
const ORDER: [&str; 5] = ["rate", "weight", "units", "layers", "kind"];

fn space() -> Space {
    Space::from_toml("test", SPACE, &|_| None).expect("a space")
}

fn share(trial: usize, place: usize) -> f64 {
    ((trial + 1) as f64 * (place + 1) as f64 * 0.618_033_988_749_894_9) % 1.0
}

fn made(number: usize) -> Trial {
    let s: Vec<f64> = (0..5).map(|place| share(number, place)).collect();
    let values = [
        (1e-4_f64.ln() * (1.0 - s[0])).exp(),
        -2.0 + 5.0 * s[1],
        1.0 + (3999.9 * s[2]).floor(),
        1.0 + (499.9 * s[3]).floor(),
        (3.0 * s[4]).floor(),
    ];
    let value = (values[0].log10() + 2.0).powi(2)
        + (values[1] - 1.0).powi(2)
        + f64::from(u8::from(values[4] == 1.0))
        + 0.001 * values[3];
    let is_pruned = number % 5 == 4;
    Trial {
        params: ORDER.map(String::from).into_iter().zip(values).collect(),
        value: Some(value),
        reports: [(10 + number as u64 % 3, value)].into(),
        ..Trial::new(
            number,
            number,
            if is_pruned {
                TrialState::Pruned
            } else {
                TrialState::Complete
            },
        )
    }
}

fn trials(count: usize) -> Vec<Trial> {
    (0..count).map(made).collect()
}

#[test]
fn points_promise_what_they_do_in_optuna() {
    let space = space();
    let expected = [
        (
            12,
            [
                -3.13202905563411,
                -0.09189606092286695,
                -3.6488083177024286,
                4.347369449466829,
            ],
        ),
        (
            40,
            [
                -6.0209910685298205,
                -8.65931536706207,
                -8.770431057844297,
                -4.090721321507717,
            ],
        ),
    ];
    for (count, promises) in expected {
        for (number, expected) in (100..).zip(promises) {
            let params = made(number).params;
            let point: Vec<f64> = space.parameters.iter().map(|p| params[&p.name]).collect();
            let promise = Tpe::default().promise(&space, &trials(count), &point);
            let gap = (promise - expected).abs();
            assert!(gap < 1e-6, "{count} {number}: {promise} {expected}");
        }
    }
}

#[test]
fn importances_are_those_of_optuna() {
    let expected = [
        (12, "layers", 0.404059195525607),
        (12, "weight", 0.2790294322430869),
        (12, "rate", 0.2609243610899776),
        (12, "units", 0.05225989491263608),
        (12, "kind", 0.003727116228692563),
        (40, "weight", 0.39298167104605425),
        (40, "units", 0.2795905374348803),
        (40, "layers", 0.2026796390561367),
        (40, "kind", 0.1019500499084282),
        (40, "rate", 0.022798102554500477),
    ];
    for count in [12, 40] {
        let ours = importances(&space(), &trials(count));
        let expected: Vec<_> = expected.iter().filter(|one| one.0 == count).collect();
        for ((name, value), (_, of_optuna, importance)) in ours.iter().zip(expected) {
            assert_eq!(name, of_optuna);
            assert!((value - importance).abs() < 1e-6, "{name} {value}");
        }
    }
    assert!(importances(&space(), &trials(1)).is_empty());
}

/// The best of 60 trials for many seeds, sorted.
fn best_of(sampler: Sampler, space: &Space, function: fn(&[f64]) -> f64) -> Vec<f64> {
    let mut best: Vec<f64> = (0..40)
        .map(|seed| {
            let mut trials: Vec<Trial> = Vec::new();
            for number in 0..60 {
                let params = sampler.propose(space, &trials, seed, &Default::default());
                let x: Vec<f64> = params.values().copied().collect();
                trials.push(Trial {
                    value: Some(function(&x)),
                    params,
                    ..Trial::new(number, number, TrialState::Complete)
                });
            }
            let values = trials.iter().filter_map(|trial| trial.value);
            values.fold(f64::INFINITY, f64::min)
        })
        .collect();
    best.sort_by(f64::total_cmp);
    best
}

fn cube(low: f64, high: f64, dimensions: usize) -> Space {
    let line = |i: usize| format!("x{i} = {{ low = {low:?}, high = {high:?} }}\n");
    let text: String = (0..dimensions).map(line).collect();
    Space::from_toml("test", &text, &|_| None).expect("a space")
}

fn sphere(x: &[f64]) -> f64 {
    x.iter().map(|v| v * v).sum()
}

fn rastrigin(x: &[f64]) -> f64 {
    let one = |v: &f64| 10.0 + v * v - 10.0 * (std::f64::consts::TAU * v).cos();
    x.iter().map(one).sum()
}

fn branin(x: &[f64]) -> f64 {
    use std::f64::consts::PI;
    let (a, b) = (x[0], x[1]);
    (b - 5.1 / (4.0 * PI * PI) * a * a + 5.0 / PI * a - 6.0).powi(2)
        + 10.0 * (1.0 - 1.0 / (8.0 * PI)) * a.cos()
        + 10.0
}

#[test]
fn it_finds_as_good_minima_as_optuna() {
    type Function = fn(&[f64]) -> f64;
    let spaces: [(&str, Function, Space, [f64; 2]); 3] = [
        // Quartiles of Optuna's best of 60 trials, over 40 seeds.
        ("sphere", sphere, cube(-5.0, 5.0, 5), [0.5308, 1.028]),
        ("rastrigin", rastrigin, cube(-5.12, 5.12, 2), [2.382, 7.992]),
        ("branin", branin, branin_space(), [0.434, 0.6514]),
    ];
    for (name, function, space, [low, high]) in spaces {
        let median = |sampler| best_of(sampler, &space, function)[20];
        let (tpe, random) = (median(Sampler::Tpe), median(Sampler::Random));
        assert!(tpe < random, "{name}: {tpe}, by chance {random}");
        assert!((low..=high).contains(&tpe), "{name}: {tpe} {low} {high}");
    }
}

fn branin_space() -> Space {
    let text = "x0 = { low = -5.0, high = 10.0 }\nx1 = { low = 0.0, high = 15.0 }";
    Space::from_toml("test", text, &|_| None).expect("a space")
}

#[test]
fn quasi_random_points_cover_every_half_alike() {
    let space = cube(0.0, 1.0, 6);
    let mut trials: Vec<Trial> = Vec::new();
    for number in 0..64 {
        let params = Sampler::QuasiRandom.propose(&space, &trials, 7, &Default::default());
        trials.push(Trial {
            params,
            ..Trial::new(number, number, TrialState::Running)
        });
    }
    for parameter in &space.parameters {
        // Of 64 points of a Sobol' sequence, one is in each 64th of every axis.
        let mut there = [0; 64];
        for trial in &trials {
            there[(trial.params[&parameter.name] * 64.0) as usize] += 1;
        }
        assert_eq!(there, [1; 64], "{}", parameter.name);
    }
}

#[test]
fn what_is_not_there_is_not_drawn_and_fixed_values_stay() {
    let text = "a = { choices = [\"on\", \"off\"] }\n                b = { low = 0.0, high = 1.0, when = { a = \"on\" } }";
    let space = Space::from_toml("test", text, &|_| None).expect("a space");
    for sampler in [Sampler::Random, Sampler::QuasiRandom, Sampler::Tpe] {
        let mut trials: Vec<Trial> = Vec::new();
        for number in 0..40 {
            let params = sampler.propose(&space, &trials, 3, &Default::default());
            assert_eq!(params.contains_key("b"), params["a"] == 0.0, "{sampler:?}");
            let value = params.get("b").map_or(2.0, |b| (b - 0.3).abs());
            trials.push(Trial {
                value: Some(value),
                params,
                ..Trial::new(number, number, TrialState::Complete)
            });
        }
        let off = trials
            .iter()
            .filter(|trial| trial.params["a"] == 1.0)
            .count();
        assert!((1..30).contains(&off), "{sampler:?}: {off}");
        let fixed = [("a".to_string(), 0.0), ("b".to_string(), 0.625)].into();
        assert_eq!(sampler.propose(&space, &trials, 3, &fixed), fixed);
    }
}
