//! The tables `obs` and `var` of an AnnData file, in the formats of its versions.

use crate::{Cells, NumberKind, RawColumn};
use hdf5_pure::{AttrValue, DType, Dataset, Datatype, DatatypeByteOrder, Error, File, Group};

/// Columns about cells or genes.
#[derive(Default)]
pub(super) struct Frame {
    /// The names of the rows.
    pub(super) index: Vec<String>,
    pub(super) columns: Vec<RawColumn>,
}

/// Why a table cannot be read.
pub(super) enum Problem {
    /// The file is damaged.
    Hdf5(Error),
    /// A code without a category: which, and what to do.
    BadCode(String),
}

impl From<Error> for Problem {
    fn from(error: Error) -> Problem {
        Problem::Hdf5(error)
    }
}

impl Frame {
    /// Reads a table: a group with one member per column, or in old files one array of structures.
    /// Columns of unsupported types are left out.
    pub(super) fn read(file: &File, name: &str) -> Result<Frame, Problem> {
        match file.root().group(name) {
            Ok(group) => from_group(&group),
            Err(_) => match file.root().dataset(name) {
                Ok(dataset) => from_structures(file, &dataset),
                Err(_) => Ok(Frame::default()),
            },
        }
    }
}

fn from_group(group: &Group) -> Result<Frame, Problem> {
    let index_name = group.attrs()?.get("_index").and_then(text_of);
    let index_name = index_name.unwrap_or_else(|| "_index".into());
    let mut frame = Frame::default();
    for name in group.datasets()? {
        let dataset = group.dataset(&name)?;
        if name == index_name {
            frame.index = dataset.read_string()?;
            continue;
        }
        // AnnData 0.7 kept categories in a group of their own.
        let categories = group.dataset(&format!("__categories/{name}"));
        let cells = match categories {
            Ok(categories) => Some(categorical(&name, &dataset, &categories)?),
            Err(_) => cells_of(&dataset)?,
        };
        frame
            .columns
            .extend(cells.map(|cells| RawColumn { name, cells }));
    }
    for name in group.groups()? {
        let inner = group.group(&name)?;
        let cells = match (inner.dataset("codes"), inner.dataset("values")) {
            (Ok(codes), _) => Some(categorical(&name, &codes, &inner.dataset("categories")?)?),
            (_, Ok(values)) => masked(cells_of(&values)?, &inner.dataset("mask")?)?,
            _ => None,
        };
        frame
            .columns
            .extend(cells.map(|cells| RawColumn { name, cells }));
    }
    Ok(frame)
}

/// The cells of an array `[rows]`, or `None` where it is of another shape or kind.
fn cells_of(dataset: &Dataset) -> Result<Option<Cells>, Error> {
    if dataset.shape()?.len() != 1 {
        return Ok(None);
    }
    Ok(match dataset.dtype()? {
        DType::String | DType::VariableLengthString => Some(texts(dataset.read_string()?)),
        DType::Enum(names) if is_flag(&names) => {
            let flags = dataset.read_raw()?;
            Some(Cells::Flags(
                flags.iter().map(|&flag| Some(flag != 0)).collect(),
            ))
        }
        DType::I64 => {
            let cells = dataset.read_i64()?;
            let whole = cells.iter().map(|&cell| Some(i128::from(cell)));
            Some(Cells::whole_numbers(whole))
        }
        DType::F32 | DType::F64 | DType::I8 | DType::I16 | DType::I32 => {
            Some(Cells::Numbers(dataset.read_f64()?))
        }
        DType::U8 | DType::U16 | DType::U32 | DType::U64 => {
            Some(Cells::Numbers(dataset.read_f64()?))
        }
        _ => None,
    })
}

fn is_flag(names: &[String]) -> bool {
    names.iter().any(|name| name == "TRUE") && names.len() == 2
}

fn texts(cells: Vec<String>) -> Cells {
    Cells::Texts(
        cells
            .into_iter()
            .map(|cell| cell.trim().to_string())
            .collect(),
    )
}

/// The texts of a column's codes; -1 is missing.
fn categorical(column: &str, codes: &Dataset, categories: &Dataset) -> Result<Cells, Problem> {
    let names: Vec<String> = match categories.dtype()? {
        DType::String | DType::VariableLengthString => categories.read_string()?,
        _ => categories.read_f64()?.iter().map(f64::to_string).collect(),
    };
    by_code(column, codes.read_i64()?.into_iter(), &names)
}

fn by_code(
    column: &str,
    codes: impl Iterator<Item = i64>,
    names: &[String],
) -> Result<Cells, Problem> {
    let name = |(row, code): (usize, i64)| match usize::try_from(code) {
        _ if code == -1 => Ok(String::new()),
        Ok(place) if place < names.len() => Ok(names[place].clone()),
        _ => Err(Problem::BadCode(format!(
            "row {}, column `{column}`: code {code} is none of its {} categories (-1 is missing); \
             write the file again, with all categories",
            row + 1,
            names.len()
        ))),
    };
    Ok(Cells::Texts(
        codes.enumerate().map(name).collect::<Result<_, _>>()?,
    ))
}

/// Nullable columns: a mask marks the missing values.
fn masked(cells: Option<Cells>, mask: &Dataset) -> Result<Option<Cells>, Error> {
    let missing: Vec<bool> = mask.read_raw()?.iter().map(|&flag| flag != 0).collect();
    Ok(cells.map(|mut cells| {
        for (row, _) in missing.iter().enumerate().filter(|(_, missing)| **missing) {
            match &mut cells {
                Cells::Texts(cells) if row < cells.len() => cells[row].clear(),
                Cells::Numbers(cells) if row < cells.len() => cells[row] = f64::NAN,
                Cells::Flags(cells) if row < cells.len() => cells[row] = None,
                _ => {}
            }
        }
        cells
    }))
}

/// One array of structures, with the categories in `uns`.
fn from_structures(file: &File, dataset: &Dataset) -> Result<Frame, Problem> {
    let Datatype::Compound { size, members } = dataset.datatype()? else {
        return Ok(Frame::default());
    };
    let bytes = dataset.read_raw()?;
    let mut frame = Frame::default();
    for member in members {
        let start = member.byte_offset as usize;
        let fields = || {
            bytes
                .chunks_exact(size as usize)
                .map(|row| row.get(start..).unwrap_or(&[]))
        };
        let name = member.name;
        let categories = file.dataset(&format!("uns/{name}_categories"));
        let cells = match (number_kind(&member.datatype), &member.datatype) {
            (Some((kind, big_endian)), _) => {
                let number = |field: &[u8]| match field.get(..kind.size()) {
                    Some(field) => kind.read(field, big_endian),
                    None => f64::NAN,
                };
                match categories {
                    Ok(categories) if kind.is_whole() => {
                        let names = categories.read_string()?;
                        by_code(&name, fields().map(|field| number(field) as i64), &names)?
                    }
                    _ => Cells::Numbers(fields().map(number).collect()),
                }
            }
            (None, Datatype::String { size, .. }) => {
                let text = |field: &[u8]| {
                    let field = field.get(..*size as usize).unwrap_or(field);
                    String::from_utf8_lossy(field)
                        .trim_end_matches('\0')
                        .to_string()
                };
                texts(fields().map(text).collect())
            }
            (None, Datatype::Enumeration { .. }) => Cells::Flags(
                fields()
                    .map(|field| field.first().map(|&flag| flag != 0))
                    .collect(),
            ),
            _ => continue,
        };
        match (name.as_str(), cells) {
            ("index" | "_index", Cells::Texts(index)) => frame.index = index,
            (_, cells) => frame.columns.push(RawColumn { name, cells }),
        }
    }
    Ok(frame)
}

/// The storage type of an HDF5 number type, and whether it is big-endian.
pub(super) fn number_kind(datatype: &Datatype) -> Option<(NumberKind, bool)> {
    let (kind, order) = match datatype {
        Datatype::FixedPoint {
            size,
            byte_order,
            layout,
        } => {
            let kind = match (size, layout.signed) {
                (1, false) => NumberKind::U8,
                (2, false) => NumberKind::U16,
                (4, false) => NumberKind::U32,
                (8, false) => NumberKind::U64,
                (1, true) => NumberKind::I8,
                (2, true) => NumberKind::I16,
                (4, true) => NumberKind::I32,
                (8, true) => NumberKind::I64,
                _ => return None,
            };
            (kind, byte_order)
        }
        Datatype::FloatingPoint {
            size, byte_order, ..
        } => match size {
            2 => (NumberKind::F16, byte_order),
            4 => (NumberKind::F32, byte_order),
            8 => (NumberKind::F64, byte_order),
            _ => return None,
        },
        _ => return None,
    };
    match order {
        DatatypeByteOrder::LittleEndian => Some((kind, false)),
        DatatypeByteOrder::BigEndian => Some((kind, true)),
        DatatypeByteOrder::Vax => None,
    }
}

/// The value of a text attribute.
pub(super) fn text_of(value: &AttrValue) -> Option<String> {
    match value {
        AttrValue::String(text) | AttrValue::AsciiString(text) | AttrValue::VarLenString(text) => {
            Some(text.clone())
        }
        AttrValue::StringSized { value, .. } | AttrValue::AsciiStringSized { value, .. } => {
            Some(value.clone())
        }
        _ => None,
    }
}
