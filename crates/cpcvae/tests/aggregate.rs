//! The aggregate label consistency: which predictions it uses, and how its weight falls.

mod toy;

use cpcvae::method::{Cpc, DataKind, LabelFacts, Method, MethodSettings};
use cpcvae::model::Model;
use cpcvae::noise::Noise;
use cpcvae::objective::{AggregateViews, Progress};

/// The term's value and weight at a share of the run.
fn aggregate(views: AggregateViews, decay: f64, consistency: f64, share: f64) -> (f32, f64) {
    let method = Method::Cpc(Cpc {
        aggregate_weight: 2.0,
        aggregate_views: views,
        aggregate_decay: decay,
        consistency_weight: consistency,
        ..Cpc::default_for(DataKind::Table)
    });
    let facts = LabelFacts {
        class_shares: vec![0.5, 0.3, 0.2],
        rows: 9,
        labelled_rows: 4,
    };
    let recipe = method.recipe(&facts).expect("valid settings");
    let model = Model::new(&toy::shape(recipe.kind), 1, &toy::compute());
    let noise = Noise::new(3, 11, &toy::device());
    let progress = Progress {
        share,
        multiplier: None,
    };
    let objective = &recipe.stages[0].objective;
    let terms = objective
        .terms(&model, &toy::examples(4, 5), &noise, progress)
        .expect("its model");
    let term = terms.get("aggregate").expect("it has a weight");
    (term.value.clone().into_scalar(), term.weight)
}

#[test]
fn the_first_view_is_what_it_is_without_a_second_one() {
    let value = |views, consistency| aggregate(views, 0.0, consistency, 1.0).0;
    let alone = value(AggregateViews::Both, 0.0);
    assert_eq!(value(AggregateViews::First, 1.0), alone);
    assert!(value(AggregateViews::Both, 1.0) > 1.5 * alone);
}

#[test]
fn the_weight_falls_linearly() {
    // lambda 5 of tables, without a ramp.
    let weight = |share| aggregate(AggregateViews::First, 0.8, 1.0, share).1;
    for (share, expected) in [(0.0, 10.0), (0.5, 6.0), (1.0, 2.0)] {
        assert!((weight(share) - expected).abs() < 1e-9, "{share}");
    }
}
