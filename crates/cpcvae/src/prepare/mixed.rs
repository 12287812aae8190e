//! Rows with several kinds of columns: from one value a column to the model's features, and back.

use crate::distribution::{CountScale, RowLayout};
use crate::error::Result;
use cpcvae_data::{Column, ColumnKind, Features, Matrix, Rows, Standardizer};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The scales and layout of the columns of a mixed table; see [`RowLayout`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MixedScale {
    /// Mean and scale of the columns of numbers, in their order.
    pub numbers: Standardizer,
    /// The layout of a row of the model.
    pub row: RowLayout,
}

impl MixedScale {
    /// Measures the columns over the training rows. Without `standardise`, numbers are not scaled.
    pub fn fit(
        features: &Features,
        columns: &[Column],
        training_rows: &[u32],
        standardise: bool,
    ) -> Result<Self> {
        let is_count: Vec<bool> = columns
            .iter()
            .map(|column| column.kind == ColumnKind::Count)
            .collect();
        let measured = features.changed(columns.len(), move |row, out| {
            out.copy_from_slice(row);
            let counts = out.iter_mut().zip(&is_count).filter(|(_, count)| **count);
            counts.for_each(|(value, _)| *value = value.ln_1p());
        });
        let all = Standardizer::fit(&measured, training_rows)?;
        let mut numbers = Standardizer {
            mean: Vec::new(),
            scale: Vec::new(),
        };
        let mut row = RowLayout::default();
        for (place, column) in columns.iter().enumerate() {
            let (mean, scale) = (all.mean[place], all.scale[place]);
            match &column.kind {
                ColumnKind::Number => {
                    row.numbers += 1;
                    numbers.mean.push(if standardise { mean } else { 0.0 });
                    numbers.scale.push(if standardise { scale } else { 1.0 });
                }
                ColumnKind::Flag => row.flags += 1,
                ColumnKind::Count => row.counts.push(CountScale {
                    mean,
                    scale,
                    largest: None,
                }),
                ColumnKind::Category(levels) => row.categories.push(levels.len()),
            }
        }
        let mut fitted = Self { numbers, row };
        let mut has_gaps = vec![false; columns.len()];
        let mut largest = vec![0.0f32; columns.len()];
        let mut values = vec![0.0; columns.len()];
        for &row in training_rows {
            features.read(row as usize, &mut values);
            let gaps = has_gaps.iter_mut().zip(&values);
            gaps.for_each(|(gap, value)| *gap |= value.is_nan());
            let sizes = largest.iter_mut().zip(&values);
            sizes.for_each(|(largest, value)| *largest = largest.max(*value));
        }
        let is_count = |(column, _): &(&Column, f32)| column.kind == ColumnKind::Count;
        let of_counts = columns.iter().zip(largest).filter(is_count);
        for (scale, (_, largest)) in fitted.row.counts.iter_mut().zip(of_counts) {
            scale.largest = Some(largest);
        }
        fitted.row.can_be_missing = fitted
            .places(columns)
            .zip(has_gaps)
            .filter(|(_, gap)| *gap)
            .map(|(places, _)| places.start)
            .collect();
        Ok(fitted)
    }

    /// Whether it matches these columns: as many of each kind, with as many levels.
    pub(crate) fn is_of(&self, columns: &[Column]) -> bool {
        let of_kind =
            |kind: fn(&ColumnKind) -> bool| columns.iter().filter(|c| kind(&c.kind)).count();
        let levels = columns.iter().filter_map(|column| match &column.kind {
            ColumnKind::Category(levels) => Some(levels.len()),
            _ => None,
        });
        let numbers = of_kind(|kind| *kind == ColumnKind::Number);
        self.row.numbers == numbers
            && (self.numbers.mean.len(), self.numbers.scale.len()) == (numbers, numbers)
            && self.row.flags == of_kind(|kind| *kind == ColumnKind::Flag)
            && self.row.counts.len() == of_kind(|kind| *kind == ColumnKind::Count)
            && levels.eq(self.row.categories.iter().copied())
    }

    /// The positions of each column in a row of the model.
    pub fn places<'a>(&'a self, columns: &'a [Column]) -> impl Iterator<Item = Range<usize>> + 'a {
        let mut numbers = self.row.number_places();
        let mut flags = self.row.flag_places();
        let mut counts = self.row.count_places();
        let mut categories = self.row.category_places();
        columns.iter().filter_map(move |column| {
            let next = |place: Option<usize>| place.map(|place| place..place + 1);
            match column.kind {
                ColumnKind::Number => next(numbers.next()),
                ColumnKind::Flag => next(flags.next()),
                ColumnKind::Count => next(counts.next()),
                ColumnKind::Category(_) => categories.next(),
            }
        })
    }

    /// Names of the positions: `town=Rome` for a level.
    pub(crate) fn place_names(&self, columns: &[Column]) -> Vec<Column> {
        let mut names = vec![Column::number(""); self.row.width()];
        for (column, places) in columns.iter().zip(self.places(columns)) {
            for (level, place) in places.enumerate() {
                names[place].name = match &column.kind {
                    ColumnKind::Category(levels) => format!("{}={}", column.name, levels[level]),
                    _ => column.name.clone(),
                };
            }
        }
        names
    }

    /// Rows with one value a column, encoded for the model.
    pub fn encode(&self, columns: &[Column], features: &Features) -> Features {
        let places: Vec<Range<usize>> = self.places(columns).collect();
        let scale = self.clone();
        features.changed(self.row.width(), move |row, out| {
            scale.encode_row(&places, row, out);
        })
    }

    /// Writes one value a column to its positions, which are 0 before.
    fn encode_row(&self, places: &[Range<usize>], row: &[f32], out: &mut [f32]) {
        for (&value, places) in row.iter().zip(places) {
            if value.is_nan() {
                out[places.clone()].fill(f32::NAN);
            } else if self.row.number_places().contains(&places.start) {
                let (mean, scale) = self.number(places.start);
                out[places.start] = (value - mean) / scale;
            } else if let Some(scale) = self.count(places.start) {
                out[places.start] = scale.encode(value);
            } else if self.row.flag_places().contains(&places.start) {
                out[places.start] = value;
            } else {
                out[places.start + value as usize] = 1.0;
            }
        }
    }

    /// Rows of the model decoded to one value a column, each of its kind: the most probable level,
    /// 0 or 1, a whole count.
    pub fn decode(&self, columns: &[Column], rows: &Matrix) -> Matrix {
        let places: Vec<Range<usize>> = self.places(columns).collect();
        let mut values = Vec::with_capacity(rows.rows * columns.len());
        for row in 0..rows.rows {
            let row = rows.row(row);
            values.extend(places.iter().map(|places| {
                let value = row[places.start];
                if value.is_nan() {
                    f32::NAN
                } else if self.row.number_places().contains(&places.start) {
                    let (mean, scale) = self.number(places.start);
                    value * scale + mean
                } else if let Some(scale) = self.count(places.start) {
                    scale.decode(value).round()
                } else if self.row.flag_places().contains(&places.start) {
                    f32::from(u8::from(value >= 0.5))
                } else {
                    crate::infer::largest(&row[places.clone()]) as f32
                }
            }));
        }
        Matrix {
            rows: rows.rows,
            columns: columns.len(),
            values,
        }
    }

    /// The change of a row's log-density in the user's units: minus the log of the scales of its
    /// known numbers.
    pub fn log_density_shift(&self, row: &[f32]) -> f32 {
        let known = row.iter().zip(&self.numbers.scale);
        -known
            .filter(|(value, _)| !value.is_nan())
            .map(|(_, scale)| scale.ln())
            .sum::<f32>()
    }

    fn number(&self, place: usize) -> (f32, f32) {
        (self.numbers.mean[place], self.numbers.scale[place])
    }

    fn count(&self, place: usize) -> Option<CountScale> {
        let places = self.row.count_places();
        places
            .contains(&place)
            .then(|| self.row.counts[place - places.start])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns() -> Vec<Column> {
        let of = |name: &str, kind| Column::new(name, kind);
        let towns = ["Bern", "Oslo", "Rome"].map(String::from).to_vec();
        vec![
            of("town", ColumnKind::Category(towns)),
            of("age", ColumnKind::Number),
            of("visits", ColumnKind::Count),
            of("smokes", ColumnKind::Flag),
        ]
    }

    fn rows() -> Features {
        let nan = f32::NAN;
        let values = vec![
            2.0, 30.0, 0.0, 1.0, //
            0.0, 50.0, 7.0, 0.0, //
            nan, nan, 3.0, 1.0,
        ];
        Matrix::new(3, 4, values).expect("right size").into()
    }

    #[test]
    fn rows_come_back_as_they_were() {
        let fitted = MixedScale::fit(&rows(), &columns(), &[0, 1, 2], true).expect("fits");
        let encoded = fitted.encode(&columns(), &rows());
        assert_eq!(encoded.columns(), 6);
        // age | smokes | visits | Bern, Oslo, Rome
        assert_eq!(encoded.row(0)[..2], [-1.0, 1.0]);
        assert_eq!(encoded.row(0)[3..], [0.0, 0.0, 1.0]);
        assert!(encoded.row(2)[3..].iter().all(|value| value.is_nan()));
        assert_eq!(fitted.row.can_be_missing, [3, 0]);
        // Visits are bounded by the largest count, the others not at all.
        let most = fitted.row.most();
        assert_eq!(most[2], encoded.row(1)[2], "7 visits");
        let others = [0, 1, 3, 4, 5].map(|place: usize| most[place]);
        assert_eq!(others, [f32::INFINITY; 5]);
        let back = fitted.decode(&columns(), &encoded.matrix());
        for (value, was) in back.values.iter().zip(&rows().matrix().values) {
            assert!(
                value == was || value.is_nan() && was.is_nan(),
                "{value} {was}"
            );
        }
        let names = fitted.place_names(&columns());
        assert_eq!(
            (names[0].name.as_str(), names[5].name.as_str()),
            ("age", "town=Rome")
        );
    }

    #[test]
    fn only_known_numbers_change_the_unit_of_a_density() {
        let fitted = MixedScale::fit(&rows(), &columns(), &[0, 1, 2], true).expect("fits");
        let encoded = fitted.encode(&columns(), &rows());
        assert_eq!(fitted.log_density_shift(&encoded.row(0)), -(10.0f32.ln()));
        assert_eq!(fitted.log_density_shift(&encoded.row(2)), 0.0);
    }
}
