//! Properties of every split, on data sets of many shapes.

use cpcvae_data::{Dataset, Holdout, Labels, Layout, Matrix, Split, SplitPlan};
use proptest::prelude::*;

fn dataset(labels: Labels, rows: usize) -> Dataset {
    let features = Matrix::new(rows, 1, vec![0.0; rows]).unwrap();
    Dataset::new("test", features, Layout::Columns(vec!["x".into()]), labels).unwrap()
}

/// Row `i` has class `i % classes`; each `hidden`-th row has no label.
fn classes(rows: usize, classes: u32, hidden: usize) -> Dataset {
    let of_row = (0..rows)
        .map(|row| (row % hidden != hidden - 1).then_some(row as u32 % classes))
        .collect();
    let names = (0..classes).map(|class| format!("class {class}")).collect();
    dataset(Labels::Classes { names, of_row }, rows)
}

fn plan(labels: Option<usize>, validation: Holdout, test: Holdout, seed: u64) -> SplitPlan {
    SplitPlan {
        labels,
        validation,
        test,
        seed,
    }
}

fn count(data: &Dataset, rows: &[u32], class: u32) -> usize {
    rows.iter()
        .filter(|&&row| data.labels.class_of(row) == Some(class))
        .count()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn parts_are_disjoint_balanced_seeded_and_cover_all_rows(
        class_count in 2u32..6, per_class in 1usize..5, extra in 0usize..4,
        hidden in prop::sample::select(vec![7usize, 11, 13]), seed in any::<u64>(), fraction in 0.0f64..0.3,
    ) {
        let data = classes(400, class_count, hidden);
        let labels = per_class * class_count as usize + extra.min(class_count as usize - 1);
        let plan = plan(Some(labels), Holdout::Fraction(fraction), Holdout::Rows(20), seed);
        let split = Split::draw(&data, &plan).unwrap();
        split.check(400).unwrap();
        prop_assert_eq!(
            split.labelled.len() + split.unlabelled.len() + split.validation.len() + split.test.len(),
            400
        );
        prop_assert_eq!((split.labelled.len(), split.test.len()), (labels, 20));
        let known = data.labelled_rows();
        prop_assert_eq!(split.validation.len(), (fraction * known.len() as f64).round() as usize);
        for part in [&split.labelled, &split.validation, &split.test] {
            prop_assert!(part.iter().all(|&row| data.labels.is_known(row)));
            prop_assert!(part.is_sorted());
        }
        for class in 0..class_count {
            let labelled = count(&data, &split.labelled, class);
            prop_assert!(labelled == per_class || labelled == per_class + 1);
            // Held-out rows follow the classes' shares, up to rounding.
            let share = count(&data, &known, class) as f64 / known.len() as f64;
            let tested = count(&data, &split.test, class) as f64;
            prop_assert!((tested - 20.0 * share).abs() <= class_count as f64, "{} of {}", tested, 20.0 * share);
        }
        prop_assert_eq!(&Split::draw(&data, &plan).unwrap(), &split);
        let other = SplitPlan { seed: seed.wrapping_add(1), ..plan };
        prop_assert_ne!(&Split::draw(&data, &other).unwrap(), &split);
    }
}

#[test]
fn more_labels_keep_the_earlier_ones_and_the_held_out_rows() {
    let data = classes(3000, 10, 7);
    let draw = |labels| {
        Split::draw(
            &data,
            &plan(Some(labels), Holdout::Rows(300), Holdout::Rows(300), 4),
        )
        .unwrap()
    };
    let (few, many) = (draw(20), draw(100));
    assert!(few.labelled.iter().all(|row| many.labelled.contains(row)));
    assert_eq!(few.validation, many.validation);
    assert_eq!(few.test, many.test);
}

#[test]
fn all_labels_are_used_when_no_number_is_given() {
    let data = classes(100, 2, 4);
    let split = Split::draw(&data, &plan(None, Holdout::Fraction(0.2), Holdout::None, 1)).unwrap();
    assert_eq!(
        (
            split.labelled.len(),
            split.validation.len(),
            split.unlabelled.len()
        ),
        (60, 15, 25)
    );
    assert!(
        split
            .unlabelled
            .iter()
            .all(|&row| !data.labels.is_known(row))
    );
}

#[test]
fn the_papers_mnist_protocol() {
    let data = classes(60_000, 10, usize::MAX);
    let split = Split::draw(&data, &SplitPlan::paper_mnist(100, 0)).unwrap();
    split.check(60_000).unwrap();
    assert_eq!(
        (split.labelled.len(), split.unlabelled.len()),
        (100, 49_900)
    );
    assert_eq!((split.validation.len(), split.test.len()), (10_000, 0));
    assert!((0..10).all(|class| count(&data, &split.labelled, class) == 10));
}

#[test]
fn continuous_labels_are_drawn_at_random() {
    let of_row = (0..50)
        .map(|row| (row % 2 == 0).then_some(vec![row as f32]))
        .collect();
    let data = dataset(
        Labels::Values {
            names: vec!["y".into()],
            of_row,
            offsets: Vec::new(),
        },
        50,
    );
    let split = Split::draw(&data, &plan(Some(5), Holdout::Rows(10), Holdout::None, 2)).unwrap();
    assert_eq!(
        (
            split.labelled.len(),
            split.validation.len(),
            split.unlabelled.len()
        ),
        (5, 10, 35)
    );
    assert_ne!(split.labelled, [0, 2, 4, 6, 8]);
    let message = Split::draw(&data, &plan(Some(26), Holdout::None, Holdout::None, 2)).unwrap_err();
    assert!(message.to_string().contains("at most 25"), "{message}");
}

#[test]
fn what_cannot_be_drawn_is_explained() {
    let data = classes(40, 4, 2);
    let message = |data: &Dataset, labels, validation| {
        Split::draw(data, &plan(labels, validation, Holdout::None, 0))
            .unwrap_err()
            .to_string()
    };
    // With every second row hidden, only classes 0 and 2 keep labels.
    let absent = message(&data, Some(4), Holdout::None);
    assert!(
        absent.contains("class `class 1` has no labelled row"),
        "{absent}"
    );

    let data = classes(40, 4, usize::MAX);
    let few = message(&data, Some(3), Holdout::None);
    assert!(few.contains("3 labels cannot cover 4 classes"), "{few}");
    let many = message(&data, Some(44), Holdout::None);
    assert!(
        many.contains("need 11 of class `class 0`, which has 10; use at most 40"),
        "{many}"
    );
    let held = message(&data, Some(20), Holdout::Rows(21));
    assert!(
        held.contains("21 rows for validation and test") && held.contains("leaves 20"),
        "{held}"
    );
    let fraction = message(&data, None, Holdout::Fraction(1.5));
    assert!(
        fraction.contains("validation fraction") && fraction.contains("1.5"),
        "{fraction}"
    );

    let single = classes(10, 1, usize::MAX);
    assert!(message(&single, None, Holdout::None).contains("all labels are `class 0`"));
    let none = dataset(Labels::None, 10);
    assert!(message(&none, None, Holdout::None).contains("no row of `test` has a label"));
}
