//! The experiments that come with the program, and those of the user.

use crate::args::ExperimentArgs;
use anyhow::{Context, Result, bail};
use cpcvae_lab::experiment::Plan;

/// Name and plan of each, in the order of the paper.
const EXPERIMENTS: [(&str, &str); 14] = [
    (
        "fig1-half-moon",
        include_str!("../../../../../experiments/fig1-half-moon.toml"),
    ),
    (
        "fig2-mnist-2d",
        include_str!("../../../../../experiments/fig2-mnist-2d.toml"),
    ),
    (
        "half-moon-methods",
        include_str!("../../../../../experiments/half-moon-methods.toml"),
    ),
    (
        "table1-mnist",
        include_str!("../../../../../experiments/table1-mnist.toml"),
    ),
    (
        "table2-mnist",
        include_str!("../../../../../experiments/table2-mnist.toml"),
    ),
    (
        "fig4-mnist-reconstructions",
        include_str!("../../../../../experiments/fig4-mnist-reconstructions.toml"),
    ),
    (
        "sensitivity-mnist",
        include_str!("../../../../../experiments/sensitivity-mnist.toml"),
    ),
    (
        "runtime-mnist",
        include_str!("../../../../../experiments/runtime-mnist.toml"),
    ),
    (
        "constraint-mnist",
        include_str!("../../../../../experiments/constraint-mnist.toml"),
    ),
    (
        "table1-mnist-wrn",
        include_str!("../../../../../experiments/table1-mnist-wrn.toml"),
    ),
    (
        "table1-svhn",
        include_str!("../../../../../experiments/table1-svhn.toml"),
    ),
    (
        "table1-svhn-small",
        include_str!("../../../../../experiments/table1-svhn-small.toml"),
    ),
    (
        "fig5-svhn",
        include_str!("../../../../../experiments/fig5-svhn.toml"),
    ),
    (
        "fig6-celeba",
        include_str!("../../../../../experiments/fig6-celeba.toml"),
    ),
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
    use crate::data_name::DataName;

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
