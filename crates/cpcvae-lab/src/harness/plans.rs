//! Built-in plans of experiments, and the user's.

use super::{Options, PlanName};
use crate::experiment::Plan;
use anyhow::{Context, Result};
use include_dir::{Dir, include_dir};

/// All files of `experiments/`: adding one adds an experiment.
static EXPERIMENTS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/experiments");

/// No experiment has that name.
#[derive(Debug, thiserror::Error)]
#[error("there is no experiment `{name}`; there are: {known}")]
pub struct UnknownExperiment {
    name: String,
    known: String,
}

/// Name and plan of each, by name.
fn all() -> Vec<(String, &'static str)> {
    let plans = EXPERIMENTS.files().filter_map(|file| {
        let name = file.path().file_name()?.to_str()?.strip_suffix(".toml")?;
        Some((name.to_string(), file.contents_utf8()?))
    });
    let mut plans: Vec<_> = plans.collect();
    plans.sort();
    plans
}

/// A line for each experiment.
pub fn list() -> Result<String> {
    let mut text = String::new();
    for (name, plan) in all() {
        text += &format!("{name:<28}{}\n", Plan::parse(plan, &name)?.title);
    }
    Ok(text)
}

/// The requested experiment, with its name.
pub(super) fn find(options: &Options) -> Result<(String, Plan)> {
    let (name, file, text) = match &options.plan {
        PlanName::File(path) => {
            let text = std::fs::read_to_string(path)
                .with_context(|| format!("the plan {} cannot be read", path.display()))?;
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            (name.into_owned(), path.display().to_string(), text)
        }
        PlanName::BuiltIn(name) => match all().into_iter().find(|(own, _)| own == name) {
            Some((_, text)) => (name.clone(), name.clone(), text.to_string()),
            None => {
                let known: Vec<String> = all().into_iter().map(|(name, _)| name).collect();
                return Err(UnknownExperiment {
                    name: name.clone(),
                    known: known.join(", "),
                }
                .into());
            }
        },
    };
    let mut plan = Plan::parse(&text, &file)?;
    if options.quick {
        plan = plan.quickened(&file)?;
    }
    if let Some(draws) = options.draws {
        plan = plan.with_draws(draws);
    }
    let name = if options.quick {
        format!("{name}-quick")
    } else {
        name
    };
    Ok((name, plan))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::job::Job;
    use cpcvae_data::DataName;

    #[test]
    fn all_plans_and_their_small_versions_are_right() {
        for (name, text) in all() {
            let plan = Plan::parse(text, &name).expect("a plan of ours");
            let quick = plan.clone().quickened(&name).expect("a small version");
            let data = DataName::parse(&plan.data).expect("a built-in data set");
            for plan in [plan, quick] {
                let jobs = Job::all(&plan, &data, None, &name).expect("settings that exist");
                assert!(!jobs.is_empty(), "{name} has cells");
            }
        }
    }
}
