//! Properties of every batch plan, and batches gathered in the background.

use cpcvae_data::{Batch, BatchPlan, Dataset, Labels, Layout, Matrix, Prefetch, StepRows};
use proptest::prelude::*;
use std::sync::Arc;

/// Row `i` holds (i, -i); even rows are labelled with class `i % 3`.
fn dataset(rows: usize) -> Dataset {
    let values = (0..rows).flat_map(|i| [i as f32, -(i as f32)]).collect();
    let of_row = (0..rows as u32)
        .map(|i| (i % 2 == 0).then_some(i % 3))
        .collect();
    let names = ["a", "b", "c"].map(String::from).to_vec();
    Dataset::new(
        "test",
        Matrix::new(rows, 2, values).unwrap(),
        Layout::Columns(vec!["x".into(), "y".into()]),
        Labels::Classes { names, of_row },
    )
    .unwrap()
}

fn sorted(rows: &[u32]) -> Vec<u32> {
    let mut rows = rows.to_vec();
    rows.sort_unstable();
    rows
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_pass_is_a_permutation_and_any_start_continues(
        labelled in 1u32..20, unlabelled in 1u32..60, per_labelled in 1usize..25,
        per_unlabelled in 1usize..25, seed in any::<u64>(), start in 0u64..40,
    ) {
        let labelled: Vec<u32> = (0..labelled).collect();
        let unlabelled: Vec<u32> = (100..100 + unlabelled).collect();
        let plan = || BatchPlan::new(labelled.clone(), unlabelled.clone(), per_labelled, per_unlabelled, seed).unwrap();
        let whole = plan();
        let steps: Vec<StepRows> = (0..60).map(|step| whole.rows_of_step(step)).collect();
        prop_assert!(steps.iter().all(|s| s.labelled.len() == per_labelled && s.unlabelled.len() == per_unlabelled));

        for (rows, stream) in [
            (&labelled, steps.iter().flat_map(|s| s.labelled.clone()).collect::<Vec<_>>()),
            (&unlabelled, steps.iter().flat_map(|s| s.unlabelled.clone()).collect()),
        ] {
            for pass in stream.chunks_exact(rows.len()) {
                prop_assert_eq!(&sorted(pass), rows);
            }
        }
        let epoch = labelled.len().div_ceil(per_labelled).max(unlabelled.len().div_ceil(per_unlabelled));
        prop_assert_eq!(whole.steps_per_epoch(), epoch as u64);

        let resumed = plan();
        for step in start..start + 20 {
            prop_assert_eq!(&resumed.rows_of_step(step), &steps[step as usize]);
        }
        // Backwards too: a cached later pass must not affect an earlier one.
        prop_assert_eq!(&resumed.rows_of_step(0), &steps[0]);
    }
}

#[test]
fn passes_and_seeds_differ() {
    let rows: Vec<u32> = (0..100).collect();
    let plan = |seed| BatchPlan::new(rows.clone(), rows.clone(), 100, 100, seed).unwrap();
    let (one, other) = (plan(1), plan(2));
    let first = one.rows_of_step(0);
    assert_ne!(first.labelled, one.rows_of_step(1).labelled);
    assert_ne!(
        first.labelled, first.unlabelled,
        "each stream has its own order"
    );
    assert_ne!(first, other.rows_of_step(0));
    // The last possible step, too.
    assert_eq!(sorted(&one.rows_of_step(u64::MAX).labelled), rows);
}

#[test]
fn one_stream_may_be_unused() {
    let plan = BatchPlan::new(vec![], vec![4, 5, 6], 0, 2, 0).unwrap();
    assert_eq!(plan.steps_per_epoch(), 2);
    assert!(plan.rows_of_step(7).labelled.is_empty());
    let message = BatchPlan::new(vec![], vec![1], 3, 1, 0)
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("3 labelled rows a batch were asked for"),
        "{message}"
    );
    assert!(BatchPlan::new(vec![1], vec![1], 0, 0, 0).is_err());
    assert!(BatchPlan::new(vec![1], vec![1], usize::MAX, 0, 0).is_err());
}

#[test]
fn batches_hold_labelled_rows_first() {
    let rows = StepRows {
        labelled: vec![4, 2],
        unlabelled: vec![3],
    };
    let batch = Batch::gather(&dataset(6), 9, rows).unwrap();
    assert_eq!(batch.features, [4.0, -4.0, 2.0, -2.0, 3.0, -3.0]);
    assert_eq!(batch.classes, [1, 2]);
    assert!(batch.values.is_empty());
    assert_eq!((batch.step, batch.labelled, batch.unlabelled), (9, 2, 1));
}

#[test]
fn continuous_labels_are_gathered_row_after_row() {
    let mut data = dataset(2);
    let of_row = vec![Some(vec![1.0, 2.0]), Some(vec![3.0, 4.0])];
    data.labels = Labels::Values {
        names: vec!["u".into(), "v".into()],
        of_row,
        offsets: Vec::new(),
    };
    let rows = StepRows {
        labelled: vec![1, 0],
        unlabelled: vec![],
    };
    let batch = Batch::gather(&data, 0, rows).unwrap();
    assert_eq!(batch.values, [3.0, 4.0, 1.0, 2.0]);
    assert!(batch.classes.is_empty());
}

#[test]
fn rows_that_cannot_be_gathered_are_named() {
    let data = Arc::new(dataset(6));
    let start = |labelled, unlabelled| {
        let plan = BatchPlan::new(labelled, unlabelled, 1, 1, 0).unwrap();
        Prefetch::start(data.clone(), plan, 0)
            .unwrap_err()
            .to_string()
    };
    assert!(start(vec![0, 3], vec![1]).contains("row 3 of `test` is planned as labelled"));
    assert!(start(vec![0], vec![6]).contains("row 6 is planned, but `test` has only 6 rows"));
}

#[test]
fn prefetched_batches_are_those_of_the_plan_and_the_thread_ends() {
    let data = Arc::new(dataset(30));
    let plan = || BatchPlan::new(vec![0, 2, 4], (5..30).collect(), 2, 7, 11).unwrap();
    let mut prefetch = Prefetch::start(data.clone(), plan(), 5).unwrap();
    for step in 5..25 {
        let expected = Batch::gather(&data, step, plan().rows_of_step(step)).unwrap();
        assert_eq!(prefetch.next(), Some(expected));
    }
    drop(prefetch); // while the worker waits at a full queue
    assert_eq!(Arc::strong_count(&data), 1, "the worker dropped the data");
}

/// The shards of a step are its rows, in equal parts of both kinds, whoever gathers which.
#[test]
fn shards_of_a_step_make_up_its_rows() {
    let data = Arc::new(dataset(30));
    let plan = || BatchPlan::new(vec![0, 2, 4], (5..30).collect(), 5, 11, 3).unwrap();
    let gathered = |own| {
        let plan = plan().with_shards(4, own);
        Prefetch::start(data.clone(), plan, 7).unwrap()
    };
    let (mut all, mut upper) = (gathered(0..4), gathered(2..4));
    for step in 7..12 {
        let whole = plan().rows_of_step(step);
        let (mut labelled, mut unlabelled, mut share) = (Vec::new(), Vec::new(), 0.0);
        for shard in 0..4 {
            let batch = all.next().unwrap();
            assert_eq!((batch.step, batch.shard), (step, shard));
            assert!((1..=2).contains(&batch.labelled), "{}", batch.labelled);
            assert!((2..=3).contains(&batch.unlabelled), "{}", batch.unlabelled);
            if shard >= 2 {
                assert_eq!(upper.next().unwrap(), batch);
            }
            labelled.extend(batch.rows.labelled);
            unlabelled.extend(batch.rows.unlabelled);
            share += batch.share;
        }
        assert_eq!(
            (labelled, unlabelled, share),
            (whole.labelled, whole.unlabelled, 1.0)
        );
    }
}
