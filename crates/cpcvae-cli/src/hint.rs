//! The flags for an error of the library, whose messages only name settings.

use cpcvae::{Error, Remedy};
use cpcvae_data::{DataError, DataRemedy};
use cpcvae_lab::harness::UnknownExperiment;

/// A hint, if a flag or a command can help with the error.
pub(crate) fn hint(error: &(dyn std::error::Error + 'static)) -> Option<String> {
    if error.is::<UnknownExperiment>() {
        return Some("--list lists the experiments, --file takes a plan of your own".into());
    }
    match error.downcast_ref::<Error>() {
        Some(Error::Data(error)) => of_data(error),
        Some(Error::Part { source, .. }) => hint(source.as_ref()),
        Some(Error::RunExists(_)) => Some(
            "--resume continues it, --overwrite removes it first, --out names another folder"
                .into(),
        ),
        Some(Error::WithRemedy { remedy, .. }) => Some(of_remedy(*remedy).into()),
        Some(Error::NotFinite { .. }) => {
            Some("settings are given with --set, as in `--set train.clip_norm=10`".into())
        }
        Some(_) => None,
        None => of_data(error.downcast_ref()?),
    }
}

fn of_remedy(remedy: Remedy) -> &'static str {
    match remedy {
        Remedy::NameLabels => "--label names the label column; --method vae needs no labels",
        Remedy::HoldOutRows => "train it again with `--test 0.2`",
        Remedy::ExpectMissingCells => "train again with `--set model.missing_cells=true`",
        Remedy::EnableTransform => "train with `--set model.transform.enabled=true`",
        Remedy::ConstrainLoss => "--target-loss states a constraint on the loss",
        Remedy::RelaxRejection => {
            "--threshold sets the probability, --max-draws how many codes are drawn"
        }
        Remedy::Resume => "`cpcvae fit ... --resume` continues it",
        Remedy::OtherFolder => "--out names the folder of the run",
        Remedy::TrainPlainVae => "without --beside a plain VAE is trained",
        Remedy::Evaluate => "`cpcvae evaluate` measures predictions",
    }
}

fn of_data(error: &DataError) -> Option<String> {
    match error {
        DataError::Split(_) => Some(
            "--label names the label column, --labels N uses N of the labels, --validation and \
             --test hold rows out, --method labels-only needs no unlabelled rows (nor does any other \
             with --set train.unlabelled_per_batch=0)"
                .into(),
        ),
        DataError::NoLabelColumn { .. } => {
            Some("--label COLUMN names it; --method vae trains without labels".into())
        }
        DataError::Columns { .. } => Some(
            "--column NAME=KIND declares a kind, --missing TEXT calls a value missing, --ignore NAME \
             leaves a column out, --id NAME names rows by it"
                .into(),
        ),
        DataError::UnlabelledImages(_) => {
            Some(
                "put the images of a class into a folder of its name, or name a table of files and \
                 labels with --labels-file FILE; --method vae trains without labels"
                    .into(),
            )
        }
        DataError::WithRemedy { remedy, .. } => Some(of_data_remedy(remedy)),
        _ => None,
    }
}

fn of_data_remedy(remedy: &DataRemedy) -> String {
    match remedy {
        DataRemedy::RaiseLimit => "--most-bytes N raises the limit".into(),
        DataRemedy::NameArrays => "--features-name and --label name the arrays".into(),
        DataRemedy::ResizeImages => {
            "--size N crops images to their middle square and resizes them to NxN, --gray converts \
             colour into grey"
                .into()
        }
        DataRemedy::LeaveOutImages => "without --strict such images are left out".into(),
        DataRemedy::ReadCell { column, text, kind } => {
            format!("`--missing {text}`, `--column {column}={kind}` or `--ignore {column}`")
        }
        DataRemedy::RetrainColumn { column, kind } => {
            format!("train again with `--column {column}={kind}`")
        }
        DataRemedy::LeaveOutColumn { column } => {
            format!("`--ignore {column}`, `--id {column}` or `--column {column}=category`")
        }
        DataRemedy::LeaveOutColumns => "--ignore NAME leaves a column out".into(),
        DataRemedy::FindData { fetch: Some(name) } => {
            format!(
                "`cpcvae data fetch {name}` fetches it; --data-dir names the folder that has it"
            )
        }
        DataRemedy::FindData { fetch: None } => "--data-dir names the folder that has it".into(),
    }
}
