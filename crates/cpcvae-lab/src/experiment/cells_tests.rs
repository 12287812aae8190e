//! Tests of the list of cells, and the plan that other tests use.

use super::super::plan::Plan;
use super::*;

pub const PLAN: &str = r#"
title = "A tiny plan"
data = "half-moon"
labels = [6, 100]
code = [2]
draws = 2
set.train.steps = 100

[[setting]]
name = "even"
set.data.half_moon_labels = "evenly-spaced"

[[setting]]
name = "random"
draws = 1
labels = [6]

[[method]]
label = "PC"
method = "pc"
set.train.steps = 50

[[method]]
label = "CPC"
method = "cpc"
settings = ["random"]
code = [2, 14]
choose."method.beta" = [1, 2.5]

[[paper]]
setting = "even"
labels = 6
values = { PC = 78.1 }

[report]
metrics = ["accuracy"]

[[figure]]
name = "a"
only.settings = ["even"]
draw.curve = { x = "train.steps", x_label = "steps", y = "accuracy" }

[quick]
draws = 1
only = { methods = ["PC"], settings = ["even"], labels = [6] }
set.train.steps = 5
"#;

pub fn plan() -> Plan {
    Plan::parse(PLAN, "tiny.toml").expect("the plan is right")
}

#[test]
fn cells_are_listed_draw_by_draw() {
    let names: Vec<String> = cells(&plan())
        .iter()
        .map(|cell| cell.key.to_string())
        .collect();
    assert_eq!(
        names,
        [
            "PC, even, 6 labels, code 2, draw 0",
            "PC, even, 100 labels, code 2, draw 0",
            "PC, random, 6 labels, code 2, draw 0",
            "CPC, random, beta 1, 6 labels, code 2, draw 0",
            "CPC, random, beta 2.5, 6 labels, code 2, draw 0",
            "CPC, random, beta 1, 6 labels, code 14, draw 0",
            "CPC, random, beta 2.5, 6 labels, code 14, draw 0",
            "PC, even, 6 labels, code 2, draw 1",
            "PC, even, 100 labels, code 2, draw 1",
        ]
    );
}

#[test]
fn layers_go_from_the_plan_to_the_cell() {
    let cells = cells(&plan());
    let last = |cell: &Cell, path: [&str; 2]| {
        cell.layers
            .iter()
            .filter_map(|layer| layer.settings.get(path[0])?.get(path[1]).cloned())
            .next_back()
    };
    assert_eq!(
        last(&cells[0], ["train", "steps"]),
        Some(Value::Integer(50)),
        "the method's settings win over the plan's"
    );
    assert_eq!(last(&cells[4], ["method", "beta"]), Some(Value::Float(2.5)));
    assert_eq!(last(&cells[6], ["model", "code"]), Some(Value::Integer(14)));
    assert_eq!(
        cells[8].layers[5].settings,
        nested("seed", &Value::Integer(1))
    );
}

#[test]
fn a_grid_makes_variants() {
    let (settings, rest) = (PLAN.find("[[setting]]"), PLAN.find("[[method]]"));
    let (head, tail) = (
        &PLAN[..settings.expect("there")],
        &PLAN[rest.expect("there")..],
    );
    let grid = "[grid]\n\"method.beta\" = [1, 2]\n\"method.predictor_norm\" = [0.5]\n";
    let text = format!("{head}{grid}{tail}")
        .replace("settings = [\"random\"]\n", "")
        .replace("setting = \"even\"\n", "");
    let plan = Plan::parse(&text, "grid.toml").expect("the plan is right");
    let cells = cells(&plan);
    assert_eq!(cells[0].key.setting, "beta 1, predictor_norm 0.5");
    let method = &cells[0].layers[1].settings["method"];
    assert_eq!(method["beta"].as_integer(), Some(1));
    assert_eq!(method["predictor_norm"].as_float(), Some(0.5));
}

#[test]
fn slugs_are_names_for_files() {
    let key = &cells(&plan())[4].key;
    assert_eq!(key.slug(), "cpc-random-beta-2.5-6-labels-code-2-draw-0");
}

#[test]
fn a_method_has_its_own_preset_or_that_of_the_plan() {
    let presets = |text: &str| -> Vec<PresetName> {
        let plan = Plan::parse(text, "tiny.toml").expect("the plan is right");
        cells(&plan).iter().map(|cell| cell.preset).collect()
    };
    assert!(presets(PLAN).iter().all(|p| *p == PresetName::Default));
    let all = format!("preset = \"paper\"\n{PLAN}");
    assert!(presets(&all).iter().all(|p| *p == PresetName::Paper));
    let one = PLAN.replace("method = \"pc\"", "method = \"pc\"\npreset = \"paper\"");
    assert!(presets(&one).contains(&PresetName::Paper));
    assert!(presets(&one).contains(&PresetName::Default));
    let wrong = PLAN.replace("method = \"pc\"", "method = \"pc\"\npreset = \"ours\"");
    assert!(Plan::parse(&wrong, "tiny.toml").is_err());
}
