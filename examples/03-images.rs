//! 3. Images: a model with affine transforms in its code, its samples and its reconstructions.
//!
//! ```text
//! cargo run --release -p cpcvae --example 03-images
//! ```
//!
//! The network and the number of steps are small, so that this finishes soon: the shapes come out
//! blurred, with blots around them. `cargo run --release -- demo --images` trains longer and draws
//! figures.

use cpcvae::infer::Reconstruction;
use cpcvae::prelude::*;
use cpcvae_data::glyphs;

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

fn main() -> Result<()> {
    // 1,200 drawn shapes of 10 classes; the last 200 are test rows.
    let all = glyphs(1200, 0)?;
    let test = all.select(&(1000..1200).collect::<Vec<_>>());
    let source = Source {
        rows: all.select(&(0..1000).collect::<Vec<_>>()),
        test: Some(test.clone()),
        split: None, // drawn by `fit`: as many labels as are asked for, equally many a class
    };

    // The first 6 dimensions of an image's code are an affine transform. Sizes are reduced here for
    // speed only.
    let cpc = Cpc::new()
        .pseudo_labels("none")
        .labels(100)
        .hidden(&[128])
        .code(22)
        .set("train.labelled_per_batch", 32)
        .set("train.unlabelled_per_batch", 32)
        .steps(600)
        .learning_rate(2e-3)
        .hold_out(false);
    let fitted = cpc.fit(source)?;
    let report = fitted.report();
    let accuracy = report.test.as_ref().and_then(|test| test.accuracy);
    println!(
        "accuracy {:.0} % after {:.1} s",
        100.0 * accuracy.unwrap_or_default(),
        report.fit.seconds
    );

    // Class-conditional samples: codes are drawn from the mixture fitted to those of the rows until
    // the predictor gives one to the class with this probability. The paper's 0.95 is too much for
    // such a short training. A class that is too rare is an error.
    let options = SampleOptions {
        threshold: 0.6,
        most_codes: 20_000,
        ..SampleOptions::default()
    };
    for class in ["bar", "ring"] {
        match fitted.sample_class(class, 4, options) {
            Ok(samples) => {
                let share = 100.0 * samples.acceptance;
                println!("\n{class}: {share:.1} % of {} codes kept", samples.drawn);
                show(&samples.rows);
            }
            Err(error) => println!("\n{error}"),
        }
    }

    // Four images of one class, unchanged and with the transform of each set to the mean over the
    // four: shift, angle and size differ above, less so below.
    let rings = test.select(&[2, 12, 22, 32]);
    println!("\noriginals, and their aligned reconstructions");
    show(&rings.features.matrix());
    show(&fitted.reconstruct(&rings, Reconstruction::Aligned)?);
    Ok(())
}
