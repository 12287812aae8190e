//! AnnData files as current versions write them.

use super::{names, numbers, open_named, refused, table, texts_of};
use cpcvae_data::{RawTable, ReadOptions};
use hdf5_pure::{AttrValue, FileBuilder};

/// Three cells and two genes: `[[1, 0], [0, 2], [0, 3]]`, dense or compressed by rows or columns.
pub fn file(format: &str, cells: usize) -> Vec<u8> {
    let mut file = FileBuilder::new();
    match format {
        "dense" | "bad code" => {
            let x = [1.0f32, 0.0, 0.0, 2.0, 0.0, 3.0];
            file.create_dataset("X")
                .with_f32_data(&x)
                .with_shape(&[3, 2]);
        }
        "none" => {}
        _ => {
            let (indices, starts): (&[i32], &[i32]) = match format {
                "csr_matrix" => (&[0, 1, 1], &[0, 1, 2, 3]),
                "csc_matrix" => (&[0, 1, 2], &[0, 1, 3]),
                "bad index" => (&[0, 1, 9], &[0, 1, 2, 3]),
                "bad sign" => (&[0, -1, 1], &[0, 1, 2, 3]),
                _ => (&[0, 1, 1], &[0, 2, 1, 3]),
            };
            let mut x = file.create_group("X");
            x.create_dataset("data").with_f64_data(&[1.0, 2.0, 3.0]);
            x.create_dataset("indices").with_i32_data(indices);
            x.create_dataset("indptr").with_i32_data(starts);
            let format = if format.starts_with("bad") {
                "csr_matrix"
            } else {
                format
            };
            x.set_attr("encoding-type", AttrValue::String(format.into()));
            x.set_attr("shape", AttrValue::I64Array(vec![3, 2]));
            file.add_group(x.finish());
        }
    }
    let mut var = file.create_group("var");
    var.create_dataset("_index")
        .with_vlen_strings(&["CD4", "CD4"]);
    var.set_attr("_index", AttrValue::String("_index".into()));
    file.add_group(var.finish());

    let mut obs = file.create_group("obs");
    obs.set_attr("_index", AttrValue::String("cell".into()));
    obs.create_dataset("cell")
        .with_vlen_strings(&["c1", "c2", "c3"][..cells]);
    obs.create_dataset("CD4")
        .with_f64_data(&[0.5, 1.5, 2.5][..cells]);
    let mut kind = obs.create_group("kind");
    let codes = match format {
        "bad code" => [1, 7, 0],
        _ => [1, -1, 0],
    };
    kind.create_dataset("codes").with_i8_data(&codes[..cells]);
    kind.create_dataset("categories")
        .with_vlen_strings(&["B", "T"]);
    obs.add_group(kind.finish());
    file.add_group(obs.finish());
    file.finish().unwrap()
}

fn read(content: &[u8]) -> RawTable {
    table(open_named("cells.h5ad", content, &ReadOptions::default()))
}

#[test]
fn genes_are_columns_and_what_is_known_of_cells_is_beside() {
    for format in ["dense", "csr_matrix", "csc_matrix"] {
        let table = read(&file(format, 3));
        assert_eq!((names(&table), table.rows), (vec!["CD4", "CD4-1"], 3));
        assert_eq!(
            numbers(&table.columns[0].cells),
            [1.0, 0.0, 0.0],
            "{format}"
        );
        assert_eq!(
            numbers(&table.columns[1].cells),
            [0.0, 2.0, 3.0],
            "{format}"
        );
        assert_eq!(table.beside.len(), 3);
        assert_eq!(
            table.column("obs_names").unwrap().cells,
            texts_of(&["c1", "c2", "c3"])
        );
        assert_eq!(
            table.column("kind").unwrap().cells,
            texts_of(&["T", "", "B"])
        );
        // Another gene already has that name.
        assert_eq!(
            numbers(&table.column("obs:CD4").unwrap().cells),
            [0.5, 1.5, 2.5]
        );
    }
}

#[test]
fn damaged_and_other_files_are_explained() {
    let refuse = |content: &[u8], parts: &[&str]| {
        refused(
            open_named("cells.h5ad", content, &ReadOptions::default()),
            parts,
        );
    };
    refuse(&file("none", 3), &["no matrix `X`", "it holds: ", "obs"]);
    refuse(&file("dense", 2), &["`X` has 3 rows", "2"]);
    refuse(
        &file("bad index", 3),
        &["an index is out of range", "row 3"],
    );
    refuse(
        &file("bad sign", 3),
        &[
            "cells.h5ad",
            "an index is out of range: -1 in row 2",
            "again",
        ],
    );
    refuse(
        &file("bad code", 3),
        &[
            "cells.h5ad: `obs`, row 2, column `kind`: code 7 is none of its 2 categories",
            "again",
        ],
    );
    refuse(&file("bad pointers", 3), &["row pointers are damaged"]);
    refuse(&file("coo_matrix", 3), &["neither dense nor a CSR or CSC"]);
    let whole = file("dense", 3);
    refuse(&whole[..whole.len() / 2], &["cells.h5ad"]);
    for format in ["dense", "csr_matrix"] {
        let tight = ReadOptions {
            most_bytes: 23,
            ..ReadOptions::default()
        };
        refused(
            open_named("cells.h5ad", &file(format, 3), &tight),
            &["`data.most_bytes`"],
        );
    }
}
