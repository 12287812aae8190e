use super::super::draws::Draws;
use super::*;
use cpcvae_data::Matrix;

/// A sum of uniforms is close enough to a normal number.
fn normal(draws: &mut Draws) -> f32 {
    ((0..12).map(|_| draws.uniform()).sum::<f64>() - 6.0) as f32
}

fn codes(rows: impl Iterator<Item = [f32; 2]>, sigma: f32) -> Codes {
    let values: Vec<f32> = rows.flatten().collect();
    let rows = values.len() / 2;
    let matrix = |values| Matrix::new(rows, 2, values).expect("whole rows");
    Codes {
        sigma: matrix(vec![sigma; 2 * rows]),
        mean: matrix(values),
    }
}

/// Half a circle of radius 1 and a little noise.
fn arc(rows: usize, seed: u64) -> Codes {
    let mut draws = Draws::new(seed);
    let point = move |_| {
        let angle = std::f64::consts::PI * draws.uniform();
        let radius = 1.0 + 0.05 * normal(&mut draws);
        [radius * angle.cos() as f32, radius * angle.sin() as f32]
    };
    codes((0..rows).map(point), 0.03)
}

fn all(codes: &Codes) -> Vec<Member> {
    (0..codes.mean.rows).map(|row| (row, 1.0)).collect()
}

fn fitted(codes: &Codes) -> Vec<Component> {
    fit(codes, &all(codes), &[0.0; 4], 1).expect("codes are numbers")
}

fn mean_score(mixture: &[Component], codes: &Codes) -> f64 {
    let mixture = Normals::new(mixture).expect("densities");
    let scores = (0..codes.mean.rows).map(|row| mixture.score(codes, row));
    scores.sum::<f64>() / codes.mean.rows as f64
}

#[test]
fn an_arc_is_followed_by_several_components() {
    let (codes, others) = (arc(500, 1), arc(500, 2));
    let mixture = fitted(&codes);
    assert!(mixture.len() >= 4, "{} components", mixture.len());
    assert!((mixture.iter().map(|one| one.share).sum::<f64>() - 1.0).abs() < 1e-9);
    let within = [0.0; 4];
    let data = Data {
        codes: &codes,
        within: &within,
    };
    let one = data.fit(&all(&codes), 1, 1).expect("codes are numbers");
    let (several, single) = (mean_score(&mixture, &others), mean_score(&one, &others));
    assert!(several > single + 0.5, "{several} against {single}");

    // Codes drawn from the mixture stay near the arc; those of one normal distribution do not.
    let far = |mixture: &[Component]| {
        let mut draws = Draws::new(3);
        let shares: Vec<f64> = mixture.iter().map(|one| one.share).collect();
        let is_far = |_: &usize| {
            let one = &mixture[draws.category(&shares)];
            let (a, b) = (f64::from(normal(&mut draws)), f64::from(normal(&mut draws)));
            let x = one.mean[0] + one.lower[0] * a;
            let y = one.mean[1] + one.lower[2] * a + one.lower[3] * b;
            (x.hypot(y) - 1.0).abs() > 0.3
        };
        (0..1000).filter(is_far).count()
    };
    assert!(far(&mixture) < 20, "{} of 1000", far(&mixture));
    assert!(far(&one) > 200, "{} of 1000", far(&one));
}

#[test]
fn normal_codes_have_one_component() {
    let ones = (0..10).filter(|seed| {
        let mut draws = Draws::new(*seed);
        let rows = (0..400).map(|_| [normal(&mut draws), 3.0 * normal(&mut draws)]);
        fitted(&codes(rows, 0.1)).len() == 1
    });
    let ones = ones.count();
    assert!(ones >= 7, "{ones} of 10");
}

#[test]
fn the_same_seed_gives_the_same_mixture() {
    let codes = arc(300, 4);
    assert_eq!(fitted(&codes), fitted(&codes));
}

/// A row of weight 2 equals repeating the row.
#[test]
fn weights_count_rows() {
    let codes = arc(40, 5);
    let within = [0.0; 4];
    let data = Data {
        codes: &codes,
        within: &within,
    };
    let twice: Vec<Member> = (0..40).map(|row| (row, 2.0)).collect();
    let repeated = [all(&codes), all(&codes)].concat();
    let (twice, repeated) = (data.fit(&twice, 1, 0), data.fit(&repeated, 1, 0));
    let (twice, repeated) = (twice.expect("fits"), repeated.expect("fits"));
    for (a, b) in twice[0].lower.iter().zip(&repeated[0].lower) {
        assert!((a - b).abs() < 1e-9);
    }
}

#[test]
fn few_rows_have_one_component_and_the_same_rows_no_trouble() {
    assert_eq!(fitted(&arc(15, 6)).len(), 1);
    let same = codes((0..200).map(|_| [1.0, 2.0]), 0.0);
    let mixture = fitted(&same);
    assert_eq!(mixture.len(), 1);
    assert!(mixture[0].lower.iter().all(|l| l.is_finite()));
    // Two distinct rows, a hundred times each.
    let two = codes((0..200).map(|row| [(row % 2) as f32, 0.0]), 0.0);
    let mixture = fitted(&two);
    assert!(
        mixture
            .iter()
            .all(|one| one.share > 0.0 && one.mean[1] == 0.0)
    );
}

#[test]
fn codes_that_are_no_numbers_have_no_mixture() {
    let broken = codes((0..100).map(|row| [row as f32, f32::NAN]), 1.0);
    assert!(fit(&broken, &all(&broken), &[0.0; 4], 0).is_none());
    let huge = codes((0..100).map(|row| [row as f32 * 1e37, 0.0]), 1.0);
    if let Some(mixture) = fit(&huge, &all(&huge), &[0.0; 4], 0) {
        assert!(
            mixture
                .iter()
                .all(|one| one.lower.iter().all(|l| l.is_finite()))
        );
    }
}
