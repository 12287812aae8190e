//! The experiments that come with the program, and those of the user.

use crate::args::ExperimentArgs;
use anyhow::{Context, Result, bail};
use cpcvae_lab::experiment::Plan;

/// Name and plan of a file in `experiments/`.
macro_rules! plan {
    ($name:literal) => {
        (
            $name,
            include_str!(concat!("../../../../../experiments/", $name, ".toml")),
        )
    };
}

/// Name and plan of each, in the order of the paper.
const EXPERIMENTS: [(&str, &str); 16] = [
    plan!("fig1-half-moon"),
    plan!("fig2-mnist-2d"),
    plan!("half-moon-methods"),
    plan!("table1-mnist"),
    plan!("table2-mnist"),
    plan!("fig4-mnist-reconstructions"),
    plan!("sensitivity-mnist"),
    plan!("precision-mnist"),
    plan!("precision-svhn"),
    plan!("runtime-mnist"),
    plan!("constraint-mnist"),
    plan!("table1-mnist-wrn"),
    plan!("table1-svhn"),
    plan!("table1-svhn-small"),
    plan!("fig5-svhn"),
    plan!("fig6-celeba"),
];

/// A line for each experiment.
pub fn list() -> Result<String> {
    let mut text = String::new();
    for (name, plan) in EXPERIMENTS {
        text += &format!("{name:<28}{}\n", Plan::parse(plan, name)?.title);
    }
    Ok(text)
}

/// The experiment that was asked for, with its name.
pub fn find(args: &ExperimentArgs) -> Result<(String, Plan)> {
    let (name, file, text) = match (&args.file, &args.name) {
        (Some(path), _) => {
            let text = std::fs::read_to_string(path)
                .with_context(|| format!("the plan {} cannot be read", path.display()))?;
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            (name.into_owned(), path.display().to_string(), text)
        }
        (None, Some(name)) => match EXPERIMENTS.iter().find(|(own, _)| own == name) {
            Some((_, text)) => (name.clone(), name.clone(), text.to_string()),
            None => bail!(
                "there is no experiment `{name}`; there are: {} (`--file` takes a plan of your \
                 own)",
                EXPERIMENTS.map(|(name, _)| name).join(", ")
            ),
        },
        (None, None) => bail!("which experiment? `--list` lists them"),
    };
    let mut plan = Plan::parse(&text, &file)?;
    if args.quick {
        plan = plan.quickened(&file)?;
    }
    if let Some(draws) = args.draws {
        plan = plan.with_draws(draws);
    }
    let name = if args.quick {
        format!("{name}-quick")
    } else {
        name
    };
    Ok((name, plan))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::experiment::job::Job;
    use cpcvae_data::DataName;

    #[test]
    fn all_plans_and_their_small_versions_are_right() {
        for (name, text) in EXPERIMENTS {
            let plan = Plan::parse(text, name).expect("a plan of ours");
            let quick = plan.clone().quickened(name).expect("a small version");
            let data = DataName::parse(&plan.data).expect("a built-in data set");
            for plan in [plan, quick] {
                let jobs = Job::all(&plan, &data, None, name).expect("settings that exist");
                assert!(!jobs.is_empty(), "{name} has cells");
            }
        }
    }
}
