//! Our side of `bench/wrn`: a wide residual network forward and backward, and a complete CPC step.
//!
//! Not a part of the course in this folder, and not meant to be called by hand. The set-up is a
//! JSON object in the first argument; the output is the seconds of each repetition, and of its
//! parts:
//!
//! ```text
//! bench-wrn '{"what": "encoder", "batch": 32, "precision": "f32", "threads": 2, "count": 5}'
//! ```
#![forbid(unsafe_code)]

use cpcvae::config::{NetName, PrecisionName, RunConfig};
use cpcvae::device::{device, set_threads};
use cpcvae::infer::Inference;
use cpcvae::method::DataKind;
use cpcvae::model::Model;
use cpcvae::net::{ImageNetShape, WideResNet, WideResNetShape};
use cpcvae::noise::{Noise, NoisePurpose};
use cpcvae::objective::{Examples, Progress};
use cpcvae::op::Compute;
use cpcvae::op::linear::Activation;
use cpcvae::plan::train_plan;
use cpcvae::prepare::Prepared;
use cpcvae::train::Adam;
use cpcvae_data::{Batch, Dataset, Labels, Layout, Matrix, Source, Split, StepRows};
use cpcvae_kernels::parallel::with_threads_awake;
use cpcvae_kernels::timing;
use serde::Deserialize;
use serde_json::json;
use std::time::Instant;

/// The same allocator as in the command-line tool.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const SIDE: usize = 32;

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[derive(Deserialize)]
struct Setup {
    /// encoder, cpc, predict or score.
    what: String,
    /// Rows; for a CPC step half of them labelled.
    batch: usize,
    /// f32 or bf16.
    precision: PrecisionName,
    threads: usize,
    /// Repetitions that are measured.
    count: usize,
}

fn main() -> Result<(), Failure> {
    let text = std::env::args().nth(1).ok_or("a set-up is missing")?;
    let setup: Setup = serde_json::from_str(&text)?;
    set_threads(setup.threads)?;
    let compute = Compute::new(&device("cpu")?.autodiff(), setup.precision.precision());
    // As in `train::fit`.
    with_threads_awake(|| match setup.what.as_str() {
        "encoder" => encoder(&setup, &compute),
        "cpc" => cpc(&setup, &compute),
        "predict" | "score" => answers(&setup, &compute),
        other => Err(format!("there is no `{other}`").into()),
    })
}

/// Times `work`, which gets the number of the repetition; the first two are not counted.
fn report(setup: &Setup, mut work: impl FnMut(u64) -> f32) {
    let (mut seconds, mut last) = (Vec::new(), 0.0);
    for repetition in 0..setup.count + 2 {
        if repetition == 2 {
            timing::start();
        }
        let begin = Instant::now();
        last = work(repetition as u64);
        if repetition >= 2 {
            seconds.push(begin.elapsed().as_secs_f64());
        }
    }
    let parts: serde_json::Map<String, serde_json::Value> = timing::stop()
        .iter()
        .map(|(name, part)| {
            let seconds = part.time.as_secs_f64() / setup.count as f64;
            let gflops = part.flop / part.time.as_secs_f64() / 1e9;
            (
                name.to_string(),
                json!({ "seconds": seconds, "gflops": gflops }),
            )
        })
        .collect();
    println!(
        "{}",
        json!({ "seconds": seconds, "loss": last, "parts": parts })
    );
}

/// The mean square of WRN-28-2's outputs, and its gradients.
fn encoder(setup: &Setup, compute: &Compute) -> Result<(), Failure> {
    let shape = ImageNetShape {
        trunk: WideResNetShape {
            depth: 28,
            width: 2,
        },
        image: [SIDE, SIDE, 1],
        dense: vec![1000; 3],
        code: 400,
        activation: Activation::LeakyRelu,
    };
    let mut network = WideResNet::new(&shape, 1, 100, compute);
    let noise = Noise::new(2, 0, compute.device());
    let x = noise.normal(NoisePurpose::Evaluation, [setup.batch, SIDE * SIDE]);
    report(setup, |_| {
        let loss = network.forward(x.clone()).square().mean();
        let value = loss.clone().into_scalar::<f32>();
        drop(loss.backward());
        network.update_running_statistics();
        value
    });
    Ok(())
}

/// A training step of CPC: terms, gradients, update.
fn cpc(setup: &Setup, compute: &Compute) -> Result<(), Failure> {
    let config = RunConfig::defaults("cpc", DataKind::Images, "noise")?.with_net(NetName::Wrn);
    let prepared = Prepared::new(images(setup)?, &config, None)?;
    let plan = train_plan(&config, &prepared)?;
    let device = compute.device();
    let mut model = Model::new(&plan.shape, 1, compute);
    let mut adam = Adam::default();
    let half = (setup.batch / 2) as u32;
    report(setup, |step| {
        let rows = StepRows {
            labelled: (0..half).collect(),
            unlabelled: (half..setup.batch as u32).collect(),
        };
        let batch = Batch::gather(&prepared.training.rows, step, rows).expect("rows exist");
        let examples = Examples::from_batch(batch, 10, true, device);
        let noise = Noise::new(1, step, device);
        let objective = &plan.recipe.stages[0].objective;
        let terms = objective
            .terms(&model, &examples, &noise, Progress::DONE)
            .expect("cpc trains a VAE");
        let loss = terms.loss().expect("cpc has terms");
        let value = loss.clone().into_scalar::<f32>();
        let gradients = loss.backward();
        drop((loss, terms));
        let taken = std::mem::replace(&mut model, Model::placeholder());
        model = adam.step(taken, gradients, plan.learning_rate, None, compute);
        model.update_running_statistics();
        value
    });
    Ok(())
}

/// Class probabilities, or evidence lower bounds, of all rows.
fn answers(setup: &Setup, compute: &Compute) -> Result<(), Failure> {
    let config = RunConfig::defaults("cpc", DataKind::Images, "noise")?.with_net(NetName::Wrn);
    let prepared = Prepared::new(images(setup)?, &config, None)?;
    let plan = train_plan(&config, &prepared)?;
    let model = Model::new(&plan.shape, 1, compute);
    let inference = Inference::new(&model, &plan.shape, compute.device(), 1);
    let rows = &prepared.training.rows.features;
    report(setup, |_| match setup.what.as_str() {
        "predict" => inference.predict(rows, 0).expect("it has classes").values[0],
        _ => inference.score(rows, 1).expect("it has codes").elbo[0],
    });
    Ok(())
}

/// Images of noise; the first half of the rows may use their labels.
fn images(setup: &Setup) -> Result<Source, Failure> {
    let rows = setup.batch;
    let values = (0..rows * SIDE * SIDE).map(|i| ((i * 7919) % 256) as f32 / 255.0);
    let layout = Layout::Image {
        height: SIDE,
        width: SIDE,
        channels: 1,
    };
    let labels = Labels::Classes {
        names: (0..10).map(|class| class.to_string()).collect(),
        of_row: (0..rows as u32).map(|row| Some(row % 10)).collect(),
    };
    let features = Matrix::new(rows, SIDE * SIDE, values.collect())?;
    let half = (rows / 2) as u32;
    Ok(Source {
        rows: Dataset::new("noise", features, layout, labels)?,
        test: None,
        split: Some(Split {
            labelled: (0..half).collect(),
            unlabelled: (half..rows as u32).collect(),
            ..Split::default()
        }),
    })
}
