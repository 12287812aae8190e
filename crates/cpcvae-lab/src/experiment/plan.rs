//! The plan of an experiment, as written in TOML.

use super::{ExperimentError, Metric, PaperValues, Result};
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::{Table, Value};

/// What is trained, how often, and what is reported of it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// One line that says what it shows.
    pub title: String,
    /// The data set's name, or a file.
    pub data: String,
    /// Label counts.
    pub labels: Vec<usize>,
    /// Code sizes C.
    pub code: Vec<usize>,
    /// Draws of labels, weights and noise: draw d has seed d.
    pub draws: u64,
    /// Whether all runs are kept, not only those that a figure shows.
    #[serde(default)]
    pub keep: bool,
    /// Whose defaults settings are laid over.
    #[serde(default)]
    pub preset: PresetName,
    /// Settings of all cells, laid over the defaults as `--set` does.
    #[serde(default)]
    pub set: Table,
    /// Named variants that every method is trained in.
    #[serde(default, rename = "setting")]
    pub settings: Vec<SettingPlan>,
    /// Variants as all combinations of values: a key of settings and what it is set to.
    #[serde(default)]
    pub grid: BTreeMap<String, Vec<Value>>,
    /// What is compared.
    #[serde(rename = "method")]
    pub methods: Vec<MethodPlan>,
    /// What the paper reports.
    #[serde(default)]
    pub paper: Vec<PaperValues>,
    /// Numbers to show.
    pub report: ReportPlan,
    /// Figures to draw.
    #[serde(default, rename = "figure")]
    pub figures: Vec<FigurePlan>,
    /// The small version.
    pub quick: Option<QuickPlan>,
    /// Settings of the small version, which come last.
    #[serde(skip)]
    pub(super) last: Table,
}

/// Whose defaults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PresetName {
    /// The newcomer's.
    #[default]
    Default,
    /// The paper's.
    Paper,
}

/// A named variant.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SettingPlan {
    /// Its name in tables.
    pub name: String,
    /// Instead of the plan's label counts.
    pub labels: Option<Vec<usize>>,
    /// Instead of the plan's code sizes.
    pub code: Option<Vec<usize>>,
    /// Instead of the plan's draws.
    pub draws: Option<u64>,
    /// Its settings.
    #[serde(default)]
    pub set: Table,
}

/// A row of the comparison.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MethodPlan {
    /// Its name in tables and figures.
    pub label: String,
    /// The method's name, as `--method` takes it.
    pub method: String,
    /// Instead of the plan's preset.
    pub preset: Option<PresetName>,
    /// The variants it is trained in; all when not given.
    pub settings: Option<Vec<String>>,
    /// Instead of the setting's or plan's label counts.
    pub labels: Option<Vec<usize>>,
    /// Instead of the setting's or plan's code sizes.
    pub code: Option<Vec<usize>>,
    /// Instead of the setting's or plan's draws.
    pub draws: Option<u64>,
    /// Its settings.
    #[serde(default)]
    pub set: Table,
    /// Keys and candidate values: every combination is trained, and the one that is best on
    /// validation rows is reported.
    #[serde(default)]
    pub choose: BTreeMap<String, Vec<Value>>,
}

/// Numbers to show.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReportPlan {
    /// In this order.
    pub metrics: Vec<Metric>,
    /// The method whose first metric the others are divided by, in a column of its own.
    pub relative_to: Option<String>,
}

/// A figure.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FigurePlan {
    /// The end of its file's name.
    pub name: String,
    /// Written above charts.
    #[serde(default)]
    pub title: String,
    /// What it shows of the experiment.
    #[serde(default)]
    pub only: Selection,
    /// How it is drawn.
    pub draw: Drawing,
}

/// A part of an experiment; an empty list means all.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Selection {
    /// Labels of methods.
    pub methods: Vec<String>,
    /// Names of variants.
    pub settings: Vec<String>,
    /// Label counts.
    pub labels: Vec<usize>,
    /// Code sizes.
    pub code: Vec<usize>,
}

/// Where codes of samples are drawn from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CodesOf {
    /// The prior.
    #[default]
    Prior,
    /// What was fitted to codes of training rows.
    Fitted,
}

/// Kinds of figures.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Drawing {
    /// Predictions over the plane, for features of two dimensions: a panel each.
    Regions {
        /// What tells rows of panels apart.
        #[serde(default)]
        rows: Vec<Axis>,
    },
    /// Test rows on the map of codes of two dimensions: a panel each.
    CodeMap {
        /// What tells rows of panels apart.
        #[serde(default)]
        rows: Vec<Axis>,
    },
    /// Images of each class: a file each.
    SampleGrid {
        /// Where codes are drawn from.
        #[serde(default)]
        codes: CodesOf,
    },
    /// Test images and what becomes of them: a file each.
    Reconstructions {},
    /// Test images, reconstructed, and reconstructed with the transform set to its mean.
    Aligned {},
    /// Validation accuracy against steps: a line for each method.
    Training {},
    /// A metric against a setting: a line for each method.
    Curve {
        /// The key of the setting.
        x: String,
        /// Its name below the axis.
        x_label: String,
        /// What goes up.
        y: Metric,
        /// Whether x is drawn as a power of ten.
        #[serde(default)]
        log_x: bool,
        /// Whether y is drawn as a power of ten.
        #[serde(default)]
        log_y: bool,
    },
    /// A metric over two settings: a file for each method.
    Heat {
        /// The key that goes across.
        x: String,
        /// Its name.
        x_label: String,
        /// The key that goes down.
        y: String,
        /// Its name.
        y_label: String,
        /// The number in a cell.
        metric: Metric,
    },
}

impl Drawing {
    /// Whether trained models are needed, not only their numbers.
    pub(crate) fn needs_models(&self) -> bool {
        !matches!(
            self,
            Self::Training {} | Self::Curve { .. } | Self::Heat { .. }
        )
    }
}

/// What can tell rows of panels apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Axis {
    /// The variant.
    Setting,
    /// The label count.
    Labels,
    /// The code size.
    Code,
}

/// The small version of an experiment: what is given replaces what the plan says.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct QuickPlan {
    /// Draws of every method.
    pub draws: Option<u64>,
    /// Parts that are left.
    pub only: Selection,
    /// Values of the grid that are left.
    pub grid: BTreeMap<String, Vec<Value>>,
    /// Settings that come last.
    pub set: Table,
}

impl Plan {
    /// Reads and checks a plan; `file` is for messages.
    pub fn parse(text: &str, file: &str) -> Result<Self> {
        let wrong = |problem: String| ExperimentError::Plan {
            file: file.into(),
            problem,
        };
        let plan: Self =
            toml::from_str(text).map_err(|error| wrong(error.to_string().trim_end().into()))?;
        super::check::check(&plan).map_err(wrong)?;
        Ok(plan)
    }

    /// The same plan with that many draws of every method.
    pub(crate) fn with_draws(mut self, draws: u64) -> Self {
        self.draws = draws;
        self.settings
            .iter_mut()
            .for_each(|setting| setting.draws = None);
        self.methods
            .iter_mut()
            .for_each(|method| method.draws = None);
        self
    }
}
