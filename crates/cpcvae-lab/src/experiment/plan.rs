//! The plan of an experiment, as written in TOML.

use super::{ExperimentError, Metric, PaperValues, Result};
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::{Table, Value};

/// What is trained, how often, and what is reported.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// One line describing it.
    pub title: String,
    /// The data set's name, or a file.
    pub data: String,
    /// Label counts.
    pub labels: Vec<usize>,
    /// Code sizes C.
    pub code: Vec<usize>,
    /// Draws of labels, weights and noise: draw d has seed d.
    pub draws: u64,
    /// Whether all runs are kept, instead of only those that a figure shows.
    #[serde(default)]
    pub keep: bool,
    /// The preset whose defaults are overridden.
    #[serde(default)]
    pub preset: PresetName,
    /// Settings of all cells, which override the defaults like `--set`.
    #[serde(default)]
    pub set: Table,
    /// Named variants of every method.
    #[serde(default, rename = "setting")]
    pub settings: Vec<SettingPlan>,
    /// Variants as all combinations of values: keys of settings with lists of values.
    #[serde(default)]
    pub grid: BTreeMap<String, Vec<Value>>,
    /// The methods.
    #[serde(rename = "method")]
    pub methods: Vec<MethodPlan>,
    /// The paper's values.
    #[serde(default)]
    pub paper: Vec<PaperValues>,
    /// Numbers to show.
    pub report: ReportPlan,
    /// Figures to draw.
    #[serde(default, rename = "figure")]
    pub figures: Vec<FigurePlan>,
    /// The small version.
    pub quick: Option<QuickPlan>,
    /// Settings of the small version, which are applied last.
    #[serde(skip)]
    pub(super) last: Table,
}

/// A set of defaults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PresetName {
    /// Ours.
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
    /// Label counts, in place of the plan's.
    pub labels: Option<Vec<usize>>,
    /// Code sizes, in place of the plan's.
    pub code: Option<Vec<usize>>,
    /// Draws, in place of the plan's.
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
    /// The preset, in place of the plan's.
    pub preset: Option<PresetName>,
    /// Its variants; all by default.
    pub settings: Option<Vec<String>>,
    /// Label counts, in place of the setting's or plan's.
    pub labels: Option<Vec<usize>>,
    /// Code sizes, in place of the setting's or plan's.
    pub code: Option<Vec<usize>>,
    /// Draws, in place of the setting's or plan's.
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
    /// The method whose first metric the others are divided by, in an additional column.
    pub relative_to: Option<String>,
}

/// A figure.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FigurePlan {
    /// The suffix of its file name.
    pub name: String,
    /// The title of charts.
    #[serde(default)]
    pub title: String,
    /// The part of the experiment that it shows.
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

/// The source of the codes of samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CodesOf {
    /// The prior.
    #[default]
    Prior,
    /// The mixture fitted to codes of training rows.
    Fitted,
}

/// Kinds of figures.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Drawing {
    /// Predictions over the plane, for two-dimensional features: one panel each.
    Regions {
        /// What distinguishes rows of panels.
        #[serde(default)]
        rows: Vec<Axis>,
    },
    /// Test rows on a map of two-dimensional codes: one panel each.
    CodeMap {
        /// What distinguishes rows of panels.
        #[serde(default)]
        rows: Vec<Axis>,
    },
    /// Images of each class: one file each.
    SampleGrid {
        /// Where codes are drawn from.
        #[serde(default)]
        codes: CodesOf,
    },
    /// Test images and reconstructions: one file each.
    Reconstructions {},
    /// Test images, reconstructed, and reconstructed with the transform set to its mean.
    Aligned {},
    /// Validation accuracy against steps: a line for each method.
    Training {},
    /// A metric against a setting: a line for each method.
    Curve {
        /// The key of the setting.
        x: String,
        /// Label of the x axis.
        x_label: String,
        /// Metric on the y axis.
        y: Metric,
        /// Whether the x axis is logarithmic.
        #[serde(default)]
        log_x: bool,
        /// Whether the y axis is logarithmic.
        #[serde(default)]
        log_y: bool,
    },
    /// A metric over two settings: one file for each method.
    Heat {
        /// The key of the columns.
        x: String,
        /// Its name.
        x_label: String,
        /// The key of the rows.
        y: String,
        /// Its name.
        y_label: String,
        /// The number in a cell.
        metric: Metric,
    },
}

impl Drawing {
    /// Whether trained models are needed, instead of only their numbers.
    pub(crate) fn needs_models(&self) -> bool {
        !matches!(
            self,
            Self::Training {} | Self::Curve { .. } | Self::Heat { .. }
        )
    }
}

/// What can distinguish rows of panels.
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

/// The small version of an experiment, which overrides parts of the plan.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct QuickPlan {
    /// Draws of every method.
    pub draws: Option<u64>,
    /// The cells that remain.
    pub only: Selection,
    /// The values of the grid that remain.
    pub grid: BTreeMap<String, Vec<Value>>,
    /// Settings that are applied last.
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
