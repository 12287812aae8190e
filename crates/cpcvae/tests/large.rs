//! Data that stays in its file gives the same results as data in memory, bit for bit.

use burn::tensor::Device;
use cpcvae::config::{RunConfig, parse_settings};
use cpcvae::infer::{CHUNK, Filling, Inference};
use cpcvae::method::DataKind;
use cpcvae::run::{RunFolder, Trained, run};
use cpcvae::train::Silent;
use cpcvae_data::{
    Features, HalfMoon, Matrix, Opened, ReadOptions, Rows, Source, Table, TableOptions, open_path,
};
use std::path::Path;

const COLUMNS: usize = 6;

/// An array of five features and a label, as NumPy stores it.
fn write_npy(path: &Path, rows: usize) {
    let header =
        format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {COLUMNS}), }}");
    let header = format!("{header:<117}\n");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.bytes());
    for row in 0..rows {
        let class = row % 2;
        let wave = |by: f32| (row as f32 * by).sin() + class as f32;
        let label = if row % 7 == 0 { class as f32 } else { -1.0 };
        let count = (row % 30) as f32;
        let gap = if row % 11 == 0 { f32::NAN } else { wave(0.3) };
        let cells = [wave(0.1), wave(0.7), class as f32, count, gap, label];
        file.extend(cells.iter().flat_map(|cell| cell.to_le_bytes()));
    }
    std::fs::write(path, file).expect("written");
}

/// The table for a run, with at most `memory_budget` bytes of values in memory.
fn source(path: &Path, memory_budget: u64) -> Source {
    let Ok(Opened::Table(raw)) = open_path(path, &ReadOptions::default()) else {
        panic!("the array is a table");
    };
    let options = TableOptions {
        labels: vec!["x5".into()],
        memory_budget,
        ..TableOptions::default()
    };
    Table::new(&raw, &options)
        .expect("a good table")
        .data
        .into()
}

#[test]
fn a_model_of_a_mapped_array_is_the_model_of_the_array_in_memory() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("x.npy");
    write_npy(&path, 700);
    let settings = [
        "model.hidden=[16]",
        "train.labelled_per_batch=16",
        "train.unlabelled_per_batch=32",
        "train.steps=12",
        "train.log_every=1",
        "data.validation=0.2",
        "data.test=0.2",
    ];
    let settings = settings.map(String::from);
    let config = RunConfig::defaults("cpc", DataKind::Table, "x.npy")
        .expect("listed")
        .overlaid(&parse_settings(&settings).expect("well formed"), "test")
        .expect("known keys");
    let files = [0, u64::MAX].map(|memory_budget| {
        let run_folder = folder.path().join(memory_budget.to_string());
        let to = RunFolder::at(&run_folder);
        let source = source(&path, memory_budget);
        let kept = format!("{:?}", source.rows.features);
        assert_eq!(kept.contains("Matrix"), memory_budget > 0, "{kept}");
        run(&config, source, Some(&to), &Device::flex(), &mut Silent).expect("trains");
        ["model/model.safetensors", "metrics.jsonl", "split.json"]
            .map(|name| std::fs::read(run_folder.join(name)).expect(name))
    });
    assert!(files[0] == files[1]);
}

/// An untrained model of half-moon's shape with support for missing cells.
fn some_model(folder: &Path) -> Trained {
    let settings = [
        "model.missing_cells=true",
        "train.steps=1",
        "model.hidden=[16]",
    ];
    let config = RunConfig::defaults("cpc", DataKind::Table, "half-moon")
        .expect("listed")
        .overlaid(
            &parse_settings(&settings.map(String::from)).expect("well formed"),
            "test",
        )
        .expect("known keys");
    let source = HalfMoon::default().generate().expect("valid");
    let to = RunFolder::at(folder);
    run(&config, source, Some(&to), &Device::flex(), &mut Silent).expect("trains");
    Trained::open(&to, &Device::flex(), 5).expect("just trained")
}

#[test]
fn answers_part_by_part_are_the_answers_for_all_rows() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let inference = some_model(folder.path()).inference;
    let rows = 2 * CHUNK + 17;
    let values = (0..2 * rows).map(|i| match i % 9 {
        0 => f32::NAN,
        _ => (i as f32 * 0.37).sin(),
    });
    let all: Features = Matrix::new(rows, 2, values.collect()).expect("fits").into();

    type Ask = fn(&Inference, &Matrix) -> Vec<f32>;
    let questions: [Ask; 4] = [
        |model, rows| model.predict(rows, 3).expect("classes").values,
        |model, rows| model.encode(rows).expect("codes").sigma.values,
        |model, rows| model.score(rows, 2).expect("densities").log_likelihood,
        |model, rows| {
            model
                .impute(rows, Filling::Draw(1), 2)
                .expect("cells")
                .values
        },
    ];
    for ask in questions {
        let whole = ask(&inference, &all.matrix());
        let in_parts: Vec<f32> = (0..3)
            .flat_map(|chunk| {
                let part = all.part(chunk * CHUNK..rows.min((chunk + 1) * CHUNK));
                ask(&inference.at_chunk(chunk), &part)
            })
            .collect();
        assert_eq!(in_parts, whole);
        assert!(whole.iter().all(|value| value.is_finite()));
    }
}
