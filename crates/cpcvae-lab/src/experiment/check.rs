//! Checks that the parts of a plan are consistent.

use super::plan::{Plan, Selection};
use std::collections::BTreeSet;

/// The error says what is wrong, where, and what to do.
pub(super) fn check(plan: &Plan) -> Result<(), String> {
    filled("labels", &plan.labels)?;
    filled("code", &plan.code)?;
    filled("report.metrics", &plan.report.metrics)?;
    filled("method", &plan.methods)?;
    if plan.draws == 0 {
        return Err("`draws` is 0; at least one draw is needed".into());
    }
    if !plan.settings.is_empty() && !plan.grid.is_empty() {
        return Err("`[[setting]]` and `[grid]` both name variants; keep one of them".into());
    }
    let labels = || plan.methods.iter().map(|method| method.label.as_str());
    let settings = || plan.settings.iter().map(|setting| setting.name.as_str());
    distinct("method.label", labels())?;
    distinct("setting.name", settings())?;
    distinct(
        "figure.name",
        plan.figures.iter().map(|figure| figure.name.as_str()),
    )?;
    let grids = plan.methods.iter().map(|method| &method.choose);
    for (key, values) in grids.chain([&plan.grid]).flatten() {
        filled(key, values)?;
    }

    let methods: Vec<&str> = labels().collect();
    let settings: Vec<&str> = settings().collect();
    let selected = |place: &str, selection: &Selection| {
        known(&format!("{place}.methods"), &selection.methods, &methods)?;
        // Names of a grid's variants are generated.
        match plan.grid.is_empty() {
            true => known(&format!("{place}.settings"), &selection.settings, &settings),
            false => Ok(()),
        }
    };
    for method in &plan.methods {
        if let Some(names) = &method.settings {
            let place = format!("settings of method `{}`", method.label);
            known(&place, names, &settings)?;
        }
    }
    for paper in &plan.paper {
        known("paper.values", paper.values.keys(), &methods)?;
        known("paper.setting", &paper.setting, &settings)?;
    }
    known("report.relative_to", &plan.report.relative_to, &methods)?;
    for figure in &plan.figures {
        selected(&format!("figure `{}`: only", figure.name), &figure.only)?;
    }
    match &plan.quick {
        Some(quick) => selected("quick.only", &quick.only),
        None => Ok(()),
    }
}

fn filled<T>(key: &str, list: &[T]) -> Result<(), String> {
    match list.is_empty() {
        true => Err(format!("`{key}` is empty; name at least one")),
        false => Ok(()),
    }
}

fn distinct<'a>(key: &str, names: impl Iterator<Item = &'a str>) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(format!(
                "`{key}` is `{name}` twice; each needs its own name"
            ));
        }
    }
    Ok(())
}

fn known<'a>(
    place: &str,
    names: impl IntoIterator<Item = &'a String>,
    all: &[&str],
) -> Result<(), String> {
    for name in names {
        if !all.contains(&name.as_str()) {
            let all = match all {
                [] => "none".to_string(),
                all => all.join(", "),
            };
            return Err(format!(
                "{place}: there is no `{name}` in this plan; there are: {all}"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::cells::tests::{PLAN, plan};
    use super::super::plan::Plan;

    fn error(change: (&str, &str)) -> String {
        assert!(PLAN.contains(change.0), "{change:?}");
        Plan::parse(&PLAN.replace(change.0, change.1), "tiny.toml")
            .expect_err("the plan is wrong")
            .to_string()
    }

    #[test]
    fn a_plan_is_read() {
        let plan = plan();
        assert_eq!(plan.methods.len(), 2);
        assert_eq!(plan.settings[1].draws, Some(1));
    }

    #[test]
    fn unknown_keys_are_errors_that_name_file_line_and_key() {
        let text = error(("draws = 2", "drows = 2"));
        assert!(text.starts_with("tiny.toml: "), "{text}");
        assert!(text.contains("line") && text.contains("drows"), "{text}");
        let text = error(("label = \"PC\"", "label = \"PC\"\nlambda = 3"));
        assert!(
            text.contains("lambda") && text.contains("choose"),
            "names what there is: {text}"
        );
        let text = error(("curve = { x", "curve = { z = 1, x"));
        assert!(text.contains("keys in table: z"), "{text}");
    }

    #[test]
    fn names_that_are_not_there_are_errors() {
        let text = error(("values = { PC", "values = { PD"));
        assert_eq!(
            text,
            "tiny.toml: paper.values: there is no `PD` in this plan; there are: PC, CPC"
        );
        let text = error(("only.settings = [\"even\"]", "only.settings = [\"odd\"]"));
        assert!(
            text.contains("figure `a`: only.settings: there is no `odd`"),
            "{text}"
        );
        let text = error(("label = \"CPC\"", "label = \"PC\""));
        assert!(text.contains("`PC` twice"), "{text}");
        let text = error(("labels = [6, 100]", "labels = []"));
        assert_eq!(text, "tiny.toml: `labels` is empty; name at least one");
    }
}
