//! The verdict of a comparison in words: whether the unlabelled rows help, by how much, and how
//! certain that is.

use super::comparison::{Comparison, MethodScores, ScoreKind};
use super::paired::Paired;
use serde::Serialize;

/// Whether unlabelled rows help.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// They do.
    Helps,
    /// They do harm.
    Hurts,
    /// The evidence is not sufficient.
    Unclear,
}

/// A comparison in words.
///
/// ```
/// use cpcvae::prelude::*;
/// # let rows: Vec<[f32; 2]> =
/// #     (0..60).map(|i| [(i % 2 * 9 + i % 5) as f32, (i % 7) as f32]).collect();
/// # let labels = (0..60).map(|i| (i < 20).then_some(["low", "high"][i % 2]));
/// # let data = Dataset::from_rows(&rows, Labels::classes(labels))?;
/// let fitted = Pc::new().steps(20).hold_out(false).fit(&data)?;
/// // Labels must be held out to compare with what they give alone.
/// assert!(fitted.verdict().is_none());
/// # Ok::<(), cpcvae::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// Whether unlabelled rows help.
    pub outcome: Outcome,
    /// The answer, a sentence or two.
    pub answer: String,
    /// Caveats, a sentence or two each.
    pub warnings: Vec<String>,
}

/// Held-out rows below which hardly any difference can be seen.
const FEW_ROWS: usize = 30;
/// A class with at least this share of the labels dominates.
const MOST: f64 = 0.8;
/// Classes are imbalanced from this ratio of the largest to the smallest class on.
const IMBALANCE: f64 = 5.0;
/// From this difference in class shares (total variation) between unlabelled rows and labels on, a
/// warning is given.
const OTHER_SHARES: f64 = 0.15;

impl Comparison {
    /// The comparison in words.
    pub fn verdict(&self) -> Verdict {
        let (outcome, answer) = self.answer();
        let mut warnings = Vec::new();
        if let (Outcome::Hurts, Some(better)) = (outcome, self.best_of_labels_alone()) {
            warnings.push(format!(
                "the unlabelled rows hurt here: use `{}`, or look for unlabelled rows of another \
                 kind than the labelled ones, which `{}` learns from too",
                better.name, self.ours.name
            ));
        }
        warnings.extend(self.better_baseline());
        warnings.extend(self.imbalance());
        warnings.extend(self.other_shares());
        let rows = self.ours.scores.len();
        if rows < FEW_ROWS {
            let rarest = self.classes.iter().map(|(_, labels)| *labels).min();
            let a_class = match rarest {
                Some(labels) => format!(", {labels} of the rarest class"),
                None => String::new(),
            };
            warnings.push(format!(
                "only {rows} labelled rows could be held out{a_class}: these figures may be far \
                 off, and small differences cannot be seen; a few dozen more labels would tell more"
            ));
        }
        Verdict {
            outcome,
            answer,
            warnings,
        }
    }

    /// Ours compared with the best of the labels alone: a gain over a weak one among them would say
    /// nothing of the unlabelled rows. That it is the best on the same rows favours it a little.
    fn answer(&self) -> (Outcome, String) {
        let compared = self
            .best_of_labels_alone()
            .and_then(|other| Some((other, self.paired(other)?)));
        let Some((other, paired)) = compared else {
            let answer = "It was not compared with labels alone, so nothing can be said of what \
                          the unlabelled rows add."
                .into();
            return (Outcome::Unclear, answer);
        };
        let figures = format!(
            "on {} held-out rows {} has {}, labels alone (`{}`) {}",
            self.ours.scores.len(),
            self.ours.name,
            self.figure(&self.ours),
            other.name,
            self.figure(other)
        );
        let interval = self.interval(&paired);
        if self.unlabelled == Some(0) {
            let answer = format!("All rows have a label: {figures}; {interval}.");
            return (Outcome::Unclear, answer);
        }
        let outcome = outcome(self.measure, &paired);
        let (answer, more) = match outcome {
            Outcome::Helps => ("The unlabelled rows help", String::new()),
            Outcome::Hurts => ("The unlabelled rows do harm", String::new()),
            Outcome::Unclear => (
                "It cannot be told whether the unlabelled rows help",
                rows_needed(&paired, self.ours.scores.len()),
            ),
        };
        (outcome, format!("{answer}: {figures}; {interval}.{more}"))
    }

    /// A mean score in words.
    fn figure(&self, contestant: &MethodScores) -> String {
        match self.measure {
            ScoreKind::Accuracy => format!("{:.1}% right", 100.0 * contestant.mean()),
            ScoreKind::Error => format!("a mean error of {}", short(-contestant.mean())),
        }
    }

    fn interval(&self, paired: &Paired) -> String {
        match self.measure {
            ScoreKind::Accuracy => format!(
                "a difference of {:+.1} points (95% interval {:+.1} to {:+.1}, {})",
                100.0 * paired.difference,
                100.0 * paired.low,
                100.0 * paired.high,
                p_value(paired.p_value)
            ),
            ScoreKind::Error => format!(
                "that of {} is {} by {} (95% interval of the change: {} to {}; less is better)",
                self.ours.name,
                if paired.difference >= 0.0 {
                    "smaller"
                } else {
                    "larger"
                },
                short(paired.difference.abs()),
                signed(-paired.high),
                signed(-paired.low)
            ),
        }
    }

    /// The best of the other baselines, if it is better than ours.
    fn better_baseline(&self) -> Option<String> {
        let best = self
            .others
            .iter()
            .max_by(|a, b| a.mean().total_cmp(&b.mean()))
            .filter(|best| best.mean() > self.ours.mean())?;
        let paired = self.paired(best)?;
        let sure = match outcome(self.measure, &paired) {
            Outcome::Hurts => "which is more than chance",
            _ => "which may be chance",
        };
        Some(format!(
            "`{}` does better on the held-out rows ({} against {}), {sure}",
            best.name,
            self.figure(best),
            self.figure(&self.ours)
        ))
    }

    fn imbalance(&self) -> Option<String> {
        let labels: usize = self.classes.iter().map(|(_, labels)| labels).sum();
        let (name, most) = self.classes.iter().max_by_key(|(_, labels)| *labels)?;
        let (rare, least) = self.classes.iter().min_by_key(|(_, labels)| *labels)?;
        let share = *most as f64 / labels.max(1) as f64;
        let ours = self.ours.mean();
        if self.measure == ScoreKind::Accuracy && ours <= share && !self.ours.scores.is_empty() {
            return Some(format!(
                "always answering `{name}` would be right on {:.1}% of the labels, no less than \
                 `{}` is ({:.1}%): it has not learnt to tell the classes apart",
                100.0 * share,
                self.ours.name,
                100.0 * ours
            ));
        }
        if share < MOST && (*most as f64) < IMBALANCE * (*least).max(1) as f64 {
            return None;
        }
        Some(format!(
            "classes are imbalanced: `{name}` has {most} of {labels} labels, `{rare}` has {least}; \
             accuracy says little of the rare ones, so look at the confusion matrix of \
             an evaluation, and label more of them"
        ))
    }

    /// A warning if class frequencies differ between unlabelled rows and labels.
    fn other_shares(&self) -> Option<String> {
        let labels: usize = self.classes.iter().map(|(_, labels)| labels).sum();
        let shares = self.classes.iter().zip(&self.class_weights);
        let shares: Vec<(&str, f64, f64)> = shares
            .map(|((name, count), weight)| {
                let share = *count as f64 / labels.max(1) as f64;
                (name.as_str(), share, weight * share)
            })
            .collect();
        let moved: f64 = shares.iter().map(|(_, a, b)| (a - b).abs()).sum::<f64>() / 2.0;
        let gained = |(_, labelled, elsewhere): &(&str, f64, f64)| elsewhere - labelled;
        let (name, labelled, elsewhere) = shares
            .iter()
            .max_by(|a, b| gained(a).total_cmp(&gained(b)))?;
        (moved >= OTHER_SHARES).then(|| {
            format!(
                "class frequencies seem to differ between the unlabelled rows and the \
                 labels (`{name}`: {:.0}% there, {:.0}% here): the accuracy above holds for rows like \
                 the labelled ones; calibration and conformal sets allow for the difference",
                100.0 * elsewhere,
                100.0 * labelled
            )
        })
    }
}

/// A difference is significant when its interval excludes zero and, for accuracies, the exact test
/// agrees.
fn outcome(measure: ScoreKind, paired: &Paired) -> Outcome {
    let is_sure = measure == ScoreKind::Error || paired.p_value < 0.05;
    match is_sure {
        true if paired.low > 0.0 => Outcome::Helps,
        true if paired.high < 0.0 => Outcome::Hurts,
        _ => Outcome::Unclear,
    }
}

/// An interval narrows with the square root of the number of rows.
fn rows_needed(paired: &Paired, rows: usize) -> String {
    let half = 0.5 * (paired.high - paired.low);
    let needed = rows as f64 * (half / paired.difference).powi(2);
    match needed {
        needed if needed.is_finite() && needed > rows as f64 && needed < 1e5 => {
            // Rounded to two digits, since it is a rough estimate.
            let unit = 10f64.powf((needed.log10().floor() - 1.0).max(0.0));
            let needed = (needed / unit).ceil() * unit;
            format!(
                " If a difference of that size is real, about {needed:.0} labelled rows would show it."
            )
        }
        _ => " The two are alike as far as these rows can tell.".into(),
    }
}

fn p_value(p: f64) -> String {
    match p {
        p if p < 0.001 => "p < 0.001".into(),
        p if p < 0.1 => format!("p = {p:.3}"),
        p => format!("p = {p:.2}"),
    }
}

fn signed(value: f64) -> String {
    let sign = if value > 0.0 { "+" } else { "" };
    format!("{sign}{}", short(value))
}

/// Three significant digits.
fn short(value: f64) -> String {
    let digits = (2.0 - value.abs().max(1e-12).log10().floor()).clamp(0.0, 9.0) as usize;
    format!("{value:.digits$}")
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod tests;
