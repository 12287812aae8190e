//! Two interleaved half circles in the plane, as scikit-learn's `make_moons` draws them.

use crate::random::{RandomPurpose, generator};
use crate::{
    DataError, Dataset, Holdout, Labels, Layout, Matrix, Result, Source, Split, SplitPlan,
};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};
use std::f32::consts::PI;

/// Which points carry the labels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HalfMoonLabels {
    /// The paper's setting: the labelled points are evenly spaced along the arcs, with half the
    /// noise, and the test set is the unlabelled rows. A few labels placed like this nearly solve
    /// the task by themselves.
    #[default]
    EvenlySpaced,
    /// The fair setting: the labelled points are drawn at random, equally many a class, from the
    /// same rows as all others, and the test set is a new draw.
    Random,
}

/// The settings of the half-moon data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HalfMoon {
    /// All training rows, labelled and unlabelled.
    pub rows: usize,
    /// How many of them are labelled.
    pub labels: usize,
    /// Standard deviation of the normal noise on each coordinate.
    pub noise: f32,
    /// Which points carry the labels.
    pub setting: HalfMoonLabels,
    /// Where the noise and the random labels come from.
    pub seed: u64,
}

impl Default for HalfMoon {
    /// The paper's figure: 1,000 rows, of which 6 labelled.
    fn default() -> HalfMoon {
        HalfMoon {
            rows: 1000,
            labels: 6,
            noise: 0.1,
            setting: HalfMoonLabels::EvenlySpaced,
            seed: 0,
        }
    }
}

const FRESH_TEST_ROWS: usize = 1000;

impl HalfMoon {
    /// Draws the rows. Every row carries its true class; the split says which
    /// labels training may see.
    pub fn generate(&self) -> Result<Source> {
        self.check()?;
        match self.setting {
            HalfMoonLabels::EvenlySpaced => self.evenly_spaced(),
            HalfMoonLabels::Random => self.random(),
        }
    }

    fn evenly_spaced(&self) -> Result<Source> {
        let mut points = self.moons(
            self.labels,
            self.noise / 2.0,
            RandomPurpose::HalfMoonLabelled,
        );
        points.extend(self.moons(
            self.rows - self.labels,
            self.noise,
            RandomPurpose::HalfMoonRows,
        ));
        let rows = dataset(points)?;
        let split = Split {
            labelled: (0..self.labels as u32).collect(),
            unlabelled: (self.labels as u32..self.rows as u32).collect(),
            ..Split::default()
        };
        Ok(Source {
            test: Some(rows.select(&split.unlabelled)),
            rows,
            split: Some(split),
        })
    }

    fn random(&self) -> Result<Source> {
        let rows = dataset(self.moons(self.rows, self.noise, RandomPurpose::HalfMoonRows))?;
        let plan = SplitPlan {
            labels: Some(self.labels),
            validation: Holdout::None,
            test: Holdout::None,
            seed: self.seed,
        };
        Ok(Source {
            split: Some(Split::draw(&rows, &plan)?),
            test: Some(dataset(self.moons(
                FRESH_TEST_ROWS,
                self.noise,
                RandomPurpose::HalfMoonTest,
            ))?),
            rows,
        })
    }

    /// Points evenly spaced along both arcs, the outer arc (class 0) first.
    fn moons(&self, count: usize, noise: f32, purpose: RandomPurpose) -> Vec<Point> {
        let mut random = generator(self.seed, purpose, 0);
        let outer = count / 2;
        let inner = count - outer;
        let on_outer = arc(outer).map(|t| (t.cos(), t.sin(), 0));
        let on_inner = arc(inner).map(|t| (1.0 - t.cos(), 0.5 - t.sin(), 1));
        on_outer
            .chain(on_inner)
            .map(|(x1, x2, class)| Point {
                x1: x1 + noise * normal(&mut random),
                x2: x2 + noise * normal(&mut random),
                class,
            })
            .collect()
    }

    fn check(&self) -> Result<()> {
        let problem = if self.labels < 2 {
            format!(
                "it has two classes, so it needs at least 2 labels, not {}",
                self.labels
            )
        } else if self.rows <= self.labels {
            format!(
                "{} rows leave none unlabelled next to {} labelled ones; ask for more rows or fewer labels",
                self.rows, self.labels
            )
        } else if u32::try_from(self.rows).is_err() {
            format!("{} rows are too many", self.rows)
        } else if !(self.noise.is_finite() && self.noise >= 0.0) {
            format!("noise must be a number of at least 0, not {}", self.noise)
        } else {
            return Ok(());
        };
        Err(DataError::Generate {
            dataset: "half-moon",
            problem,
        })
    }
}

struct Point {
    x1: f32,
    x2: f32,
    class: u32,
}

/// `count` angles from 0 to pi, both ends included.
fn arc(count: usize) -> impl Iterator<Item = f32> {
    let step = PI / count.saturating_sub(1).max(1) as f32;
    (0..count).map(move |i| step * i as f32)
}

fn normal(random: &mut impl Rng) -> f32 {
    StandardNormal.sample(random)
}

fn dataset(points: Vec<Point>) -> Result<Dataset> {
    let values = points.iter().flat_map(|p| [p.x1, p.x2]).collect();
    Dataset::new(
        "half-moon",
        Matrix::new(points.len(), 2, values)?,
        Layout::Columns(vec!["x1".into(), "x2".into()]),
        Labels::Classes {
            names: vec!["0".into(), "1".into()],
            of_row: points.iter().map(|p| Some(p.class)).collect(),
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `make_moons(6, shuffle=False)`, at the angles 0, pi/2 and pi of its two formulas.
    const SIX_POINTS: [f32; 12] = [
        1.0, 0.0, 0.0, 1.0, -1.0, 0.0, // outer arc
        0.0, 0.5, 1.0, -0.5, 2.0, 0.5, // inner arc
    ];

    #[test]
    fn without_noise_the_labelled_points_are_those_of_make_moons() {
        let source = HalfMoon {
            noise: 0.0,
            ..HalfMoon::default()
        }
        .generate()
        .unwrap();
        let split = source.split.unwrap();
        let labelled = source.rows.select(&split.labelled);
        for (value, expected) in labelled.features.matrix().values.iter().zip(SIX_POINTS) {
            assert!((value - expected).abs() < 1e-6, "{value} is not {expected}");
        }
        let classes: Vec<_> = (0..6)
            .map(|row| labelled.labels.class_of(row).unwrap())
            .collect();
        assert_eq!(classes, [0, 0, 0, 1, 1, 1]);
        split.check(1000).unwrap();
        assert_eq!(source.test.unwrap().len(), 994);
    }

    /// Root mean square distance from the noise-free points.
    fn spread(noisy: &Dataset, clean: &Dataset) -> f32 {
        let (noisy, clean) = (
            noisy.features.matrix().values,
            clean.features.matrix().values,
        );
        let squares = noisy.iter().zip(&clean).map(|(a, b)| (a - b).powi(2));
        (squares.sum::<f32>() / noisy.len() as f32).sqrt()
    }

    #[test]
    fn labelled_points_have_half_the_noise() {
        let noisy = HalfMoon {
            rows: 2000,
            labels: 1000,
            ..HalfMoon::default()
        };
        let clean = HalfMoon {
            noise: 0.0,
            ..noisy.clone()
        };
        let (noisy, clean) = (noisy.generate().unwrap(), clean.generate().unwrap());
        let split = noisy.split.unwrap();
        let of = |rows: &[u32]| spread(&noisy.rows.select(rows), &clean.rows.select(rows));
        assert!((of(&split.labelled) - 0.05).abs() < 0.003);
        assert!((of(&split.unlabelled) - 0.1).abs() < 0.006);
    }

    #[test]
    fn random_labels_are_balanced_and_the_test_set_is_fresh() {
        let moon = HalfMoon {
            setting: HalfMoonLabels::Random,
            seed: 3,
            ..HalfMoon::default()
        };
        let source = moon.generate().unwrap();
        let split = source.split.unwrap();
        split.check(1000).unwrap();
        assert_eq!((split.labelled.len(), split.unlabelled.len()), (6, 994));
        let ones = split
            .labelled
            .iter()
            .filter(|&&row| source.rows.labels.class_of(row) == Some(1));
        assert_eq!(ones.count(), 3);
        let test = source.test.unwrap();
        assert_eq!(test.len(), 1000);
        assert!((0..1000).all(|i| test.features.row(i) != source.rows.features.row(i)));
    }

    #[test]
    fn the_seed_decides() {
        let values = |seed| {
            HalfMoon {
                seed,
                ..HalfMoon::default()
            }
            .generate()
            .unwrap()
            .rows
            .features
            .matrix()
            .values
        };
        assert_eq!(values(5), values(5));
        assert_ne!(values(5), values(6));
    }

    #[test]
    fn bad_settings_are_explained() {
        let message = |moon: HalfMoon| moon.generate().unwrap_err().to_string();
        let good = HalfMoon::default();
        assert!(
            message(HalfMoon {
                labels: 1,
                ..good.clone()
            })
            .contains("at least 2 labels")
        );
        assert!(
            message(HalfMoon {
                rows: 6,
                ..good.clone()
            })
            .contains("leave none unlabelled")
        );
        assert!(
            message(HalfMoon {
                noise: f32::NAN,
                ..good.clone()
            })
            .contains("noise")
        );
    }
}
