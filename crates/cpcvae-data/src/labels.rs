//! The labels of a data set, known or not.

use crate::{DataError, Result};

/// The labels of all rows; a row whose label is not known has `None`.
///
/// ```
/// use cpcvae_data::Labels;
///
/// let classes = Labels::classes([Some("cat"), None, Some("dog")]);
/// assert_eq!((classes.class_of(2), classes.is_known(1)), (Some(1), false));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Labels {
    /// The data set has no label column.
    #[default]
    None,
    /// One class a row.
    Classes {
        /// The name of each class.
        names: Vec<String>,
        /// Each row's class, as its place in `names`.
        of_row: Vec<Option<u32>>,
    },
    /// One or several numbers a row.
    Values {
        /// The name of each dimension.
        names: Vec<String>,
        /// Each row's numbers, one for each name, less its offset.
        of_row: Vec<Option<Vec<f32>>>,
        /// Subtracted from the numbers of each name, in 64 bits: numbers that are large against
        /// their spread would all round to the same value otherwise. Empty where nothing was
        /// subtracted.
        offsets: Vec<f64>,
    },
}

impl Labels {
    /// The names of the classes; empty when the labels are not classes.
    pub fn class_names(&self) -> &[String] {
        match self {
            Labels::Classes { names, .. } => names,
            Labels::None | Labels::Values { .. } => &[],
        }
    }

    /// Numbers in a continuous label; 0 when the labels are not continuous.
    pub fn dimensions(&self) -> usize {
        match self {
            Labels::Values { names, .. } => names.len(),
            Labels::None | Labels::Classes { .. } => 0,
        }
    }

    /// The class of a row, if it is known.
    pub fn class_of(&self, row: u32) -> Option<u32> {
        match self {
            Labels::Classes { of_row, .. } => of_row.get(row as usize).copied().flatten(),
            Labels::None | Labels::Values { .. } => None,
        }
    }

    /// The continuous label of a row, if it is known.
    pub fn values_of(&self, row: u32) -> Option<&[f32]> {
        match self {
            Labels::Values { of_row, .. } => of_row.get(row as usize)?.as_deref(),
            Labels::None | Labels::Classes { .. } => None,
        }
    }

    /// The offsets of a continuous label; empty where there are none.
    pub fn offsets(&self) -> &[f64] {
        match self {
            Labels::Values { offsets, .. } => offsets,
            Labels::None | Labels::Classes { .. } => &[],
        }
    }

    /// Whether the row has a label.
    pub fn is_known(&self, row: u32) -> bool {
        self.class_of(row).is_some() || self.values_of(row).is_some()
    }

    /// The labels of the chosen rows, in the order given.
    pub(crate) fn select(&self, rows: &[u32]) -> Labels {
        match self {
            Labels::None => Labels::None,
            Labels::Classes { names, of_row } => Labels::Classes {
                names: names.clone(),
                of_row: rows.iter().map(|&row| of_row[row as usize]).collect(),
            },
            Labels::Values {
                names,
                of_row,
                offsets,
            } => Labels::Values {
                names: names.clone(),
                of_row: rows
                    .iter()
                    .map(|&row| of_row[row as usize].clone())
                    .collect(),
                offsets: offsets.clone(),
            },
        }
    }

    /// The same labels numbered by another list of classes, such as a trained
    /// model's. A class which that list lacks is an error.
    pub fn with_class_names(&self, wanted: &[String]) -> Result<Labels> {
        let Labels::Classes { names, of_row } = self else {
            return Err(DataError::Labels(
                "these labels are not classes, so they cannot be matched with class names".into(),
            ));
        };
        let place: Vec<Option<u32>> = names
            .iter()
            .map(|name| wanted.iter().position(|w| w == name).map(|at| at as u32))
            .collect();
        let renumber = |class: u32| {
            place[class as usize].ok_or_else(|| {
                DataError::Labels(format!(
                    "class `{}` is not among the expected classes ({})",
                    names[class as usize],
                    wanted.join(", ")
                ))
            })
        };
        Ok(Labels::Classes {
            names: wanted.to_vec(),
            of_row: of_row
                .iter()
                .map(|class| class.map(renumber).transpose())
                .collect::<Result<_>>()?,
        })
    }

    /// Fails unless there is one entry a row and each entry fits its names.
    pub(crate) fn check(&self, rows: usize) -> Result<()> {
        let (entries, misfit) = match self {
            Labels::None => return Ok(()),
            Labels::Classes { names, of_row } => (
                of_row.len(),
                of_row
                    .iter()
                    .position(|class| class.is_some_and(|c| c as usize >= names.len())),
            ),
            Labels::Values { names, of_row, .. } => (
                of_row.len(),
                of_row.iter().position(|label| {
                    label
                        .as_ref()
                        .is_some_and(|v| v.len() != names.len() || v.iter().any(|x| !x.is_finite()))
                }),
            ),
        };
        if entries != rows {
            return Err(DataError::Shape(format!(
                "there are {rows} rows of features, but {entries} labels"
            )));
        }
        match misfit {
            None => Ok(()),
            Some(row) => Err(DataError::Labels(format!(
                "the label of row {row} does not fit the label names (class out of range, \
                 wrong number of values, or a value that is not finite)"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|s| s.to_string()).collect()
    }

    #[test]
    fn classes_are_renumbered_by_name() {
        let labels = Labels::Classes {
            names: names(&["cat", "dog"]),
            of_row: vec![Some(0), None, Some(1)],
        };
        let matched = labels
            .with_class_names(&names(&["ant", "dog", "cat"]))
            .unwrap();
        assert_eq!(matched.class_of(0), Some(2));
        assert_eq!(matched.class_of(1), None);
        assert_eq!(matched.class_of(2), Some(1));
        let message = labels
            .with_class_names(&names(&["cat"]))
            .unwrap_err()
            .to_string();
        assert!(
            message.contains("class `dog` is not among the expected classes (cat)"),
            "{message}"
        );
    }

    #[test]
    fn labels_that_do_not_fit_are_refused() {
        let too_few = Labels::Classes {
            names: names(&["a"]),
            of_row: vec![None],
        };
        assert!(
            too_few
                .check(2)
                .unwrap_err()
                .to_string()
                .contains("2 rows of features, but 1 labels")
        );
        let out_of_range = Labels::Classes {
            names: names(&["a"]),
            of_row: vec![None, Some(1)],
        };
        assert!(
            out_of_range
                .check(2)
                .unwrap_err()
                .to_string()
                .contains("row 1")
        );
        let wrong_width = Labels::Values {
            names: names(&["a", "b"]),
            of_row: vec![Some(vec![1.0])],
            offsets: Vec::new(),
        };
        assert!(wrong_width.check(1).is_err());
    }
}
