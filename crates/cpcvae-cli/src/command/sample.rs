//! `cpcvae sample`: new rows, of all classes or of one.

use crate::args::{CodesArg, SampleArgs};
use crate::exit::ExitCode;
use crate::opened;
use crate::output::{feature_cells, is_figure, layout_columns, write_table};
use crate::printer::{Printer, count, percent};
use anyhow::{Result, bail};
use cpcvae::estimator::{Fitted, SampleOptions};
use cpcvae::infer::CodeSource;
use cpcvae_data::{CellKind, Layout, Matrix};
use cpcvae_lab::figure::{ScatterPanel, image_grid, scatter_panels};
use cpcvae_lab::pictures::{grid, images};
use std::path::Path;

const A_CLASS: usize = 10;
const OF_PRIOR: usize = 50;
/// Images side by side in a figure.
const ACROSS: usize = 10;

/// Rows of a class, or of all classes.
struct Group {
    class: Option<String>,
    rows: Matrix,
}

/// Samples and writes a table or a figure.
pub(crate) fn run(args: &SampleArgs, printer: Printer) -> Result<ExitCode> {
    if !(args.threshold > 0.0 && args.threshold <= 1.0) {
        bail!(
            "--threshold is {}; a probability is above 0 and at most 1",
            args.threshold
        );
    }
    let model = opened::model(&args.model)?;
    let layout = model.layout();
    let out = args.out.as_deref();
    if is_figure(out) && !can_be_drawn(layout) {
        bail!("a table of other than two columns cannot be drawn; write a .csv file");
    }
    let groups = groups(args, &model, printer)?;
    match out.filter(|_| is_figure(out)) {
        Some(path) => {
            draw(layout, groups, path)?;
            printer.note(format!("wrote {}", path.display()));
        }
        None => {
            let class = groups
                .iter()
                .any(|group| group.class.is_some())
                .then(|| ("class".to_string(), CellKind::Text));
            let columns: Vec<_> = class.into_iter().chain(layout_columns(layout)).collect();
            let lines = groups.iter().flat_map(|group| {
                (0..group.rows.rows).map(|row| {
                    let class = group.class.clone().into_iter();
                    Ok(class
                        .chain(feature_cells(layout, group.rows.row(row)))
                        .collect())
                })
            });
            write_table(out, &columns, lines, printer)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn groups(args: &SampleArgs, model: &Fitted, printer: Printer) -> Result<Vec<Group>> {
    let options = SampleOptions {
        codes: match args.codes {
            CodesArg::Fitted => CodeSource::Fitted,
            CodesArg::Prior => CodeSource::Prior,
        },
        noisy: args.noisy,
        threshold: args.threshold,
        most_codes: args.max_draws as usize,
    };
    let chosen: Vec<String> = match &args.class {
        Some(class) => vec![class.clone()],
        None if args.each_class && model.classes().is_empty() => {
            bail!("this model predicts no classes; leave out --class and --each-class")
        }
        None if args.each_class => model.classes().to_vec(),
        None => Vec::new(),
    };
    if chosen.is_empty() {
        let rows = args.count.map_or(OF_PRIOR, |count| count as usize);
        let rows = model.sample_with(rows, options)?;
        return Ok(vec![Group { class: None, rows }]);
    }
    let rows = args.count.map_or(A_CLASS, |count| count as usize);
    let mut groups = Vec::new();
    for name in chosen {
        let samples = model.sample_class(&name, rows, options)?;
        printer.note(format!(
            "class `{name}`: {} of {} drawn codes kept ({})",
            count(rows),
            count(samples.drawn),
            percent(samples.acceptance)
        ));
        groups.push(Group {
            class: Some(name),
            rows: samples.rows,
        });
    }
    Ok(groups)
}

fn can_be_drawn(layout: &Layout) -> bool {
    match layout {
        Layout::Image { .. } => true,
        Layout::Columns(columns) => columns.len() == 2,
    }
}

fn draw(layout: &Layout, groups: Vec<Group>, path: &Path) -> Result<()> {
    if let Layout::Columns(_) = layout {
        return draw_points(&groups, path);
    }
    let mut grid = grid(layout)?;
    for group in &groups {
        for (line, images) in images(&group.rows).chunks(ACROSS).enumerate() {
            grid.images.push(images.to_vec());
            if let Some(class) = &group.class {
                let label = if line == 0 {
                    class.clone()
                } else {
                    String::new()
                };
                grid.row_labels.push(label);
            }
        }
    }
    Ok(image_grid(&grid, path)?)
}

fn draw_points(groups: &[Group], path: &Path) -> Result<()> {
    let mut panel = ScatterPanel::default();
    for (class, group) in groups.iter().enumerate() {
        for row in 0..group.rows.rows {
            let point = group.rows.row(row);
            panel.points.push([point[0], point[1]]);
            panel.classes.push(class as u32);
        }
    }
    Ok(scatter_panels(&[vec![panel]], &[], path)?)
}
