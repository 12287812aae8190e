//! 3. Images: a model with affine transforms in its code, its samples and its reconstructions.
//!
//! ```text
//! cargo run --release -p cpcvae --example 03-images
//! ```
//!
//! The network and the number of steps are small, so that this ends soon: the shapes come out
//! blurred, with blots around them. `cargo run --release -- demo --images` trains longer and
//! draws figures.

use cpcvae::config::RunConfig;
use cpcvae::device::device;
use cpcvae::infer::{CodeSource, Reconstruction, RejectionLimits};
use cpcvae::method::DataKind;
use cpcvae::run::{RunFolder, Trained, run};
use cpcvae::train::Silent;
use cpcvae_data::{Matrix, Source, glyphs};

const SIDE: usize = 28;

/// Images `[images, 784]` side by side, every second line of pixels, the brightest one as `#`.
fn show(images: &Matrix) {
    let top = images.values.iter().fold(0f32, |top, p| top.max(*p));
    for line in (0..SIDE).step_by(2) {
        for image in 0..images.rows {
            let pixels = &images.row(image)[line * SIDE..(line + 1) * SIDE];
            let ink =
                |p: &f32| [' ', '.', ':', 'o', '#'][(p / top * 4.99).clamp(0.0, 4.0) as usize];
            print!("{} ", pixels.iter().map(ink).collect::<String>());
        }
        println!();
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // 1,200 drawn shapes of 10 classes; the last 200 are for the test. 10 labels a class.
    let all = glyphs(1200, 0)?;
    let test = all.select(&(1000..1200).collect::<Vec<_>>());
    let source = Source {
        rows: all.select(&(0..1000).collect::<Vec<_>>()),
        test: Some(test.clone()),
        split: None, // the run draws one: `data.labels` of the labels, equally many a class
    };

    // The defaults for images: Noise-Normal likelihood, and the first 6 of the code's dimensions
    // are an affine transform. What is made smaller here is for speed only.
    let mut config = RunConfig::defaults("cpc", DataKind::Images, "glyphs")?;
    config.data.labels = 100;
    config.model.hidden = vec![128];
    config.model.code = 22;
    config.train.labelled_per_batch = 32;
    config.train.unlabelled_per_batch = 32;
    config.train.steps = 600;
    config.train.learning_rate = 2e-3;
    let folder = tempfile::tempdir()?;
    let run_folder = RunFolder::at(folder.path().join("run"));
    let cpu = device("cpu")?;
    let report = run(&config, source, &run_folder, &cpu, &mut Silent)?;
    let accuracy = report.test.and_then(|test| test.accuracy).unwrap_or(0.0);
    println!(
        "accuracy {:.0} % after {:.1} s",
        100.0 * accuracy,
        report.fit.seconds
    );

    // Class-conditional samples: codes like those of the rows are drawn until the predictor gives
    // one to the class with this probability. The paper's 0.95 is too much for a model trained so
    // briefly. A class that is too rare is an error.
    let trained = Trained::open(&run_folder, &cpu, 0)?;
    let (preprocess, inference) = (&trained.card.preprocess, &trained.inference);
    let limits = RejectionLimits {
        codes: CodeSource::Fitted,
        threshold: 0.6,
        draws: 20_000,
    };
    for class in [0, 2] {
        let name = &test.class_names()[class];
        match inference.sample_class(class, 4, false, limits) {
            Ok(samples) => {
                let share = 100.0 * samples.acceptance;
                println!("\n{name}: {share:.1} % of {} codes kept", samples.drawn);
                // Models work with pixels in [-1, 1]; `invert` gives [0, 1] again.
                show(&preprocess.invert(samples.features));
            }
            Err(error) => println!("\n{error}"),
        }
    }

    // Four images of one class, as they are and with the transform of each set to the mean over
    // the four: shift, angle and size differ above, less so below.
    let rings = test.select(&[2, 12, 22, 32]);
    let prepared = preprocess.apply(rings.clone())?.features;
    let aligned = inference.reconstruct(&prepared, Reconstruction::Aligned)?;
    println!("\noriginals, and their aligned reconstructions");
    show(&rings.features.matrix());
    show(&preprocess.invert(aligned));
    Ok(())
}
