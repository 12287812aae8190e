use super::*;

/// A method that is correct on the rows from `from` to `to` of `rows`.
fn right(name: &str, rows: usize, from: usize, to: usize) -> MethodScores {
    MethodScores {
        name: name.into(),
        scores: (0..rows)
            .map(|row| f64::from(u8::from((from..to).contains(&row))))
            .collect(),
    }
}

fn contest(ours: MethodScores, labels_only: MethodScores) -> Comparison {
    let half = ours.scores.len() / 2;
    Comparison {
        measure: ScoreKind::Accuracy,
        folds: 5,
        never_held_out: 0,
        unlabelled: Some(500),
        ours,
        labels_only: Some(labels_only),
        others: Vec::new(),
        classes: vec![("a".into(), half), ("b".into(), half)],
        class_weights: vec![1.1, 0.9],
    }
}

#[test]
fn a_clear_gain_is_called_one() {
    let verdict = contest(right("cpc", 100, 0, 95), right("labels-only", 100, 0, 75)).verdict();
    assert_eq!(verdict.outcome, Outcome::Helps);
    assert_eq!(
        verdict.answer,
        "The unlabelled rows help: on 100 held-out rows cpc has 95.0% right, labels alone \
         (`labels-only`) 75.0% right; a difference of +20.0 points (95% interval +11.7 to +27.5, p < 0.001)."
    );
    assert_eq!(verdict.warnings, [""; 0]);
}

#[test]
fn the_gain_is_over_the_best_of_the_labels_alone() {
    let mut compared = contest(
        right("ensemble", 100, 0, 95),
        right("labels-only", 100, 0, 75),
    );
    // What learns from unlabelled rows, too, is not in question.
    compared.others = vec![
        right("cpc", 100, 0, 95),
        right("label-spreading", 100, 0, 94),
    ];
    assert_eq!(compared.verdict().outcome, Outcome::Helps);
    compared.others.push(right("extra-trees", 100, 0, 93));
    let verdict = compared.verdict();
    assert_eq!(verdict.outcome, Outcome::Unclear);
    assert!(
        verdict
            .answer
            .contains("labels alone (`extra-trees`) 93.0% right"),
        "{verdict:?}"
    );
}

#[test]
fn without_unlabelled_rows_nothing_is_said_of_them() {
    let mut compared = contest(
        right("ensemble", 100, 0, 95),
        right("labels-only", 100, 0, 75),
    );
    compared.unlabelled = Some(0);
    let verdict = compared.verdict();
    assert_eq!(verdict.outcome, Outcome::Unclear);
    assert!(
        verdict
            .answer
            .starts_with("All rows have a label: on 100 held-out rows"),
        "{verdict:?}"
    );
}

#[test]
fn harm_is_warned_of() {
    let verdict = contest(right("cpc", 100, 0, 70), right("labels-only", 100, 0, 90)).verdict();
    assert_eq!(verdict.outcome, Outcome::Hurts);
    assert!(verdict.answer.starts_with("The unlabelled rows do harm"));
    assert!(
        verdict.warnings[0].contains("use `labels-only`"),
        "{verdict:?}"
    );
}

#[test]
fn too_few_labels_are_not_enough_to_tell() {
    // Two rows of twelve better: an exact test says 0.5.
    let verdict = contest(right("cpc", 12, 0, 11), right("labels-only", 12, 0, 9)).verdict();
    assert_eq!(verdict.outcome, Outcome::Unclear);
    assert!(verdict.answer.contains("cannot be told"), "{verdict:?}");
    assert!(verdict.answer.contains("p = 0.50"), "{verdict:?}");
    assert!(
        verdict.answer.contains("labelled rows would show it"),
        "{verdict:?}"
    );
    assert!(
        verdict.warnings[0].starts_with("only 12 labelled rows could be held out, 6 of the rarest"),
        "{verdict:?}"
    );
    // No difference at all does not become one with more rows.
    let verdict = contest(right("cpc", 50, 0, 40), right("labels-only", 50, 0, 40)).verdict();
    assert!(
        verdict
            .answer
            .contains("alike as far as these rows can tell"),
        "{verdict:?}"
    );
}

#[test]
fn a_better_baseline_is_named_with_its_certainty() {
    let mut contest = contest(right("cpc", 60, 0, 40), right("labels-only", 60, 0, 35));
    contest.others = vec![
        right("vae-then-mlp", 60, 0, 30),
        right("nearest neighbours", 60, 0, 58),
    ];
    let verdict = contest.verdict();
    assert!(
        verdict.warnings[0].starts_with("`nearest neighbours` does better")
            && verdict.warnings[0].ends_with("which is more than chance"),
        "{verdict:?}"
    );
    contest.others = vec![right("vae-then-mlp", 60, 0, 41)];
    assert!(contest.verdict().warnings[0].ends_with("which may be chance"));
}

#[test]
fn imbalance_and_answers_of_one_class_are_warned_of() {
    let mut contest = contest(right("cpc", 100, 0, 95), right("labels-only", 100, 0, 75));
    contest.classes = vec![("healthy".into(), 90), ("ill".into(), 10)];
    let warning = &contest.verdict().warnings[0];
    assert!(
        warning.contains("`healthy` has 90 of 100 labels, `ill` has 10"),
        "{warning}"
    );
    contest.ours = right("cpc", 100, 0, 90);
    let warning = &contest.verdict().warnings[0];
    assert!(warning.contains("always answering `healthy`"), "{warning}");
}

#[test]
fn continuous_labels_are_compared_by_their_errors() {
    let errors = |name: &str, size: f64| MethodScores {
        name: name.into(),
        scores: (0..40)
            .map(|row| -size - 0.01 * f64::from(row % 5))
            .collect(),
    };
    let mut contest = contest(errors("cpc", 1.0), errors("labels-only", 1.5));
    contest.measure = ScoreKind::Error;
    contest.classes.clear();
    let verdict = contest.verdict();
    assert_eq!(verdict.outcome, Outcome::Helps);
    assert!(
        verdict.answer.contains("a mean error of 1.02"),
        "{verdict:?}"
    );
    assert!(verdict.answer.contains("smaller by 0.500"), "{verdict:?}");
    contest.labels_only = None;
    assert_eq!(contest.verdict().outcome, Outcome::Unclear);
}

#[test]
fn labels_shared_out_otherwise_than_rows_are_told() {
    let mut contest = contest(right("cpc", 100, 0, 95), right("labels-only", 100, 0, 75));
    let has = |contest: &Comparison| {
        let warnings = contest.verdict().warnings;
        let of_shares = |warning: &String| warning.contains("class frequencies seem to differ");
        warnings.into_iter().find(of_shares)
    };
    assert_eq!(has(&contest), None, "a tenth more or less is nothing");
    contest.class_weights = vec![1.6, 0.4];
    let warning = has(&contest).expect("a third is something");
    assert!(warning.contains("`a`: 80% there, 50% here"), "{warning}");
    contest.class_weights.clear();
    assert_eq!(has(&contest), None, "nobody knows");
}
