//! After training: labels held out fold by fold, and baselines on the same folds.

use crate::held_out::Trainer;
use crate::printer::percent;
use crate::settings::FitSettings;
use anyhow::Result;
use cpcvae::calibration::{Calibration, closeness, rightness};
use cpcvae::config::RunConfig;
use cpcvae::crossfit::{CrossFit, Folding, HeldOut, Spread};
use cpcvae::infer::quality::share;
use cpcvae::method::{DataKind, Method};
use cpcvae::pseudo_label::{Propagation, forest, knn, logistic, propagate};
use cpcvae_data::{Dataset, Labels, Layout, Matrix, Split};
use cpcvae_lab::table::TextTable;
use cpcvae_lab::verdict::{Contest, Contestant, Measure, Verdict};
use serde_json::{Value, json};

/// Baselines that are not trained, for classes.
const UNTRAINED: [(&str, Spread); 4] = [
    ("neighbours", knn),
    ("forest", forest),
    ("logistic-regression", logistic),
    ("label-spreading", |features, width, labels, classes| {
        propagate(features, width, labels, classes, &Propagation::default())
    }),
];

/// What was found on held-out labels.
pub struct Compared {
    /// Calibration, sets and figures of the run's own method.
    pub answers: Calibration,
    contest: Contest,
    /// In words; nothing where there was nothing to compare with.
    verdict: Option<Verdict>,
    folds: usize,
    kept: usize,
}

/// What is known before labels are held out.
pub struct Known {
    /// Of the model that is kept.
    pub answers: Calibration,
    /// What that model says of rows without a label.
    pub unlabelled: Matrix,
}

/// How the cross-fit ended.
pub enum End {
    /// All trainings are done.
    Done(Box<Compared>),
    /// A stop was asked for.
    Interrupted,
    /// There was nothing to hold out, and why.
    Skipped(String),
}

/// Cross-fits the method of the run and, where wanted, its baselines.
pub fn run(
    settings: &FitSettings,
    data: &Dataset,
    split: &Split,
    known: Known,
    trainer: &Trainer<'_>,
) -> Result<End> {
    let config = &settings.config;
    let folding = folding(settings, data, split);
    let fit = match CrossFit::new(data, split, &folding) {
        Ok(fit) => fit,
        Err(error) => return Ok(End::Skipped(error.to_string())),
    };
    let folder = settings.folder.path().join("crossfit");
    let folder = folder.join(format!("{}-folds", folding.folds));
    let methods = match settings.held_out.compare {
        true => 1 + baselines(config).count(),
        false => 1,
    };
    trainer.printer.note(format!(
        "holding labels out: {} more trainings like this one (--no-compare takes {}, --no-crossfit \
         none)",
        methods * fit.parts(),
        fit.parts()
    ));
    let train = |config: &RunConfig| {
        let name = config.method.name();
        trainer.held_out(&fit, config, name, &folder.join(name))
    };
    let Some(ours) = train(config)? else {
        return Ok(End::Interrupted);
    };
    let answers = known.answers.with_held_out(data, &ours, &known.unlabelled);
    let contestant = |name: &str, held_out: &HeldOut| Contestant {
        name: name.into(),
        scores: match &data.labels {
            Labels::Values { .. } => closeness(data, held_out),
            _ => rightness(data, held_out),
        },
    };
    let mut contest = Contest {
        measure: match &data.labels {
            Labels::Values { .. } => Measure::Error,
            _ => Measure::Accuracy,
        },
        ours: contestant(config.method.name(), &ours),
        labels_only: None,
        others: Vec::new(),
        classes: labels_of_classes(data, split),
        class_weights: answers.class_weights.clone(),
    };
    if settings.held_out.compare {
        for name in baselines(config) {
            let Some(theirs) = train(&baseline(config, name, &data.layout)?)? else {
                return Ok(End::Interrupted);
            };
            let contestant = contestant(name, &theirs);
            match name {
                "labels-only" => contest.labels_only = Some(contestant),
                _ => contest.others.push(contestant),
            }
        }
        if contest.measure == Measure::Accuracy {
            for (name, spread) in UNTRAINED {
                let mut theirs = HeldOut::empty(data.class_names().len());
                for part in 0..fit.parts() {
                    theirs.extend(fit.spread(part, config, spread)?);
                }
                contest.others.push(contestant(name, &theirs));
            }
        }
    }
    Ok(End::Done(Box::new(Compared {
        answers,
        verdict: settings.held_out.compare.then(|| contest.verdict()),
        contest,
        folds: folding.folds,
        kept: fit.kept.len(),
    })))
}

/// The folds that were asked for, or the usual ones.
pub fn folding(settings: &FitSettings, data: &Dataset, split: &Split) -> Folding {
    let labels = split.labelled.len();
    let usual = Folding::default_for(&data.layout, labels, settings.config.seed);
    Folding {
        folds: settings.held_out.folds.unwrap_or(usual.folds),
        repeats: settings.held_out.repeats,
        ..usual
    }
}

/// Baselines that are trained: those that the run's own method is not.
fn baselines(config: &RunConfig) -> impl Iterator<Item = &'static str> {
    let ours = config.method.name();
    let all = ["labels-only", "vae-then-mlp"].into_iter();
    all.filter(move |name| *name != ours)
}

/// A baseline with the run's own network, batches and number of steps.
fn baseline(config: &RunConfig, name: &str, layout: &Layout) -> Result<RunConfig> {
    let kind = match layout {
        Layout::Columns(_) => DataKind::Table,
        Layout::Image { .. } => DataKind::Images,
    };
    let usual = RunConfig::defaults(name, kind, &config.data.source)?;
    let mut baseline = RunConfig {
        method: Method::named(name, kind)?,
        constraint: usual.constraint,
        pseudo_labels: usual.pseudo_labels,
        ..config.clone()
    };
    if name == "vae-then-mlp" && baseline.model.predictor.is_empty() {
        baseline.model.predictor = baseline.model.hidden.iter().take(1).copied().collect();
    }
    Ok(baseline)
}

fn labels_of_classes(data: &Dataset, split: &Split) -> Vec<(String, usize)> {
    let names = data.class_names().iter();
    let mut classes: Vec<(String, usize)> = names.map(|name| (name.clone(), 0)).collect();
    for class in split
        .labelled
        .iter()
        .filter_map(|row| data.labels.class_of(*row))
    {
        classes[class as usize].1 += 1;
    }
    classes
}

impl Compared {
    /// The line of the summary.
    pub fn line(&self) -> String {
        let Some(figures) = &self.answers.held_out else {
            return String::new();
        };
        let rows = figures.rows;
        let kept = match self.kept {
            0 => String::new(),
            kept => format!("; {kept} more are the only ones of their class"),
        };
        let folds = self.folds.min(rows);
        let from = format!("{rows} labels, held out in {folds} folds{kept}");
        match figures.accuracy {
            Some(accuracy) => format!(
                "held out    accuracy {} (95% interval {} to {}), log-loss {:.4} at temperature {:.2} ({from})\n",
                percent(accuracy.value),
                percent(accuracy.low),
                percent(accuracy.high),
                figures
                    .calibrated
                    .map_or(f64::NAN, |figures| figures.log_loss),
                self.answers.temperature
            ),
            None => {
                let errors = figures.absolute_error.iter();
                let errors: Vec<String> = errors.map(|error| format!("{error:.4}")).collect();
                format!("held out    mean error {} ({from})\n", errors.join(", "))
            }
        }
    }

    /// TextTable and verdict; empty where there was nothing to compare with.
    pub fn text(&self) -> String {
        let Some(verdict) = &self.verdict else {
            return String::new();
        };
        let table = TextTable {
            header: match self.contest.measure {
                Measure::Accuracy => vec!["method", "held-out accuracy", "95% interval"],
                Measure::Error => vec!["method", "held-out mean error"],
            }
            .into_iter()
            .map(String::from)
            .collect(),
            rows: self.contestants().map(|one| self.cells(one)).collect(),
        };
        let mut text = format!("\n{}\n{}\n", table.to_text(), verdict.answer);
        for warning in &verdict.warnings {
            text += &format!("warning: {warning}\n");
        }
        text
    }

    fn contestants(&self) -> impl Iterator<Item = &Contestant> {
        let contest = &self.contest;
        let first = std::iter::once(&contest.ours);
        first.chain(&contest.labels_only).chain(&contest.others)
    }

    fn cells(&self, contestant: &Contestant) -> Vec<String> {
        let (mean, rows) = (contestant.mean(), contestant.scores.len());
        let figures = match self.contest.measure {
            Measure::Accuracy => {
                let interval = share(mean, rows).map_or(String::new(), |share| {
                    format!("{} to {}", percent(share.low), percent(share.high))
                });
                vec![percent(mean), interval]
            }
            Measure::Error => vec![format!("{:.4}", -mean)],
        };
        [vec![contestant.name.clone()], figures].concat()
    }

    /// The same as JSON.
    pub fn in_json(&self) -> Value {
        let contestants: Vec<Value> = self
            .contestants()
            .map(|one| {
                let name = match self.contest.measure {
                    Measure::Accuracy => "accuracy",
                    Measure::Error => "minus_mean_error",
                };
                let paired = self
                    .contest
                    .paired(one)
                    .filter(|_| one != &self.contest.ours);
                json!({
                    "method": one.name,
                    name: one.mean(),
                    "ours_minus_this": paired.map(|paired| json!({
                        "difference": paired.difference,
                        "low": paired.low,
                        "high": paired.high,
                        "p_value": paired.p_value,
                    })),
                })
            })
            .collect();
        json!({
            "figures": self.answers.held_out,
            "temperature": self.answers.temperature,
            "folds": self.folds,
            "methods": contestants,
            "verdict": self.verdict.as_ref().map(|verdict| &verdict.answer),
            "warnings": self.verdict.as_ref().map(|verdict| &verdict.warnings),
        })
    }
}
