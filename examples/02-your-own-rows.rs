//! 2. Your own rows, most of them without a label: fit, predict, score, encode.
//!
//! ```text
//! cargo run --release -p cpcvae --example 02-your-own-rows
//! ```

use cpcvae::config::RunConfig;
use cpcvae::device::device;
use cpcvae::method::DataKind;
use cpcvae::run::{RunFolder, Trained, run};
use cpcvae::train::Silent;
use cpcvae_data::{Dataset, Labels, Layout, Matrix};

/// Length and width of petals in mm: two kinds that overlap in each column alone. Of 400 rows,
/// one in 40 has a label.
fn flowers() -> (Vec<[f32; 2]>, Vec<Option<u32>>) {
    // A plain sequence that fills the unit square evenly stands in for measurements.
    let spread = |i: usize, step: f32| (i as f32 * step).fract() + (i as f32 * step * 7.0).fract();
    let row = |i: usize| {
        let (length, tilt) = (10.0 * spread(i, 0.618_034), 2.0 * spread(i, 0.754_878));
        let start = if i.is_multiple_of(2) { 20.0 } else { 12.0 };
        [40.0 + length, start + 0.8 * length + tilt]
    };
    let label = |i: usize| (i % 40 < 2 && i % 80 < 40).then_some(i as u32 % 2);
    ((0..400).map(row).collect(), (0..400).map(label).collect())
}

/// Rows of the two columns. A row without label has `None`.
fn dataset(rows: &[[f32; 2]], labels: Labels) -> cpcvae_data::Result<Dataset> {
    let values = rows.iter().flatten().copied().collect();
    let layout = Layout::Columns(vec!["length".into(), "width".into()]);
    Dataset::new(
        "flowers",
        Matrix::new(rows.len(), 2, values)?,
        layout,
        labels,
    )
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (rows, of_row) = flowers();
    println!(
        "{} rows, {} with a label",
        rows.len(),
        of_row.iter().flatten().count()
    );
    let names = vec!["broad".into(), "narrow".into()];
    let training = dataset(&rows, Labels::Classes { names, of_row })?;

    // A `Dataset` becomes a `Source` without test rows. The run splits it: rows with a label are
    // labelled, the others unlabelled. Columns are standardised over the training rows.
    let mut config = RunConfig::defaults("cpc", DataKind::Table, "flowers")?;
    config.train.steps = 1500;
    let folder = tempfile::tempdir()?;
    let run_folder = RunFolder::at(folder.path().join("run"));
    let cpu = device("cpu")?;
    run(&config, training.into(), &run_folder, &cpu, &mut Silent)?;

    // A finished run can be opened at any later time. Its card says what the model expects.
    let trained = Trained::open(&run_folder, &cpu, 0)?;
    let (preprocess, inference) = (&trained.card.preprocess, &trained.inference);

    // New rows: one of each kind, and one that is like nothing seen before. The model answers
    // about prepared rows, so they go through the same scaling first.
    let new_rows = [[50.0, 30.0], [50.0, 22.0], [10.0, 90.0]];
    let prepared = preprocess
        .apply(dataset(&new_rows, Labels::None)?)?
        .features;
    let classes = inference.predict(&prepared, 0)?; // at the mean of q(z|x)
    let averaged = inference.predict(&prepared, 100)?; // over 100 draws of z
    let scores = inference.score(&prepared, 100)?;
    let codes = inference.encode(&prepared)?;
    for (i, row) in new_rows.iter().enumerate() {
        println!(
            "{row:?}: P(narrow) {:.3} (averaged {:.3}), log p(x) {:.2}, code {:.2?} +- {:.2?}",
            classes.row(i)[1],
            averaged.row(i)[1],
            // Densities of standardised columns become densities in mm by a constant.
            scores.log_likelihood[i] + preprocess.log_density_shift(&prepared.row(i)),
            codes.mean.row(i),
            codes.sigma.row(i)
        );
    }
    println!("A low log p(x) marks the row about which P(narrow) says nothing.");
    Ok(())
}
