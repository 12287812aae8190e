//! The structure of an exported graph. `python/tests/test_onnx.py` runs such graphs and compares
//! their outputs row by row.

use cpcvae::estimator::{Fit, Fitted};
use cpcvae::export::proto::{Length, Model, Node, Tensor, ValueInfo, data_type};
use cpcvae::export::{OnnxFile, OnnxOptions};
use cpcvae::prelude::*;
use cpcvae::train::TensorFile;
use prost::Message;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

fn recorded(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded");
    folder.join(name)
}

fn exported(name: &str) -> OnnxFile {
    let fitted = Fitted::load(recorded(name)).expect("opens");
    fitted.onnx(OnnxOptions::default()).expect("exports")
}

fn floats(tensor: &Tensor) -> Vec<f32> {
    assert_eq!(tensor.data_type, Some(data_type::FLOAT));
    let bytes = tensor.raw_data.as_deref().expect("values");
    let value = |bytes: &[u8]| f32::from_le_bytes(bytes.try_into().expect("four"));
    bytes.chunks_exact(4).map(value).collect()
}

fn shape(value: &ValueInfo) -> (i32, Vec<Option<i64>>) {
    let of = value
        .value_type
        .as_ref()
        .and_then(|t| t.tensor_type.as_ref());
    let of = of.expect("a tensor");
    let sides = of.shape.as_ref().expect("a shape").dim.iter();
    let length = |length: &Option<Length>| match length {
        Some(Length::Of(length)) => Some(*length),
        _ => None,
    };
    let sides = sides.map(|side| length(&side.length)).collect();
    (of.elem_type.expect("a kind"), sides)
}

fn operators(model: &Model) -> Vec<&str> {
    let nodes = &model.graph.as_ref().expect("a graph").node;
    let name = |node| Node::op_type(node);
    nodes.iter().map(name).collect()
}

fn texts(model: &Model) -> BTreeMap<String, String> {
    let entry =
        |entry: &cpcvae::export::proto::Entry| Some((entry.key.clone()?, entry.value.clone()?));
    model.metadata_props.iter().filter_map(entry).collect()
}

/// Each value is produced once, before it is used; constants have the sizes of their shapes; all
/// outputs are produced.
fn check_graph(model: &Model) {
    let graph = model.graph.as_ref().expect("a graph");
    let mut known: HashSet<&str> = graph
        .input
        .iter()
        .filter_map(|v| v.name.as_deref())
        .collect();
    for constant in &graph.initializer {
        let width = match constant.data_type {
            Some(data_type::FLOAT) => 4,
            Some(data_type::DOUBLE | data_type::INT64) => 8,
            other => panic!("constants of kind {other:?}"),
        };
        let values = constant.dims.iter().product::<i64>() as usize;
        assert_eq!(
            constant.raw_data.as_ref().map(Vec::len),
            Some(values * width)
        );
        assert!(known.insert(constant.name.as_deref().expect("a name")));
    }
    for node in &graph.node {
        for input in &node.input {
            assert!(
                known.contains(input.as_str()),
                "{input} of {:?} is not known",
                node.name
            );
        }
        for output in &node.output {
            assert!(known.insert(output), "{output} is made twice");
        }
    }
    for output in &graph.output {
        assert!(known.contains(output.name.as_deref().expect("a name")));
    }
}

#[test]
fn graphs_of_every_method_are_sound_and_survive_the_file() {
    let entries = std::fs::read_dir(recorded("")).expect("recorded runs");
    let folders = entries.map(|entry| entry.expect("readable").path());
    let mut seen = 0;
    for folder in folders.filter(|path| path.is_dir()) {
        let name = folder
            .file_name()
            .and_then(|name| name.to_str())
            .expect("a name");
        let file = exported(name);
        check_graph(&file.model);
        let again = Model::decode(&file.bytes()[..]).expect("a message");
        assert_eq!(again, file.model, "{name}");
        let classifies = operators(&file.model).contains(&"ArgMax");
        assert_eq!(classifies, name != "half-moon-vae", "{name}");
        seen += 1;
    }
    assert!(seen >= 18, "{seen}");
}

#[test]
fn a_dense_network_is_in_the_file_as_it_was_trained() {
    let file = exported("half-moon-cpc");
    let stored =
        TensorFile::load(&recorded("half-moon-cpc/model/model.safetensors")).expect("a model");
    let graph = file.model.graph.as_ref().expect("a graph");
    for part in ["encoder.layers.0", "encoder.layers.2", "predictor.layers.0"] {
        for kind in ["weight", "bias"] {
            let (shape, values) = &stored.tensors.0[&format!("Vae.{part}.{kind}")];
            let same = |constant: &&Tensor| {
                let dims = constant.dims.iter().map(|side| *side as usize);
                constant.data_type == Some(data_type::FLOAT)
                    && dims.eq(shape.iter().copied())
                    && floats(constant) == *values
            };
            assert!(graph.initializer.iter().any(|c| same(&c)), "{part}.{kind}");
        }
    }
    // The decoder is not part of the graph.
    let (_, decoder) = &stored.tensors.0["Vae.decoder.layers.1.weight"];
    let is_float = |c: &&Tensor| c.data_type == Some(data_type::FLOAT);
    assert!(
        graph
            .initializer
            .iter()
            .filter(is_float)
            .all(|c| floats(c) != *decoder)
    );
    let layers = operators(&file.model)
        .iter()
        .filter(|op| **op == "Gemm")
        .count();
    assert_eq!(layers, 4, "three of the encoder, one of the predictor");
    assert_eq!(
        shape(&graph.input[0]),
        (data_type::FLOAT, vec![None, Some(2)])
    );
    let outputs: Vec<_> = graph.output.iter().map(shape).collect();
    let expected = [
        (data_type::FLOAT, vec![None, Some(2)]),
        (data_type::FLOAT, vec![None, Some(2)]),
        (data_type::INT64, vec![None]),
    ];
    assert_eq!(outputs, expected);
    assert_eq!(texts(&file.model)["method"], "cpc");
    assert_eq!(texts(&file.model)["classes"], r#"["0","1"]"#);
}

#[test]
fn convolutions_have_their_kernels_turned() {
    let file = exported("glyphs-wrn");
    let stored =
        TensorFile::load(&recorded("glyphs-wrn/model/model.safetensors")).expect("a model");
    let (shape, values) = &stored.tensors.0["Vae.encoder.stem.weight"];
    assert_eq!(shape[..], [3, 3, 1, 16]);
    let graph = file.model.graph.as_ref().expect("a graph");
    let stem = graph.initializer.iter().find(|c| c.dims == [16, 1, 3, 3]);
    let stem = floats(stem.expect("the first kernel"));
    for (output, kernel) in stem.chunks_exact(9).enumerate() {
        for (tap, value) in kernel.iter().enumerate() {
            assert_eq!(*value, values[tap * 16 + output]);
        }
    }
    let names = operators(&file.model);
    // The stem, three blocks of two, and a shortcut where a block changes the sizes.
    let shortcuts = stored
        .tensors
        .0
        .keys()
        .filter(|name| name.contains("encoder") && name.contains("shortcut"));
    let convolutions = names.iter().filter(|op| **op == "Conv").count();
    assert_eq!(convolutions, 7 + shortcuts.count());
    assert_eq!(file.input.kind, "float [rows, 28, 28, 1]");
}

/// Two groups of rows with a category and missing cells; a few have a label.
fn fitted() -> Fitted {
    let text: String = (0..90)
        .map(|row| {
            let (group, label) = (row % 3, if row < 24 { row % 3 } else { 9 });
            let label = ["a", "b", "c", "", "", "", "", "", "", ""][label];
            let town = if row % 11 == 0 {
                ""
            } else {
                ["Bern", "Oslo", "Rome"][group]
            };
            format!("{},{town},{label}\n", 2_000_000_000 + 10 * group + row % 7)
        })
        .collect();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv");
    std::fs::write(&path, format!("meter,town,class\n{text}")).expect("writable");
    let data = Dataset::read(&path, Label::column("class")).expect("a table");
    let cpc = Cpc::new().steps(30).hidden(&[6]).folds(2);
    cpc.set("train.precision", "f32").fit(&data).expect("fits")
}

#[test]
fn an_ensemble_votes_in_the_file_unless_the_network_is_to_be_alone() {
    let fitted = fitted();
    let whole = fitted.onnx(OnnxOptions::default()).expect("exports");
    check_graph(&whole.model);
    let names = operators(&whole.model);
    for (operator, count) in [("TreeEnsembleRegressor", 2), ("TopK", 1), ("IsNaN", 1)] {
        let found = names.iter().filter(|name| **name == operator).count();
        assert!(found >= count, "{operator}: {found}");
    }
    let sets = whole.model.opset_import.iter();
    let sets: Vec<_> = sets
        .map(|set| set.domain.clone().unwrap_or_default())
        .collect();
    assert_eq!(sets, ["", "ai.onnx.ml"]);
    assert!(
        whole.answers.contains("label-spreading"),
        "{}",
        whole.answers
    );
    // A large number is a 64-bit input, and the levels of a category are in the metadata.
    assert_eq!(whole.input.kind, "double [rows, 2]");
    assert!(texts(&whole.model)["columns"].contains(r#""levels":["Bern","Oslo","Rome"]"#));
    // Trees as in the ensemble: every root comes first, leaves are weighted.
    let graph = whole.model.graph.as_ref().expect("a graph");
    let is_forest = |node: &&Node| node.op_type.as_deref() == Some("TreeEnsembleRegressor");
    for forest in graph.node.iter().filter(is_forest) {
        let attribute = |name: &str| {
            let found = forest
                .attribute
                .iter()
                .find(|a| a.name.as_deref() == Some(name));
            found.expect("an attribute of trees")
        };
        let (trees, numbers) = (
            &attribute("nodes_treeids").ints,
            &attribute("nodes_nodeids").ints,
        );
        assert_eq!(trees.last(), Some(&299));
        for (place, (tree, number)) in trees.iter().zip(numbers).enumerate() {
            let is_first = place == 0 || trees[place - 1] != *tree;
            assert_eq!(is_first, *number == 0);
        }
        let total: f32 = attribute("target_weights").floats.iter().sum();
        let leaves = attribute("nodes_modes").strings.iter();
        let leaves = leaves.filter(|mode| mode.as_slice() == b"LEAF").count();
        assert!((total * 300.0 - leaves as f32).abs() < 1e-2 * leaves as f32);
    }
    let alone = fitted
        .onnx(OnnxOptions { network_only: true })
        .expect("exports");
    check_graph(&alone.model);
    assert!(!operators(&alone.model).contains(&"TreeEnsembleRegressor"));
    assert_eq!(alone.model.opset_import.len(), 1);
    assert_eq!(texts(&alone.model)["temperature"], "1");
    assert!(alone.bytes().len() < whole.bytes().len() / 2);
}
