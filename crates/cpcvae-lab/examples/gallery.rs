//! Draws one figure of every kind from made-up data, as PNG and SVG:
//! `cargo run -p cpcvae-lab --example gallery -- FOLDER`.

use cpcvae_lab::figure::{
    Grid, Regions, Result, ScatterPanel, Series, confusion_matrix, image_grid, line_chart,
    scatter_panels,
};
use cpcvae_lab::table::TextTable;
use std::f32::consts::{PI, TAU};
use std::path::{Path, PathBuf};

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let folder = PathBuf::from(
        std::env::args()
            .nth(1)
            .ok_or("which folder shall I draw into?")?,
    );
    std::fs::create_dir_all(&folder)?;
    for extension in ["png", "svg"] {
        let path = |name: &str| folder.join(name).with_extension(extension);
        half_moons(&path("half-moons"))?;
        encodings(&path("encodings"))?;
        digits(&path("digits"))?;
        colour_samples(&path("colour-samples"))?;
        training_curves(&path("training-curves"))?;
        sensitivity(&path("sensitivity"))?;
        digit_confusion(&path("digit-confusion"))?;
        named_confusion(&path("named-confusion"))?;
    }
    print!("{}", accuracies().to_text());
    Ok(())
}

/// Pseudo-random numbers in [0, 1) that are always the same (hash of a Weyl sequence).
struct Noise(u32);

impl Noise {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9);
        let mixed = (self.0 ^ (self.0 >> 16)).wrapping_mul(0x85eb_ca6b);
        let mixed = (mixed ^ (mixed >> 13)).wrapping_mul(0xc2b2_ae35);
        ((mixed ^ (mixed >> 16)) >> 8) as f32 / (1 << 24) as f32
    }

    fn normal(&mut self) -> f32 {
        (0..6).map(|_| self.next() - 0.5).sum::<f32>() * 1.414
    }
}

fn half_moons(path: &Path) -> Result<()> {
    let titles = [
        "VAE-then-MLP",
        "PC-VAE",
        "CPC-VAE",
        "M2",
        "M2 (14)",
        "CPC-VAE (14)",
    ];
    let mut noise = Noise(1);
    let mut panel = |title: &str, labels: usize, with_regions: bool| {
        let points: Vec<[f32; 2]> = (0..1000)
            .map(|index| {
                let angle = noise.next() * PI;
                let [x, y] = match index % 2 {
                    0 => [angle.cos(), angle.sin()],
                    _ => [1.0 - angle.cos(), 0.5 - angle.sin()],
                };
                [x + 0.1 * noise.normal(), y + 0.1 * noise.normal()]
            })
            .collect();
        let class = |[x, y]: [f32; 2]| u32::from(y < 0.25 - 0.5 * (x - 0.5) * (x - 0.2));
        let regions = with_regions.then(|| Regions {
            x: [-1.6, 2.6],
            y: [-1.2, 1.7],
            columns: 84,
            rows: 58,
            class: cells(84, 58, |x, y| class([4.2 * x - 1.6, 2.9 * y - 1.2])),
            confidence: cells(84, 58, |x, _| 0.5 + 0.5 * x),
        });
        ScatterPanel {
            title: title.into(),
            classes: points.iter().map(|point| class(*point)).collect(),
            labelled: (0..labels).map(|i| (points[i], i as u32 % 2)).collect(),
            corner: "98.4%".into(),
            points,
            regions,
        }
    };
    let top: Vec<_> = titles.iter().map(|title| panel(title, 6, false)).collect();
    let bottom: Vec<_> = titles.iter().map(|_| panel("", 100, true)).collect();
    scatter_panels(
        &[top, bottom],
        &["6 labels".into(), "100 labels".into()],
        path,
    )
}

fn cells<T>(columns: usize, rows: usize, at: impl Fn(f32, f32) -> T) -> Vec<T> {
    let centre = |index: usize, count: usize| (index as f32 + 0.5) / count as f32;
    (0..rows * columns)
        .map(|i| at(centre(i % columns, columns), centre(i / columns, rows)))
        .collect()
}

fn encodings(path: &Path) -> Result<()> {
    let mut noise = Noise(7);
    let mut panel = |title: &str, spread: f32| {
        let mut place = |class: u32| {
            let angle = class as f32 * TAU / 10.0;
            let radius = 2.0 + noise.normal();
            [
                radius * angle.cos() + spread * noise.normal(),
                radius * angle.sin() + spread * noise.normal(),
            ]
        };
        ScatterPanel {
            title: title.into(),
            points: (0..10_000).map(|i| place(i % 10)).collect(),
            classes: (0..10_000).map(|i| i % 10).collect(),
            labelled: (0..100).map(|i| (place(i % 10), i % 10)).collect(),
            corner: "96.1%".into(),
            regions: None,
        }
    };
    let row = vec![
        panel("VAE, unsupervised", 0.5),
        panel("M2", 0.3),
        panel("CPC-VAE", 0.15),
    ];
    scatter_panels(&[row], &[], path)
}

/// A blurred ring or bar, thicker with `class`.
fn blob(side: usize, class: usize, shift: f32) -> Vec<f32> {
    cells(side, side, |x, y| {
        let (x, y) = (x - 0.5 + shift, y - 0.5);
        let distance = match class % 2 {
            0 => ((x * x + y * y).sqrt() - 0.1 - 0.025 * class as f32).abs(),
            _ => x.abs() + (y.abs() - 0.04 * class as f32).max(0.0),
        };
        (1.4 - 14.0 * distance).clamp(0.0, 1.0)
    })
}

fn digits(path: &Path) -> Result<()> {
    let row = |shift: f32| (0..10).map(|class| blob(28, class, shift)).collect();
    let grid = Grid {
        height: 28,
        width: 28,
        channels: 1,
        images: vec![row(0.0), row(0.04), row(-0.08)],
        row_labels: ["original", "reconstruction", "transformed"]
            .map(String::from)
            .to_vec(),
        column_labels: (0..10).map(|digit| digit.to_string()).collect(),
    };
    image_grid(&grid, path)
}

fn colour_samples(path: &Path) -> Result<()> {
    let image = |row: usize, column: usize| -> Vec<f32> {
        let level = |channel: usize| (0.3 * channel as f32 + 0.12 * column as f32) % 1.0;
        let shape = blob(32, column + row, 0.0);
        shape
            .iter()
            .flat_map(|v| [0, 1, 2].map(|c| v * level(c) + 0.2 * (1.0 - v)))
            .collect()
    };
    let names = ["black hair", "blond hair", "brown or grey", "bald"];
    let grid = Grid {
        height: 32,
        width: 32,
        channels: 3,
        images: (0..6)
            .map(|row| (0..16).map(|column| image(row, column)).collect())
            .collect(),
        row_labels: vec![],
        column_labels: (0..16).map(|column| names[column % 4].to_owned()).collect(),
    };
    image_grid(&grid, path)
}

fn training_curves(path: &Path) -> Result<()> {
    let mut noise = Noise(3);
    let mut curve = |name: &str, start: f64, end: f64| {
        let points: Vec<(f64, f64)> = (0..=200)
            .map(|epoch| {
                let fall = (start - end) * (-f64::from(epoch) / 30.0).exp();
                (f64::from(epoch), end + fall + f64::from(noise.normal()))
            })
            .collect();
        let around = |&(x, y): &(f64, f64)| (x, y - 5.0, y + 5.0);
        let band = Some(points.iter().map(around).collect());
        Series {
            name: name.into(),
            points,
            band,
        }
    };
    let series = [
        curve("training", 205.0, 91.0),
        curve("validation", 210.0, 97.0),
        curve("M2", 205.0, 120.0),
    ];
    line_chart(
        "Negative ELBO on MNIST, 100 labels",
        "epoch",
        "nats per image",
        &series,
        path,
    )
}

fn sensitivity(path: &Path) -> Result<()> {
    let accuracy = |weight: f64| 0.985 - 0.004 * (weight - 1.5).powi(2);
    let points: Vec<_> = (-1..=4).map(f64::from).map(|w| (w, accuracy(w))).collect();
    let band = Some(
        points
            .iter()
            .map(|&(x, y)| (x, y - 0.004, y + 0.004))
            .collect(),
    );
    line_chart(
        "",
        "log₁₀ λ",
        "test accuracy",
        &[Series {
            name: String::new(),
            points,
            band,
        }],
        path,
    )
}

fn digit_confusion(path: &Path) -> Result<()> {
    let names: Vec<String> = (0..10).map(|digit| digit.to_string()).collect();
    let count = |row: u64, column: u64| match row.abs_diff(column) {
        0 => 931 + 7 * row,
        5 | 2 => (row * 7 + column * 3) % 23,
        _ => (row * column) % 3,
    };
    let counts: Vec<Vec<u64>> = (0..10)
        .map(|row| (0..10).map(|column| count(row, column)).collect())
        .collect();
    confusion_matrix(&names, &counts, path)
}

fn named_confusion(path: &Path) -> Result<()> {
    let names = [
        "four-legged animals",
        "humans",
        "airplanes",
        "trucks",
        "cars",
    ]
    .map(String::from);
    let counts = vec![
        vec![4512, 340, 3, 5, 0],
        vec![2800, 2100, 1, 0, 9],
        vec![3, 1, 4856, 0, 0],
        vec![0, 0, 12, 4201, 647],
        vec![0, 1, 0, 1210, 3649],
    ];
    confusion_matrix(&names, &counts, path)
}

fn accuracies() -> TextTable {
    let row = |cells: [&str; 3]| cells.map(String::from).to_vec();
    TextTable {
        header: row(["method", "MNIST", "SVHN"]),
        rows: vec![
            row(["M2", "96.7 ± 0.1", "-"]),
            row(["CPC-VAE", "98.3 ± 0.4", "94.2 ± 0.5"]),
        ],
    }
}
