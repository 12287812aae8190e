//! How well a fitted model describes its data.

use super::Fitted;
use crate::describe::{
    Description, Drawn, Effort, Judge, Measured, Parts, check_comparable, check_generative,
    describe, train_classifier, train_plain_vae,
};
use crate::error::{Error, Result};
use crate::run::Trained;
use crate::train::{TrainingInfo, Watch};
use cpcvae_data::{BuiltIn, DataConfig, DataName, Dataset, HalfMoonLabels, Source};
use std::path::Path;

/// Options of [`Fitted::quality`].
///
/// ```
/// use cpcvae::prelude::*;
///
/// let options = QualityOptions { rows: 200, ..QualityOptions::default() };
/// assert_eq!((options.rows, options.effort.threshold), (200, 0.95));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct QualityOptions<'a> {
    /// The most rows to measure.
    pub rows: usize,
    /// Numbers of draws.
    pub effort: Effort,
    /// A model to compare log p(x) with. By default a plain VAE is trained.
    pub beside: Option<&'a Fitted>,
}

impl Default for QualityOptions<'_> {
    fn default() -> Self {
        Self {
            rows: 1000,
            effort: Effort::default(),
            beside: None,
        }
    }
}

/// The results of [`Fitted::quality`].
///
/// ```
/// use cpcvae::prelude::*;
///
/// fn summary(found: &Quality) -> String {
///     format!("{} rows, {} sets of samples", found.measured.len(), found.drawn.len())
/// }
/// # let rows: Vec<[f32; 1]> = (0..60).map(|i| [(i % 5) as f32]).collect();
/// # let labels = (0..60).map(|i| Some(["a", "b"][i % 2]));
/// # let data = Dataset::from_rows(&rows, Labels::classes(labels))?;
/// # let fitted = Pc::new().steps(20).test(0.2).hold_out(false).fit(&data)?;
/// # let options = QualityOptions { rows: 10, ..QualityOptions::default() };
/// let found = fitted.quality(&data, options, &Silent)?;
/// assert!(summary(&found).contains(" rows, "));
/// # Ok::<(), cpcvae::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Quality {
    /// The figures.
    pub description: Description,
    /// The samples that were judged.
    pub drawn: Vec<Drawn>,
    /// The rows that were measured, which the model was not trained on.
    pub measured: Dataset,
}

impl Fitted {
    /// How well the model describes its data: log p(x) compared with a plain VAE's,
    /// reconstructions, and samples judged by a classifier that is trained on all labels of the
    /// data. `data` is the data of the model's training, with rows that it was not trained on.
    ///
    /// The plain VAE and the classifier are trained here, and stored in `quality` of the model's
    /// folder if it has one.
    ///
    /// ```
    /// use cpcvae::prelude::*;
    ///
    /// let rows: Vec<[f32; 2]> = (0..90).map(|i| [(i % 3) as f32, (i % 7) as f32]).collect();
    /// let labels = (0..90).map(|i| Some(["a", "b", "c"][i % 3]));
    /// let data = Dataset::from_rows(&rows, Labels::classes(labels))?;
    /// let fitted = Pc::new().steps(50).test(0.2).hold_out(false).fit(&data)?;
    /// let options = QualityOptions { rows: 10, ..QualityOptions::default() };
    /// let found = fitted.quality(&data, options, &Silent)?;
    /// assert!(found.measured.len() <= 10);
    /// assert_eq!(found.description.rows, found.measured.len());
    /// # Ok::<(), cpcvae::Error>(())
    /// ```
    pub fn quality(
        &self,
        data: impl Into<Source>,
        options: QualityOptions<'_>,
        watch: &dyn Watch,
    ) -> Result<Quality> {
        check_generative(&self.trained)?;
        let threshold = options.effort.threshold;
        if !(threshold > 0.0 && threshold <= 1.0) {
            return Err(Error::Mismatch(format!(
                "the threshold is {threshold}; a probability is above 0 and at most 1"
            )));
        }
        let parts = Parts::new(data.into(), &self.split, &self.trained, options.rows)?;
        let plain = self.plain_vae(&parts, options.beside, watch)?;
        let judge = match parts.has_classes() {
            true => Some(self.judge(&parts, watch)?),
            false => None,
        };
        watch.note("drawing samples and scoring rows");
        let (description, drawn) = describe(
            &self.trained,
            &parts,
            plain.as_ref(),
            judge.as_ref(),
            options.effort,
        )?;
        Ok(Quality {
            description,
            drawn,
            measured: parts.measured,
        })
    }

    /// Opens the data that the model was trained on, for [`Fitted::quality`]. Built-in data sets
    /// are looked for in `data_dir`. A file may have been renamed.
    pub fn open_own_data(&self, name: &str, data_dir: &Path, watch: &dyn Watch) -> Result<Source> {
        let data_name = DataName::parse(name)?;
        let own = &self.config.data.source;
        let is_file = |name: &str| BuiltIn::named(name).is_none();
        if name != *own && !(is_file(name) && is_file(own)) {
            return Err(Error::Mismatch(format!(
                "the run was trained on `{own}`, not on `{name}`; what it is measured with is \
                 trained on the same rows, so name `{own}`"
            )));
        }
        let mut data = self.config.data.clone();
        data.source = name.into();
        let needs_labels = self.config.method.uses_labels();
        let open =
            |data: &DataConfig| data_name.open(data, self.config.seed, data_dir, needs_labels);
        let mut source = open(&data)?;
        let evenly_spaced = data.half_moon_labels == HalfMoonLabels::EvenlySpaced;
        if data_name == DataName::BuiltIn(BuiltIn::HalfMoon) && evenly_spaced {
            watch.note(
                "in the paper's setting half-moon's test rows are training rows; new ones are \
                 measured",
            );
            data.half_moon_labels = HalfMoonLabels::Random;
            source.test = open(&data)?.test;
        }
        Ok(source)
    }

    /// The model that log p(x) is compared with; `None` for a plain VAE, unless a model is named.
    fn plain_vae(
        &self,
        parts: &Parts,
        beside: Option<&Fitted>,
        watch: &dyn Watch,
    ) -> Result<Option<Trained>> {
        if let Some(other) = beside {
            check_generative(&other.trained)?;
            check_comparable(&self.trained, &other.trained)?;
            return Ok(Some(other.trained.clone()));
        }
        if self.card().method == "vae" {
            return Ok(None);
        }
        let mut observer = watch.training(&info("plain VAE"));
        train_plain_vae(
            parts,
            &self.config,
            self.folder.as_ref(),
            &self.device,
            observer.as_mut(),
        )?
        .ok_or(Error::Stopped { step: 0 })
        .map(Some)
    }

    fn judge(&self, parts: &Parts, watch: &dyn Watch) -> Result<Judge> {
        let mut observer = watch.training(&info("classifier"));
        train_classifier(
            parts,
            &self.config,
            self.folder.as_ref(),
            &self.device,
            observer.as_mut(),
        )?
        .ok_or(Error::Stopped { step: 0 })
    }
}

impl Quality {
    /// Which rows were measured.
    pub fn kind(&self) -> Measured {
        self.description.measured
    }
}

fn info(name: &str) -> TrainingInfo {
    TrainingInfo {
        name: name.into(),
        part: 0,
        parts: 1,
    }
}
