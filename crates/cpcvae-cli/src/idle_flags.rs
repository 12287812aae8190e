//! Refuses flags that have no effect on the given data, since the user expects an effect.

use crate::args::FitArgs;
use anyhow::{Result, bail};
use cpcvae::config::{MeasureName, RunConfig};
use cpcvae_data::{DataName, UserFile};

/// Flags of `fit` that were given, grouped by purpose.
#[derive(Clone, Debug, Default)]
pub(crate) struct GivenFlags {
    of_images: Vec<&'static str>,
    of_tables: Vec<&'static str>,
    solver: bool,
}

impl GivenFlags {
    /// Those among the arguments.
    pub(crate) fn of(args: &FitArgs) -> Self {
        let given = |flags: &[(&'static str, bool)]| {
            let given = flags.iter().filter(|(_, given)| *given);
            given.map(|(name, _)| *name).collect()
        };
        Self {
            of_images: given(&[
                ("--size", args.images.size.is_some()),
                ("--gray", args.images.gray),
                ("--contrast", args.images.contrast),
                ("--strict", args.read.strict),
                ("--labels-file", args.read.labels_file.is_some()),
            ]),
            of_tables: given(&[
                ("--column", !args.column.is_empty()),
                ("--missing", !args.missing.is_empty()),
                ("--id", args.id.is_some()),
                ("--ignore", !args.ignore.is_empty()),
                ("--task", args.task.is_some()),
            ]),
            solver: args.solver.is_some(),
        }
    }

    /// Fails at a flag without effect under these settings.
    pub(crate) fn check_settings(&self, config: &RunConfig) -> Result<()> {
        if self.solver && config.constraint.measure == MeasureName::None {
            bail!(
                "--solver has no effect without a constraint; state one with --target-loss or \
                 --target-accuracy, or leave it out"
            );
        }
        Ok(())
    }

    /// Fails at a flag for another kind of data than a user's file has.
    pub(crate) fn check_file(&self, file: &UserFile, name: &str) -> Result<()> {
        match file {
            UserFile::Table(_) => refuse(&self.of_images, name, "a table"),
            UserFile::Images { .. } => refuse(&self.of_tables, name, "images"),
        }
    }

    /// Fails at a flag for another kind of built-in data.
    pub(crate) fn check_built_in(&self, name: &DataName) -> Result<()> {
        let DataName::BuiltIn(built_in) = name else {
            return Ok(());
        };
        let what = "a built-in data set";
        refuse(&self.of_tables, built_in.name(), what)?;
        match built_in.holds_images() {
            true => Ok(()),
            false => refuse(&self.of_images, built_in.name(), what),
        }
    }
}

fn refuse(flags: &[&str], name: &str, what: &str) -> Result<()> {
    match flags {
        [] => Ok(()),
        [one] => bail!("{one} has no effect on `{name}`, which is {what}; leave it out"),
        all => bail!(
            "{} have no effect on `{name}`, which is {what}; leave them out",
            all.join(", ")
        ),
    }
}
