//! Our side of `bench/run`: trains as `cpcvae fit` does, and measures the time of each step.
//!
//! Not a part of the course in this folder, and not meant to be called by hand. One process runs
//! one set-up, given as a JSON object in the first argument:
//!
//! ```text
//! bench-worker '{"method": "cpc", "threads": 2, "classes": 10, "rows": 10000,
//!                "data": "bench/.cache/images.u8", "settings": ["model.code=50"]}'
//! ```
//!
//! Then each line on the standard input is a request, `{"op": "steps", "count": 8, "lead": 1}`, and
//! each line on the standard output its response. `bench/protocol.py` is the same for the peers and
//! lists the operations.
//!
//! A measured step is an iteration of the loop of `train::fit`, from one call of
//! `Observer::wants_stop` to the next: waiting for the batch, objective, gradient, update, metrics.
#![forbid(unsafe_code)]

use cpcvae::config::{RunConfig, parse_settings};
use cpcvae::device::{Device, device, set_threads};
use cpcvae::infer::Inference;
use cpcvae::method::DataKind;
use cpcvae::model::Model;
use cpcvae::op::Compute;
use cpcvae::plan::train_plan;
use cpcvae::prepare::Prepared;
use cpcvae::train::{Observer, Parameters, StepReport, TrainPlan, TrainingData, fit};
use cpcvae_data::{Dataset, Labels, Layout, Matrix, Rows, Source, Split};
use cpcvae_kernels::{peak::fma_gflops, timing};
use serde::Deserialize;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead, Read, Write};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Instant;

/// The same allocator as in the command-line tool.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const SIDE: usize = 28;
const PIXELS: usize = SIDE * SIDE;

type Failure = Box<dyn std::error::Error>;

/// The set-up of this process.
#[derive(Clone, Deserialize)]
struct Setup {
    /// vae, pc, cpc or m2.
    method: String,
    threads: usize,
    classes: usize,
    /// Rows of the data to use, one in ten labelled.
    rows: usize,
    /// `rows` or more images of 28 x 28 bytes.
    data: PathBuf,
    /// `key=value`, as with `cpcvae fit --set`.
    settings: Vec<String>,
}

fn main() -> Result<(), Failure> {
    let text = std::env::args().nth(1).ok_or("a set-up is missing")?;
    let setup: Setup = serde_json::from_str(&text)?;
    set_threads(setup.threads)?;
    let mut bench = Bench::new(&setup)?;
    answer(&json!({ "ready": true }));
    for line in std::io::stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line?)?;
        match bench.handle(&request) {
            Ok(value) => answer(&value),
            Err(error) => answer(&json!({ "error": error.to_string() })),
        }
    }
    // Dropping the folder first avoids the checkpoint that an interrupted run would save.
    drop(bench.folder);
    std::process::exit(0)
}

fn answer(value: &Value) {
    println!("{value}");
    let _ = std::io::stdout().flush();
}

struct Bench {
    setup: Setup,
    plan: TrainPlan,
    data: TrainingData,
    device: Device,
    folder: tempfile::TempDir,
    /// The training, once it has started.
    training: Option<Rounds>,
}

impl Bench {
    fn new(setup: &Setup) -> Result<Self, Failure> {
        let config = config(setup)?;
        let prepared = Prepared::new(images(setup)?, &config, None)?;
        Ok(Self {
            plan: train_plan(&config, &prepared)?,
            data: prepared.training,
            device: device("cpu")?,
            folder: tempfile::tempdir()?,
            training: None,
            setup: setup.clone(),
        })
    }

    fn handle(&mut self, request: &Value) -> Result<Value, Failure> {
        let number = |key: &str| request[key].as_u64().unwrap_or(0) as usize;
        match request["op"].as_str().unwrap_or("") {
            "steps" => {
                let round = self.round(number("lead"), number("count"))?;
                Ok(json!({ "seconds": round.seconds, "losses": round.losses }))
            }
            "profile" => {
                timing::start();
                let round = self.round(0, number("count"));
                let heard = timing::stop();
                let parts: serde_json::Map<String, Value> = heard
                    .iter()
                    .map(|(name, t)| {
                        let seconds = t.time.as_secs_f64();
                        let part = json!({ "calls": t.calls, "seconds": seconds, "flop": t.flop });
                        (name.to_string(), part)
                    })
                    .collect();
                Ok(json!({ "seconds": round?.seconds, "parts": parts }))
            }
            "predict" => self.infer(number("rows"), number("repeats"), |inference, x| {
                Ok(inference.predict(x, 0)?.values.len())
            }),
            "encode" => self.infer(number("rows"), number("repeats"), |inference, x| {
                Ok(inference.encode(x)?.mean.values.len())
            }),
            "peak" => Ok(json!({ "gflops": fma_gflops(self.setup.threads) })),
            "parameters" => {
                let values = Parameters::of(&self.fresh_model()).0;
                let count: usize = values.values().map(|(_, values)| values.len()).sum();
                Ok(json!({ "count": count }))
            }
            "memory" => Ok(json!({ "peak_bytes": peak_bytes()? })),
            other => Err(format!("there is no operation `{other}`").into()),
        }
    }

    /// Runs steps: `lead` that are not measured, then `count` that are.
    fn round(&mut self, lead: usize, count: usize) -> Result<Round, Failure> {
        if self.training.is_none() {
            self.training = Some(self.begin_training());
        }
        let training = self.training.as_ref().expect("set just above");
        training.requests.send((lead, count))?;
        // The channel is closed if training failed, and the error is on standard error.
        Ok(training.rounds.recv()?)
    }

    /// `fit` on its own thread, which waits between rounds.
    fn begin_training(&self) -> Rounds {
        let (requests, to_take) = channel();
        let (taken, rounds) = channel();
        let (plan, data, device) = (self.plan.clone(), self.data.clone(), self.device.clone());
        let folder = self.folder.path().to_owned();
        std::thread::spawn(move || {
            let mut watch = Watch {
                to_take,
                taken,
                left: 0,
                stamps: Vec::new(),
                losses: Vec::new(),
                lead: 0,
            };
            if let Err(error) = fit(&plan, &data, Some(&folder), &device, &mut watch) {
                eprintln!("bench-worker: {error}");
            }
        });
        Rounds { requests, rounds }
    }

    fn fresh_model(&self) -> Model {
        let compute = Compute::new(&self.device, self.plan.precision);
        Model::new(&self.plan.shape, self.plan.seed, &compute)
    }

    /// Times `repeats` passes of inference for the first `rows` rows, with an untrained model.
    fn infer(
        &self,
        rows: usize,
        repeats: usize,
        ask: impl Fn(&Inference, &Matrix) -> Result<usize, Failure>,
    ) -> Result<Value, Failure> {
        let inference = Inference::new(&self.fresh_model(), &self.plan.shape, &self.device, 0);
        let x = self.data.rows.features.part(0..rows);
        let mut seconds = Vec::new();
        for _ in 0..repeats {
            let begin = Instant::now();
            std::hint::black_box(ask(&inference, &x)?);
            seconds.push(begin.elapsed().as_secs_f64());
        }
        Ok(json!({ "seconds": seconds }))
    }
}

/// The two ends of the channels to the training thread.
struct Rounds {
    requests: Sender<(usize, usize)>,
    rounds: Receiver<Round>,
}

struct Round {
    seconds: Vec<f64>,
    losses: Vec<f32>,
}

/// Records the start of each step, and waits at the end of a round.
struct Watch {
    to_take: Receiver<(usize, usize)>,
    taken: Sender<Round>,
    lead: usize,
    left: usize,
    stamps: Vec<Instant>,
    losses: Vec<f32>,
}

impl Observer for Watch {
    fn on_step(&mut self, report: &StepReport<'_>) {
        self.losses.push(report.loss);
    }

    fn wants_stop(&mut self) -> bool {
        let now = Instant::now();
        if self.left > 0 {
            self.stamps.push(now);
            self.left -= 1;
            if self.left > 0 {
                return false;
            }
            let pairs = self.stamps.windows(2).skip(self.lead);
            let seconds = pairs.map(|p| (p[1] - p[0]).as_secs_f64()).collect();
            let losses = std::mem::take(&mut self.losses);
            let _ = self.taken.send(Round { seconds, losses });
        }
        let Ok((lead, count)) = self.to_take.recv() else {
            return true;
        };
        (self.lead, self.left) = (lead, lead + count);
        self.stamps = vec![Instant::now()];
        false
    }
}

/// Defaults overridden by the settings of `bench/settings.py`.
fn config(setup: &Setup) -> Result<RunConfig, Failure> {
    let defaults = RunConfig::defaults(&setup.method, DataKind::Images, "blobs")?;
    Ok(defaults.overlaid(&parse_settings(&setup.settings)?, "bench/settings.py")?)
}

/// The images of the file; row i has class `i % classes`, and every tenth row may use it.
fn images(setup: &Setup) -> Result<Source, Failure> {
    let mut file = File::open(&setup.data)?;
    let mut values = Vec::with_capacity(setup.rows * PIXELS);
    let mut row = [0; PIXELS];
    for _ in 0..setup.rows {
        file.read_exact(&mut row)?;
        values.extend(row.map(|byte| f32::from(byte) / 255.0));
    }
    let classes = setup.classes as u32;
    let labels = Labels::Classes {
        names: (0..classes).map(|class| class.to_string()).collect(),
        of_row: (0..setup.rows as u32)
            .map(|row| Some(row % classes))
            .collect(),
    };
    let layout = Layout::Image {
        height: SIDE,
        width: SIDE,
        channels: 1,
    };
    let features = Matrix::new(setup.rows, PIXELS, values)?;
    let first_unlabelled = (setup.rows / 10) as u32;
    Ok(Source {
        rows: Dataset::new("blobs", features, layout, labels)?,
        test: None,
        split: Some(Split {
            labelled: (0..first_unlabelled).collect(),
            unlabelled: (first_unlabelled..setup.rows as u32).collect(),
            ..Split::default()
        }),
    })
}

/// The peak memory of this process, as counted by the kernel.
fn peak_bytes() -> Result<u64, Failure> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1));
    Ok(kilobytes.ok_or("the kernel does not say")?.parse::<u64>()? * 1024)
}
