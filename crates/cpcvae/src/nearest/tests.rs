use super::*;

/// Rows (x, 2 x) for x = 0, 0.1, ... 9.9.
fn line() -> NearestRows {
    let values: Vec<f32> = (0..100)
        .flat_map(|i| [0.1 * i as f32, 0.2 * i as f32])
        .collect();
    let rows = Matrix::new(100, 2, values).expect("fits");
    let all: Vec<u32> = (0..100).collect();
    let kept = NearestRows::of(rows.clone(), vec![0..1, 1..2]);
    let usual = Typical::new(&kept.nearness(&rows, Some(&all)), 1).expect("rows");
    NearestRows { usual, ..kept }
}

#[test]
fn rows_off_the_line_are_unusual_and_rows_on_it_are_not() {
    let rows = Matrix::new(2, 2, vec![4.05, 8.1, 4.0, 3.0]).expect("fits");
    let found = line().percentiles(&rows);
    assert!(found[0] > 30.0 && found[1] < 1.0, "{found:?}");
}

#[test]
fn gaps_are_filled_from_near_rows_and_known_cells_stay() {
    let rows = Matrix::new(2, 2, vec![5.0, f32::NAN, 7.25, 1.0]).expect("fits");
    let filled = line().fill(&rows, Filling::Mean, 0, 0);
    assert!((filled.values[1] - 10.0).abs() < 0.05, "{filled:?}");
    assert_eq!(
        (filled.values[0], &filled.values[2..]),
        (5.0, &[7.25, 1.0][..])
    );
    let draws: Vec<f32> = (0..30)
        .map(|draw| line().fill(&rows, Filling::Draw(draw), 0, 0).values[1])
        .collect();
    assert!(
        draws.iter().all(|cell| (cell - 10.0).abs() < 1.1),
        "{draws:?}"
    );
    let other = |first| line().fill(&rows, Filling::Draw(1), 0, first).values[1];
    let drawn: Vec<f32> = (0..30).map(other).collect();
    for values in [draws, drawn] {
        assert!(values.iter().any(|cell| *cell != values[0]), "{values:?}");
    }
}

#[test]
fn a_file_that_does_not_fit_is_refused() {
    let kept = line();
    let places = || vec![0..1, 1..2];
    let file = |values: Vec<f32>| TensorFile {
        tensors: Parameters([("rows".to_string(), (vec![100, 2], values))].into()),
        about: serde_json::to_string(&About {
            format: FORMAT,
            usual: kept.usual.clone(),
        })
        .expect("plain"),
    };
    let same = NearestRows::of_file(file(kept.rows.values.clone()), 2, places()).expect("fits");
    assert_eq!(same, kept);
    let refused =
        |file, columns| NearestRows::of_file(file, columns, places()).expect_err("refused");
    assert!(refused(file(kept.rows.values.clone()), 3).contains("do not fit"));
    assert!(refused(file(vec![f32::INFINITY; 200]), 2).contains("infinite"));
}
