//! The default search spaces: one file per method in `spaces/`, and one shared by all.

use super::{Error, Result};
use crate::config::{PseudoLabelSourceName, Request, RunConfig};
use cpcvae_search::{Distribution, Space};
use serde_json::Value;

/// The methods with their files.
const SPACES: [(&str, &str); 13] = [
    ("vae", include_str!("spaces/vae.toml")),
    ("vae-then-mlp", include_str!("spaces/vae-then-mlp.toml")),
    ("supervised-vae", include_str!("spaces/supervised-vae.toml")),
    ("pc", include_str!("spaces/pc.toml")),
    ("cpc", include_str!("spaces/cpc.toml")),
    ("m2", include_str!("spaces/m2.toml")),
    ("m1", include_str!("spaces/vae-then-mlp.toml")),
    ("m1-m2", include_str!("spaces/m1-m2.toml")),
    ("adgm", include_str!("spaces/adgm.toml")),
    ("sdgm", include_str!("spaces/adgm.toml")),
    ("blended-m2", include_str!("spaces/blended-m2.toml")),
    ("labels-only", include_str!("spaces/labels-only.toml")),
    ("vat", include_str!("spaces/vat.toml")),
];
const SHARED: &str = include_str!("spaces/shared.toml");

/// Sections that determine what trials are evaluated on, which must be the same for all.
const NEVER: [&str; 2] = ["data", "seed"];

/// A setting by its key.
pub(super) fn setting(config: &RunConfig, key: &str) -> Option<Value> {
    let value = serde_json::to_value(config).ok()?;
    let found = value
        .pointer(&format!("/{}", key.replace('.', "/")))?
        .clone();
    // In the notation of choices that are lists.
    Some(match found {
        Value::Array(_) => Value::String(toml::Value::try_from(&found).ok()?.to_string()),
        plain => plain,
    })
}

/// The search space: the given one, or the method's own without settings that were given.
pub(super) fn space_of(
    given: Option<&(String, String)>,
    base: &RunConfig,
    request: &Request,
) -> Result<Space> {
    let usual = |key: &str| setting(base, key);
    let read = |context: &str, text: &str| Space::from_toml(context, text, &usual);
    let space = match given {
        Some((context, text)) => read(context, text)?,
        None => {
            let name = base.method.name();
            let own = SPACES.iter().find(|(method, _)| *method == name);
            let mut space = Space::default();
            for text in [own.map_or("", |(_, text)| text), SHARED] {
                let part = read(name, text)?;
                let is_new = |known: &Space, name: &str| known.get(name).is_none();
                for parameter in part.parameters {
                    let key = parameter.name.trim_end_matches(Space::SWITCH);
                    if is_new(&space, &parameter.name) && is_open(key, base, request) {
                        space.parameters.push(parameter);
                    }
                }
            }
            space
        }
    };
    check(&space, base)?;
    Ok(space)
}

/// Whether a setting of a method's own space is searched with these settings.
fn is_open(key: &str, base: &RunConfig, request: &Request) -> bool {
    let has_labels = base.pseudo_labels.source != PseudoLabelSourceName::None;
    match key {
        _ if request.sets(key) => false,
        "pseudo_labels.weight" => has_labels,
        // A transform takes six dimensions of the code.
        "model.code" => !base.model.transform.enabled,
        _ => true,
    }
}

fn check(space: &Space, base: &RunConfig) -> Result<()> {
    if space.parameters.is_empty() {
        return Err(Error::Mismatch(
            "there is nothing to search: all settings of the method's space are given; give fewer of \
             them, or a space of your own"
                .into(),
        ));
    }
    for parameter in &space.parameters {
        let key = parameter.name.trim_end_matches(Space::SWITCH);
        let section = key.split('.').next().unwrap_or_default();
        if NEVER.contains(&section) {
            let problem = "cannot be searched: all trials must be evaluated on the same rows";
            return Err(Error::setting(key, problem));
        }
        if setting(base, key).is_none() {
            let problem = "cannot be searched: the method has no such setting";
            return Err(Error::setting(key, problem));
        }
        if let Distribution::Choice(choices) = &parameter.distribution
            && choices.iter().any(Value::is_null)
        {
            return Err(Error::setting(key, "has an empty choice"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{BuiltIn, Preset, PresetData};
    use crate::method::{DataKind, NAMES};

    fn bases(method: &str) -> Vec<RunConfig> {
        let own = [DataKind::Table, DataKind::Images].map(PresetData::Own);
        let built_in = BuiltIn::ALL.map(PresetData::BuiltIn);
        let all = own.into_iter().chain(built_in);
        let mut bases: Vec<RunConfig> = all
            .map(|data| RunConfig::preset(method, data, "x", Preset::Default).expect("ok"))
            .collect();
        let mnist = PresetData::BuiltIn(BuiltIn::Mnist);
        bases.push(RunConfig::preset(method, mnist, "x", Preset::Paper).expect("ok"));
        bases
    }

    #[test]
    fn every_method_has_a_space_and_its_defaults_lie_in_it() {
        for method in NAMES {
            assert!(SPACES.iter().any(|(name, _)| *name == method), "{method}");
            for base in bases(method) {
                let request = Request::new(Some(method));
                let space = space_of(None, &base, &request).expect("a space");
                assert!(space.get("train.learning_rate").is_some());
                let (_, outside) = space.trial_of(&|key| setting(&base, key));
                assert!(
                    outside.is_empty(),
                    "{method} {}: {outside:?}",
                    base.data.source
                );
            }
        }
    }

    #[test]
    fn what_is_asked_for_is_not_searched() {
        let base = &bases("cpc")[0];
        let mut request = Request::new(Some("cpc"));
        let set = ["method.beta=2", "method.entropy_weight=0.5"].map(String::from);
        request.push("--set", crate::config::parse_settings(&set).expect("ok"));
        let space = space_of(None, base, &request).expect("a space");
        for name in [
            "method.beta",
            "method.entropy_weight",
            "method.entropy_weight?",
        ] {
            assert!(space.get(name).is_none(), "{name}");
        }
        assert!(space.get("pseudo_labels.weight").is_some());
    }

    #[test]
    fn settings_that_do_not_exist_or_decide_on_rows_are_refused() {
        let base = &bases("pc")[0];
        let refused = |text: &str| {
            let given = ("mine.toml".to_string(), text.to_string());
            let error = space_of(Some(&given), base, &Request::new(Some("pc")));
            error.expect_err("refused").to_string()
        };
        let range = "{ low = 1.0, high = 2.0 }";
        assert!(refused(&format!("[data]\nlabels = {range}")).contains("the same rows"));
        assert!(refused(&format!("[method]\ngamma = {range}")).contains("no such setting"));
        assert!(refused("").contains("nothing to search"));
    }
}
