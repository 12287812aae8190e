//! AnnData files of single cells: the matrix `X` as features, with the columns of `obs`.

use super::anndata_columns::{Frame, Problem, number_kind, text_of};
use super::{ReadOptions, left_out, unpack};
use crate::mapped::Gatherer;
use crate::{
    Cells, DataError, NumberKind, PackedNumbers, RawColumn, RawTable, Result, SharedBytes,
};
use hdf5_pure::{AttrValue, Dataset, Error, File, Group};
use std::collections::HashSet;
use std::path::Path;

/// A matrix of cells and genes in shared bytes.
struct Matrix {
    bytes: SharedBytes,
    kind: (NumberKind, bool),
    rows: usize,
    columns: usize,
    /// Whether it is stored column by column instead of row by row.
    column_after_column: bool,
}

/// Reads `X` as columns named after the genes; the columns of `obs` are kept separately.
pub(super) fn read(path: &Path, options: &ReadOptions) -> Result<RawTable> {
    let wrong = |problem: String| DataError::content(path, problem);
    let damaged = |error: Error| {
        wrong(format!(
            "the HDF5 file cannot be read ({error}); get the file again"
        ))
    };
    let file = File::open_streaming(path).map_err(damaged)?;
    let root = file.root();
    let matrix = match (root.dataset("X"), root.group("X")) {
        (Ok(dataset), _) => dense(&dataset, path, options)?,
        (_, Ok(group)) => sparse(&group, path, options)?,
        _ => {
            let datasets = root.datasets().map_err(damaged)?;
            let groups = root.groups().map_err(damaged)?;
            return Err(wrong(format!(
                "there is no matrix `X`, so this is not an AnnData file; it holds: {}",
                [datasets, groups].concat().join(", ")
            )));
        }
    };
    let frame = |name: &str| {
        Frame::read(&file, name).map_err(|problem| match problem {
            Problem::Hdf5(error) => damaged(error),
            Problem::BadCode(problem) => wrong(format!("`{name}`, {problem}")),
        })
    };
    let (genes, cells) = (frame("var")?, frame("obs")?);
    if matrix.rows == 0 || matrix.columns == 0 {
        return Err(wrong("the matrix `X` is empty".into()));
    }
    let names = match genes.index.len() {
        0 => (0..matrix.columns)
            .map(|column| format!("x{column}"))
            .collect(),
        count if count == matrix.columns => unique(genes.index),
        count => {
            return Err(wrong(format!(
                "`X` has {} columns, but `var` {count}",
                matrix.columns
            )));
        }
    };
    let taken: HashSet<String> = names.iter().cloned().collect();
    let index = (!cells.index.is_empty()).then_some(RawColumn {
        name: "obs_names".into(),
        cells: Cells::Texts(cells.index),
    });
    let mut beside: Vec<RawColumn> = index.into_iter().chain(cells.columns).collect();
    for column in &mut beside {
        if column.cells.len() != matrix.rows {
            return Err(wrong(format!(
                "`X` has {} rows, but `obs` column `{}` {}",
                matrix.rows,
                column.name,
                column.cells.len()
            )));
        }
        if taken.contains(&column.name) {
            column.name = format!("obs:{}", column.name);
        }
    }
    let mut columns = matrix.columns(names);
    let all = columns
        .iter()
        .chain(&beside)
        .map(|column| column.name.clone());
    left_out(path, &all.collect::<Vec<_>>(), &options.ignore)?;
    columns.retain(|column| !options.ignore.contains(&column.name));
    beside.retain(|column| !options.ignore.contains(&column.name));
    Ok(RawTable {
        path: path.to_path_buf(),
        columns,
        beside,
        rows: matrix.rows,
    })
}

impl Matrix {
    fn columns(&self, names: Vec<String>) -> Vec<RawColumn> {
        let size = self.kind.0.size();
        let packed = |column: usize| {
            let (start, stride) = match self.column_after_column {
                true => (column * self.rows * size, size),
                false => (column * size, self.columns * size),
            };
            PackedNumbers::new(self.bytes.clone(), self.kind, start, stride, self.rows)
        };
        let column = |(place, name)| {
            Some(RawColumn {
                name,
                cells: Cells::Packed(packed(place)?),
            })
        };
        names.into_iter().enumerate().filter_map(column).collect()
    }
}

fn problem(path: &Path, problem: impl std::fmt::Display) -> DataError {
    DataError::content(path, format!("the matrix `X` cannot be read: {problem}"))
}

fn dense(dataset: &Dataset, path: &Path, options: &ReadOptions) -> Result<Matrix> {
    let shape = dataset.shape().map_err(|error| problem(path, error))?;
    let &[rows, columns] = &shape[..] else {
        return Err(problem(
            path,
            format!("its shape is {shape:?}, not cells x genes"),
        ));
    };
    let datatype = dataset.datatype().map_err(|error| problem(path, error))?;
    let kind = number_kind(&datatype).ok_or_else(|| problem(path, "it does not hold numbers"))?;
    let size = rows
        .checked_mul(columns)
        .and_then(|all| all.checked_mul(kind.0.size() as u64));
    let most = options.most_in_memory();
    if size.is_none_or(|size| size > most) {
        return Err(unpack::read_error(path, unpack::too_large(most)));
    }
    let bytes = dataset.read_raw().map_err(|error| problem(path, error))?;
    if Some(bytes.len() as u64) != size {
        return Err(problem(path, "it is cut short"));
    }
    Ok(Matrix {
        bytes: bytes.into(),
        kind,
        rows: rows as usize,
        columns: columns as usize,
        column_after_column: false,
    })
}

/// A compressed sparse matrix, by rows or by columns, converted to a dense one.
fn sparse(group: &Group, path: &Path, options: &ReadOptions) -> Result<Matrix> {
    let wrong = |text: &str| problem(path, text);
    let attributes = group.attrs().map_err(|error| problem(path, error))?;
    let format = ["encoding-type", "h5sparse_format"]
        .iter()
        .find_map(|name| attributes.get(*name));
    let by_columns = match format.and_then(text_of).as_deref() {
        Some("csr_matrix" | "csr") => false,
        Some("csc_matrix" | "csc") => true,
        _ => return Err(wrong("it is neither dense nor a CSR or CSC matrix")),
    };
    let shape = ["shape", "h5sparse_shape"]
        .iter()
        .find_map(|name| attributes.get(*name));
    let shape = shape
        .and_then(sizes_of)
        .ok_or_else(|| wrong("its shape is not given"))?;
    let &[rows, columns] = &shape[..] else {
        return Err(wrong("its shape is not cells x genes"));
    };
    let bytes = rows
        .checked_mul(columns)
        .and_then(|all| all.checked_mul(4))
        .map(|all| all as u64);
    let Some(bytes) = bytes.filter(|&bytes| bytes <= options.most_bytes) else {
        return Err(unpack::read_error(
            path,
            unpack::too_large(options.most_bytes),
        ));
    };
    let part = |name: &str| -> Result<Dataset> {
        let part = group.dataset(name).map_err(|error| problem(path, error))?;
        let shape = part.shape().map_err(|error| problem(path, error))?;
        let count = shape
            .iter()
            .try_fold(1u64, |all, &size| all.checked_mul(size));
        let most = options.most_in_memory();
        match count.and_then(|count| count.checked_mul(8)) {
            Some(bytes) if bytes <= most => Ok(part),
            _ => Err(unpack::read_error(path, unpack::too_large(most))),
        }
    };
    let data = part("data")?
        .read_f32()
        .map_err(|error| problem(path, error))?;
    // Read as signed, as they are mostly stored, so that negative ones are detected.
    let indices = part("indices")?
        .read_i64()
        .map_err(|error| problem(path, error))?;
    let starts = part("indptr")?
        .read_i64()
        .map_err(|error| problem(path, error))?;

    let (lines, length) = if by_columns {
        (columns, rows)
    } else {
        (rows, columns)
    };
    if starts.len() != lines + 1 || indices.len() != data.len() {
        return Err(wrong("its parts do not fit together"));
    }
    let mut gatherer = Gatherer::new(bytes, options.memory_budget)?;
    let mut line = vec![0; length * 4];
    let (this, other) = if by_columns {
        ("column", "rows")
    } else {
        ("row", "columns")
    };
    for (number, ends) in starts.windows(2).enumerate() {
        line.fill(0);
        let start = usize::try_from(ends[0]).ok();
        let entries = start.zip(usize::try_from(ends[1]).ok());
        let entries =
            entries.and_then(|(start, end)| indices.get(start..end).zip(data.get(start..end)));
        let (places, values) = entries.ok_or_else(|| {
            wrong(&format!(
                "its row pointers are damaged ({} to {} for {this} {}); write the file again",
                ends[0],
                ends[1],
                number + 1
            ))
        })?;
        for (&place, value) in places.iter().zip(values) {
            let cell = usize::try_from(place)
                .ok()
                .filter(|&place| place < length)
                .ok_or_else(|| {
                    wrong(&format!(
                        "an index is out of range: {place} in {this} {}, where there are {length} \
                         {other}; write the file again",
                        number + 1
                    ))
                })?;
            line[cell * 4..cell * 4 + 4].copy_from_slice(&value.to_le_bytes());
        }
        gatherer.push(&line)?;
    }
    Ok(Matrix {
        bytes: gatherer.finish()?.into(),
        kind: (NumberKind::F32, false),
        rows,
        columns,
        column_after_column: by_columns,
    })
}

fn sizes_of(value: &AttrValue) -> Option<Vec<usize>> {
    match value {
        AttrValue::I64Array(sizes) => sizes
            .iter()
            .map(|&size| usize::try_from(size).ok())
            .collect(),
        AttrValue::I32Array(sizes) => sizes
            .iter()
            .map(|&size| usize::try_from(size).ok())
            .collect(),
        AttrValue::U64Array(sizes) => sizes
            .iter()
            .map(|&size| usize::try_from(size).ok())
            .collect(),
        _ => None,
    }
}

/// Appends `-1`, `-2` ... to repeated names, as AnnData makes them unique.
fn unique(names: Vec<String>) -> Vec<String> {
    let mut seen: HashSet<String> = names.iter().cloned().collect();
    let mut first = HashSet::new();
    names
        .into_iter()
        .map(|name| {
            if first.insert(name.clone()) {
                return name;
            }
            let mut copies = (1..).map(|copy| format!("{name}-{copy}"));
            copies
                .find(|copy| seen.insert(copy.clone()))
                .unwrap_or(name)
        })
        .collect()
}
