//! `cpcvae`: the command-line tool for semi-supervised variational autoencoders.
//!
//! Arguments are parsed once (`args`), turned into settings (`settings`), and passed to one
//! function per command (`command`). It is a library, so that the Python package includes the
//! command, too.
#![forbid(unsafe_code)]

mod args;
mod column_notes;
mod command;
mod data_dir;
mod exit;
mod hint;
mod idle_flags;
mod interrupt;
mod opened;
mod output;
mod overall_progress;
mod passthrough;
mod printer;
mod progress;
mod ranks;
mod settings;
mod units;
mod user_file;

use args::{Cli, Command};
use clap::Parser;
pub use exit::ExitCode;
use printer::Printer;
use std::ffi::{OsStr, OsString};
use std::sync::OnceLock;

/// The arguments as typed, for repeating them in advice.
static TYPED: OnceLock<Vec<OsString>> = OnceLock::new();

/// Runs the command given by the arguments after the program's name, as a complete program: prints,
/// handles Ctrl-C, and ends the process itself for `--help` and invalid arguments. May be called
/// once per process.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let typed = TYPED.get_or_init(|| arguments.into_iter().collect());
    let words = std::iter::once(OsStr::new("cpcvae")).chain(typed.iter().map(OsString::as_os_str));
    match dispatch(Cli::parse_from(words).command) {
        Ok(code) => code,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            printer::say(with_causes(&error).trim_end());
            ExitCode::FAILURE
        }
    }
}

/// The arguments after the program's name.
fn typed() -> Vec<String> {
    let words = TYPED.get().into_iter().flatten();
    words
        .map(|word| word.to_string_lossy().into_owned())
        .collect()
}

fn dispatch(command: Command) -> anyhow::Result<ExitCode> {
    let loud = Printer::default();
    let json = |json| Printer { json, ..loud };
    match command {
        Command::Fit(args) => {
            let printer = Printer {
                quiet: args.fit.quiet,
                json: args.fit.json,
            };
            command::fit::run(*args, printer)
        }
        Command::Evaluate(args) => command::evaluate::run(&args, json(args.json)),
        Command::Predict(args) => command::predict::run(&args, loud),
        Command::Impute(args) => command::impute::run(&args, loud),
        Command::Suggest(args) => command::suggest::run(&args, loud),
        Command::LearningCurve(args) => {
            let printer = Printer {
                quiet: args.fit.quiet,
                json: args.fit.json,
            };
            command::learning_curve::run(*args, printer)
        }
        Command::Tune(args) => {
            let printer = Printer {
                quiet: args.fit.quiet,
                json: args.fit.json,
            };
            command::tune::run(*args, printer)
        }
        Command::Encode(args) => command::encode::run(&args, loud),
        Command::Score(args) => command::score::run(&args, json(args.json)),
        Command::Reconstruct(args) => command::reconstruct::run(&args, loud),
        Command::Sample(args) => command::sample::run(&args, loud),
        Command::Quality(args) => command::quality::run(&args, json(args.json)),
        Command::Export(args) => command::export::run(&args, json(args.json)),
        Command::Demo(args) => {
            let printer = Printer {
                quiet: args.quiet,
                json: args.json,
            };
            command::demo::run(args, printer)
        }
        Command::Experiment(args) => {
            let printer = Printer {
                quiet: args.quiet,
                json: args.json,
            };
            command::experiment::run(&args, printer)
        }
        Command::Data(args) => command::data::run(&args, loud),
        Command::Devices(args) => command::devices::run(&args, json(args.json)),
        Command::Methods => command::methods::run(loud),
        Command::Completions { shell } => command::completions::run(shell),
    }
}

/// The error and its causes, without repetitions.
fn with_causes(error: &anyhow::Error) -> String {
    let mut text = format!("error: {error}\n");
    for cause in error.chain().skip(1).map(ToString::to_string) {
        // Many messages already include their cause.
        if !text.contains(&cause) {
            text += &format!("  because: {cause}\n");
        }
    }
    if let Some(hint) = error.chain().find_map(hint::hint) {
        text += &format!("  hint: {hint}\n");
    }
    text
}

/// Whether the reader of the output has closed it, as in `cpcvae predict ... | head`.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    // A csv error contains that of the pipe without giving it as its source.
    let of_csv = |cause: &(dyn std::error::Error + 'static)| {
        let error = cause.downcast_ref::<csv::Error>();
        match error.map(csv::Error::kind) {
            Some(csv::ErrorKind::Io(error)) => Some(error.kind()),
            _ => None,
        }
    };
    let kind = |cause: &(dyn std::error::Error + 'static)| {
        let error = cause.downcast_ref::<std::io::Error>();
        error.map(std::io::Error::kind).or_else(|| of_csv(cause))
    };
    error
        .chain()
        .any(|cause| kind(cause) == Some(std::io::ErrorKind::BrokenPipe))
}
