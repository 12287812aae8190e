//! Job files with which other engines run the cells of an experiment: a HyperQueue job, a Slurm
//! array, an indexed Kubernetes job.

use super::{Options, cells};
use anyhow::{Context, Result};
use cpcvae_data::write_atomically;
use std::path::PathBuf;

/// An engine that runs the cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// `hq job submit-file`.
    HyperQueue,
    /// `sbatch`.
    Slurm,
    /// `kubectl apply`.
    Kubernetes,
}

/// What an engine needs to know beside the experiment.
#[derive(Clone, Debug)]
pub struct Task {
    /// The command of a cell without its number, program first.
    pub command: Vec<String>,
    /// Its working directory.
    pub folder: PathBuf,
    /// Processors of a cell.
    pub processors: usize,
    /// The container image.
    pub image: String,
}

/// A job file, and the command that submits it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The file.
    pub path: PathBuf,
    /// Program and arguments.
    pub submit: Vec<String>,
    /// How many cells it has.
    pub cells: usize,
}

/// Writes the job file of an experiment beside its results.
pub fn write(options: &Options, engine: Engine, task: &Task) -> Result<Written> {
    let (cells, name) = cells::count(options)?;
    let ending = match engine {
        Engine::HyperQueue => "hq.toml",
        Engine::Slurm => "slurm.sh",
        Engine::Kubernetes => "job.yaml",
    };
    let path = options.results.join(format!("{name}.{ending}"));
    let text = match engine {
        Engine::HyperQueue => hyperqueue(&name, cells, task),
        Engine::Slurm => slurm(&name, cells, task),
        Engine::Kubernetes => kubernetes(&name, cells, task),
    };
    cpcvae_data::create_folder(&options.results)
        .with_context(|| format!("the folder {} cannot be made", options.results.display()))?;
    write_atomically(&path, text.as_bytes())?;
    let program: &[&str] = match engine {
        Engine::HyperQueue => &["hq", "job", "submit-file"],
        Engine::Slurm => &["sbatch"],
        Engine::Kubernetes => &["kubectl", "apply", "-f"],
    };
    let mut submit: Vec<String> = program.iter().map(ToString::to_string).collect();
    submit.push(path.display().to_string());
    Ok(Written {
        path,
        submit,
        cells,
    })
}

/// A name that all three accept: lower case, digits and dashes.
fn plain(name: &str) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_lowercase()
        } else {
            '-'
        }
    };
    let text: String = name.chars().map(plain).collect();
    format!("cpcvae-{}", text.trim_matches('-'))
}

/// A JSON string is also a valid string in TOML and YAML.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn hyperqueue(name: &str, cells: usize, task: &Task) -> String {
    let command: Vec<String> = task.command.iter().map(|part| quoted(part)).collect();
    format!(
        "# hq job submit-file THIS; the number of a cell is HQ_TASK_ID.\n\
         name = {}\n\n\
         [[array]]\n\
         ids = \"0-{}\"\n\
         command = [{}]\n\
         cwd = {}\n\
         # A worker that is lost costs a cell what it did since its last checkpoint.\n\
         crash_limit = 100\n\n\
         [[array.request]]\n\
         resources = {{ \"cpus\" = {} }}\n",
        quoted(&plain(name)),
        cells.saturating_sub(1),
        command.join(", "),
        quoted(&task.folder.display().to_string()),
        task.processors
    )
}

fn slurm(name: &str, cells: usize, task: &Task) -> String {
    let command: Vec<String> = task.command.iter().map(|part| for_shell(part)).collect();
    format!(
        "#!/bin/sh\n\
         # sbatch THIS; the number of a cell is SLURM_ARRAY_TASK_ID.\n\
         #SBATCH --job-name={}\n\
         #SBATCH --array=0-{}\n\
         #SBATCH --cpus-per-task={}\n\
         #SBATCH --requeue\n\
         #SBATCH --open-mode=append\n\
         #SBATCH --output=cell-%a.log\n\
         # A minute before its time is over the cell writes a checkpoint.\n\
         #SBATCH --signal=B:TERM@60\n\
         cd {} || exit 1\n\
         exec {}\n",
        plain(name),
        cells.saturating_sub(1),
        task.processors,
        for_shell(&task.folder.display().to_string()),
        command.join(" ")
    )
}

fn for_shell(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@".contains(c);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.into(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

fn kubernetes(name: &str, cells: usize, task: &Task) -> String {
    let name = plain(name);
    let mut command = String::new();
    for part in &task.command {
        command += &format!("            - {}\n", quoted(part));
    }
    format!(
        "# kubectl apply -f THIS; the number of a cell is JOB_COMPLETION_INDEX. The claim `cpcvae` holds\n\
         # plans, data and results, and all pods write there.\n\
         apiVersion: batch/v1\n\
         kind: Job\n\
         metadata:\n  name: {name}\n\
         spec:\n  completionMode: Indexed\n  completions: {cells}\n  parallelism: {cells}\n  \
         backoffLimitPerIndex: 10\n  maxFailedIndexes: {cells}\n  template:\n    spec:\n      \
         restartPolicy: Never\n      terminationGracePeriodSeconds: 60\n      containers:\n        \
         - name: cell\n          image: {}\n          workingDir: /work\n          command:\n{command}          \
         resources:\n            requests:\n              cpu: \"{}\"\n          \
         volumeMounts:\n            - name: work\n              mountPath: /work\n      \
         volumes:\n        - name: work\n          persistentVolumeClaim:\n            claimName: cpcvae\n",
        quoted(&task.image),
        task.processors
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task() -> Task {
        Task {
            command: ["cpcvae", "experiment", "--file", "my plan.toml", "--cell"]
                .map(String::from)
                .to_vec(),
            folder: "/data/it's here".into(),
            processors: 2,
            image: "cpcvae:0.1".into(),
        }
    }

    #[test]
    fn a_job_of_hyperqueue_has_a_task_for_each_cell() {
        let text = hyperqueue("fig1", 12, &task());
        let job: toml::Table = text.parse().expect("TOML");
        let array = &job["array"][0];
        assert_eq!(array["ids"].as_str(), Some("0-11"));
        assert_eq!(array["command"][3].as_str(), Some("my plan.toml"));
        assert_eq!(
            array["request"][0]["resources"]["cpus"].as_integer(),
            Some(2)
        );
    }

    #[test]
    fn a_script_of_slurm_survives_blanks_and_quotes() {
        let text = slurm("Fig 1", 4, &task());
        assert!(text.contains("#SBATCH --array=0-3\n") && text.contains("=cpcvae-fig-1\n"));
        assert!(
            text.contains(r"cd '/data/it'\''s here' || exit 1"),
            "{text}"
        );
        assert!(text.ends_with("exec cpcvae experiment --file 'my plan.toml' --cell\n"));
    }

    #[test]
    fn a_job_of_kubernetes_is_indexed() {
        let text = kubernetes("fig1_half.moon", 4, &task());
        for line in [
            "  name: cpcvae-fig1-half-moon",
            "  completionMode: Indexed",
            "  completions: 4",
            "            - \"my plan.toml\"",
            "      restartPolicy: Never",
            "          image: \"cpcvae:0.1\"",
            "              cpu: \"2\"",
        ] {
            assert!(
                text.lines().any(|other| other == line),
                "{line:?} in {text}"
            );
        }
    }
}
