use super::*;
use crate::{Trial, TrialState};
use std::collections::BTreeMap;

fn usual(name: &str) -> Option<Value> {
    match name {
        "method.weight" => Some(json!(4.0)),
        "model.code" => Some(json!(20)),
        "method.nothing" => Some(json!(0.0)),
        _ => None,
    }
}

fn space(text: &str) -> Space {
    Space::from_toml("space.toml", text, &usual).expect("a space")
}

fn problem(text: &str) -> String {
    let error = Space::from_toml("space.toml", text, &usual).expect_err("wrong");
    error.to_string()
}

#[test]
fn sections_are_those_of_settings_and_factors_go_around_what_is_usual() {
    let space = space(
        "[method]\nweight = { factor = 10 }\n[model]\ncode = { factor = 4.0 }\n\
         [train]\nlearning_rate = { low = 1e-4, high = 1e-2, log = true }",
    );
    let names: Vec<&str> = space.parameters.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(
        names,
        ["method.weight", "model.code", "train.learning_rate"]
    );
    let log = true;
    assert_eq!(
        space.parameters[0].distribution,
        Distribution::Float {
            low: 0.4,
            high: 40.0,
            log
        }
    );
    assert_eq!(
        space.parameters[1].distribution,
        Distribution::Int {
            low: 5,
            high: 80,
            log
        }
    );
}

#[test]
fn what_depends_on_another_comes_after_it_and_is_not_always_there() {
    let space = space(
        "[a]\ndepth = { choices = [10, 16], when = { \"z.net\" = \"wrn\" } }\n\
         [z]\nnet = { choices = [\"mlp\", \"wrn\"] }",
    );
    assert_eq!(space.parameters[0].name, "z.net");
    let depth = &space.parameters[1];
    let params = |net: f64| BTreeMap::from([("z.net".to_string(), net)]);
    assert!(!space.is_active(depth, &params(0.0)) && space.is_active(depth, &params(1.0)));
    assert!(!space.is_active(depth, &BTreeMap::new()));
}

#[test]
fn zero_is_a_switch_and_settings_have_it_as_zero() {
    let space = space("w = { low = 0.1, high = 10.0, log = true, or_zero = true }");
    let trial = |params: &[(&str, f64)]| Trial {
        params: params.iter().map(|(k, v)| (k.to_string(), *v)).collect(),
        ..Trial::new(0, 0, TrialState::Running)
    };
    let settings = |params: &[(&str, f64)]| space.settings(&trial(params))["w"].clone();
    assert_eq!(settings(&[("w?", 0.0)]), json!(0.0));
    assert_eq!(settings(&[("w?", 1.0), ("w", 2.5)]), json!(2.5));
    // And the inverse.
    let (params, outside) = space.trial_of(&|_| Some(json!(0.0)));
    assert_eq!((params, outside.len()), (trial(&[("w?", 0.0)]).params, 0));
    let (params, outside) = space.trial_of(&|_| Some(json!(50.0)));
    assert_eq!((params["w?"], outside), (1.0, vec!["w".to_string()]));
}

#[test]
fn lists_are_choices_of_text() {
    let space = space("[model]\nhidden = { choices = [[100], [100, 50]] }");
    let expected = Distribution::Choice(vec![json!("[100]"), json!("[100, 50]")]);
    assert_eq!(space.parameters[0].distribution, expected);
}

#[test]
fn what_cannot_be_searched_is_said_with_its_key() {
    for (text, said) in [
        ("a = 3", "`a` is 3; say which values to search"),
        ("a = { low = 3.0, high = 2.0 }", "`a` goes from 3 to 2"),
        ("a = { low = 0.0, high = 2.0, log = true }", "or_zero"),
        ("a = { low = 1 }", "needs either `low` and `high`"),
        (
            "a = { low = 1, high = 2, steps = 3 }",
            "unknown field `steps`",
        ),
        ("[method]\nnothing = { factor = 3 }", "has no multiples"),
        ("[method]\nother = { factor = 3 }", "is not a setting"),
        ("[method]\nweight = { factor = 0.5 }", "must be above 1"),
        ("a = { choices = [] }", "has no choices"),
        (
            "a = { choices = [1, 2], when = { b = 1 } }",
            "depends on `b`",
        ),
        (
            "a = { choices = [1, 2], when = { b = 1 } }\nb = { choices = [3] }",
            "being 1, which it never is",
        ),
        ("a = ", "space.toml: "),
    ] {
        let problem = problem(text);
        assert!(problem.contains(said), "{text}: {problem}");
    }
}
