//! Ensemble members on disk: their training rows and their votes.

use super::training_rows::{Fitted, Targets, TrainingRows};
use super::{Ensemble, MOST_LABELS, OF_PIXELS};
use crate::error::{Error, Result};
use crate::model::Target;
use crate::pseudo_label::{Classifier, ComparedFeatures, Logistic, Spread, Vote};
use crate::run::RunFolder;
use crate::train::{Parameters, TensorFile};
use cpcvae_data::Matrix;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The version of the file format.
const FORMAT: u32 = 1;

/// The metadata of the file.
#[derive(Serialize, Deserialize)]
struct About {
    format: u32,
    compared: ComparedFeatures,
    votes: Vec<Vote>,
}

impl Ensemble {
    /// Writes them beside the run's model.
    pub fn save(&self, folder: &RunFolder) -> Result<()> {
        let rows = &self.training_rows.rows;
        let shape = vec![rows.rows, rows.columns];
        let mut tensors = vec![("rows", shape, rows.values.clone())];
        match &self.training_rows.targets {
            Targets::Classes { labels, .. } => {
                let classes = labels.iter().map(|(_, class)| *class as f32);
                tensors.push(("classes", vec![rows.rows], classes.collect()));
            }
            Targets::Values { values, outputs } => {
                tensors.push(("values", vec![rows.rows, *outputs], values.clone()));
            }
        }
        let (spread, of_pixels) = match &self.fitted {
            Fitted::Classes(fitted) => (fitted.spread.as_ref(), fitted.of_pixels.as_ref()),
            Fitted::Values(_) => (None, None),
        };
        if let Some(of_pixels) = of_pixels {
            let classes = self.training_rows.targets.outputs();
            let shape = vec![of_pixels.columns() + 1, classes];
            let weights = of_pixels.weights().iter().map(|weight| *weight as f32);
            tensors.push((OF_PIXELS, shape, weights.collect()));
        }
        if let Some(spread) = spread {
            let (all, class_probs) = spread.parts();
            let count = all.len() / rows.columns;
            tensors.push(("spread.rows", vec![count, rows.columns], all.to_vec()));
            let shape = vec![count, self.training_rows.targets.outputs()];
            tensors.push(("spread.beliefs", shape, class_probs.to_vec()));
        }
        let named = tensors.into_iter();
        let named = named.map(|(name, shape, values)| (name.to_string(), (shape, values)));
        let about = About {
            format: FORMAT,
            compared: self.training_rows.compared,
            votes: self.votes.clone(),
        };
        let file = TensorFile {
            tensors: Parameters(named.collect()),
            about: serde_json::to_string(&about).expect("plain values serialise"),
        };
        file.save(&path(folder))
    }

    /// Loads them for a run with such labels; `None` where it has none.
    pub fn load(folder: &RunFolder, target: &Target) -> Result<Option<Self>> {
        let path = path(folder);
        if !path.exists() {
            return Ok(None);
        }
        let file = TensorFile::load(&path)?;
        Self::of_file(file, target).map(Some).map_err(|problem| {
            let advice = "remove it to use the network alone, or train again";
            Error::file(Path::new(&path), format!("{problem}; {advice}"))
        })
    }

    fn of_file(mut file: TensorFile, target: &Target) -> std::result::Result<Self, String> {
        let about: About = serde_json::from_str(&file.about).map_err(|error| error.to_string())?;
        if about.format != FORMAT {
            return Err(format!("has format {}, not {FORMAT}", about.format));
        }
        let is_vote = |vote: &Vote| {
            (0.0..=1.0).contains(&vote.weight) && (0.0..=100.0).contains(&vote.sharpness)
        };
        if !about.votes.iter().all(is_vote) {
            return Err("its votes are not those of a network and its members".into());
        }
        let (shape, values) = take(&mut file, "rows")?;
        let &[rows, columns] = shape.as_slice() else {
            return Err("`rows` is not a table".into());
        };
        let outputs = target.outputs();
        let is_classes = target.is_classes();
        let (_, known) = take(&mut file, if is_classes { "classes" } else { "values" })?;
        let a_label = if is_classes { 1 } else { outputs };
        if rows == 0 || rows > MOST_LABELS || columns == 0 || known.len() != rows * a_label {
            return Err(format!("{rows} rows of {columns} columns do not fit"));
        }
        let targets = match is_classes {
            true => Targets::Classes {
                labels: labels_of(&known, outputs)?,
                classes: outputs,
            },
            false => Targets::Values {
                values: known,
                outputs,
            },
        };
        let spread = match file.tensors.0.contains_key("spread.rows") {
            true if is_classes => Some(spread_of(&mut file, columns, outputs)?),
            _ => None,
        };
        let of_pixels = match file.tensors.0.contains_key(OF_PIXELS) {
            true if is_classes => Some(of_pixels(&mut file, outputs)?),
            _ => None,
        };
        if of_pixels.is_some() && spread.is_none() {
            return Err(format!("has `{OF_PIXELS}` without `spread.rows`"));
        }
        let training_rows = TrainingRows {
            compared: about.compared,
            rows: Matrix::new(rows, columns, values).map_err(|error| error.to_string())?,
            targets,
        };
        let is_sound = |values: &[f32]| !values.iter().any(|value| value.is_infinite());
        let sound_labels = match &training_rows.targets {
            Targets::Values { values, .. } => values.iter().all(|value| value.is_finite()),
            Targets::Classes { .. } => true,
        };
        if !is_sound(&training_rows.rows.values) || !sound_labels {
            return Err("has rows with infinite values".into());
        }
        let fitted = training_rows.fitted(spread, of_pixels);
        if about.votes.len() != 1 + fitted.names().len() {
            return Err("its votes are not those of a network and its members".into());
        }
        Ok(Self {
            fitted,
            training_rows,
            leave_one_out: None,
            of_pixels_left_out: None,
            votes: about.votes,
        })
    }
}

/// A tensor's shape and values.
fn take(file: &mut TensorFile, name: &str) -> std::result::Result<(Vec<usize>, Vec<f32>), String> {
    file.tensors.0.remove(name).ok_or(format!("lacks `{name}`"))
}

fn labels_of(known: &[f32], classes: usize) -> std::result::Result<Vec<(u32, u32)>, String> {
    let class = |value: &f32| (value.fract() == 0.0).then_some(*value as i64);
    let class = |value: &f32| class(value).filter(|class| (0..classes as i64).contains(class));
    let labels = (0..).zip(known);
    let labels: Option<Vec<(u32, u32)>> = labels
        .map(|(place, value)| Some((place, class(value)? as u32)))
        .collect();
    labels.ok_or("has classes that the model does not have".into())
}

fn spread_of(
    file: &mut TensorFile,
    columns: usize,
    classes: usize,
) -> std::result::Result<Spread, String> {
    let (_, all) = take(file, "spread.rows")?;
    let (_, class_probs) = take(file, "spread.beliefs")?;
    let is_share = |p: &f32| (0.0..=1.0).contains(p);
    if !class_probs.iter().all(is_share) || !all.iter().all(|value| value.is_finite()) {
        return Err("`spread` holds values that are not finite or not probabilities".into());
    }
    let spread = Spread::kept(columns, classes, all, class_probs);
    spread.ok_or("`spread` does not fit its rows".into())
}

fn of_pixels(file: &mut TensorFile, classes: usize) -> std::result::Result<Logistic, String> {
    let (_, weights) = take(file, OF_PIXELS)?;
    if !weights.iter().all(|weight| weight.is_finite()) {
        return Err(format!("`{OF_PIXELS}` has weights that are not finite"));
    }
    let weights = weights.into_iter().map(f64::from).collect();
    Logistic::with_weights(weights, classes)
        .ok_or(format!("`{OF_PIXELS}` does not fit the classes"))
}

fn path(folder: &RunFolder) -> PathBuf {
    folder.path().join("model").join("members.safetensors")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pseudo_label::Members;
    use crate::regressors::Regressors;
    use cpcvae_data::Layout;

    fn two_classes() -> Target {
        Target::Classes(vec!["a".into(), "b".into()])
    }

    /// A file of two rows for two classes.
    fn file(classes: Vec<f32>, weight: f64) -> TensorFile {
        let vote = Vote {
            sharpness: 1.0,
            weight,
        };
        let about = About {
            format: FORMAT,
            compared: ComparedFeatures::Values,
            votes: vec![vote; 1 + Members::NAMES.len()],
        };
        let rows = (vec![2, 1], vec![0.0, 1.0]);
        let named = [
            ("rows".to_string(), rows),
            ("classes".to_string(), (vec![classes.len()], classes)),
        ];
        TensorFile {
            tensors: Parameters(named.into()),
            about: serde_json::to_string(&about).expect("plain"),
        }
    }

    #[test]
    fn a_file_that_does_not_fit_is_refused_and_one_that_does_answers() {
        let problem = |file| Ensemble::of_file(file, &two_classes()).expect_err("refused");
        assert!(problem(file(vec![0.0, 2.0], 0.2)).contains("classes that the model"));
        assert!(problem(file(vec![0.0, 0.5], 0.2)).contains("classes that the model"));
        assert!(problem(file(vec![0.0], 0.2)).contains("do not fit"));
        assert!(problem(file(vec![0.0, 1.0], -1.0)).contains("votes"));
        assert!(problem(file(vec![0.0, 1.0], f64::INFINITY)).contains("null"));
        let ensemble = Ensemble::of_file(file(vec![0.0, 1.0], 0.2), &two_classes()).expect("fits");
        let layout = Layout::Columns(vec!["x".into()]);
        let rows = |values: Vec<f32>| Matrix::new(values.len(), 1, values).expect("fits");
        let predictions = ensemble
            .predictions(rows(vec![-1.0, 2.0]), &layout)
            .expect("predictions");
        let unsure = Matrix::new(2, 2, vec![0.5; 4]).expect("fits");
        let mean = ensemble.mean(unsure, predictions);
        assert!(mean.row(0)[0] > 0.6 && mean.row(1)[1] > 0.6, "{mean:?}");
        let wide = Matrix::new(1, 3, vec![0.0; 3]).expect("fits");
        assert!(ensemble.predictions(wide, &layout).is_err());
    }

    #[test]
    fn continuous_labels_are_learnt_again_from_the_file() {
        let vote = Vote {
            sharpness: 1.0,
            weight: 1.0 / 6.0,
        };
        let of_values = |values: Vec<f32>, votes: usize| {
            let about = About {
                format: FORMAT,
                compared: ComparedFeatures::Values,
                votes: vec![vote; votes],
            };
            let named = [
                ("rows".to_string(), (vec![2, 1], vec![0.0, 1.0])),
                ("values".to_string(), (vec![2, 1], values)),
            ];
            let file = TensorFile {
                tensors: Parameters(named.into()),
                about: serde_json::to_string(&about).expect("plain"),
            };
            Ensemble::of_file(file, &Target::Values(vec!["y".into()]))
        };
        let voters = 1 + Regressors::NAMES.len();
        let refused = |values, votes| of_values(values, votes).expect_err("refused");
        assert!(refused(vec![1.0, f32::NAN], voters).contains("infinite"));
        assert!(refused(vec![1.0], voters).contains("do not fit"));
        assert!(refused(vec![1.0, 2.0], voters - 1).contains("votes"));
        let ensemble = of_values(vec![-1.0, 1.0], voters).expect("fits");
        let layout = Layout::Columns(vec!["x".into()]);
        let rows = Matrix::new(2, 1, vec![0.0, 1.0]).expect("fits");
        let predictions = ensemble.predictions(rows, &layout).expect("predictions");
        let network = Matrix::new(2, 1, vec![-1.0, 1.0]).expect("fits");
        let mean = ensemble.mean(network, predictions).values;
        assert!(mean[0] < -0.3 && mean[1] > 0.3, "{mean:?}");
    }
}
