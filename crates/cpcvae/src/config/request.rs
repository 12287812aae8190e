//! Complete settings from a request: used by the library, the command line and experiments.

use super::{DataConfig, Preset, PresetData, RunConfig, choice, old_keys};
use crate::error::{Error, Result};
use crate::method::DataKind;
use cpcvae_data::{DataName, Dataset};
use toml::{Table, Value};

/// The default method.
const METHOD: &str = "cpc";

/// Settings that override others, with their origin for messages.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// The name of the file or other origin.
    pub context: String,
    /// The settings, section by section.
    pub settings: Table,
}

/// A method and settings that override its defaults. Defaults depend on the data, see
/// [`Request::settings_for`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    chosen: Option<String>,
    /// Named by settings; an explicitly chosen method takes precedence.
    named: Option<String>,
    preset: Preset,
    /// The number of ranks, with several.
    ranks: Option<usize>,
    layers: Vec<Layer>,
    /// Notes about settings under old names.
    notes: Vec<String>,
}

impl Request {
    /// The method of that name, or the default one.
    pub fn new(method: Option<&str>) -> Self {
        Self {
            chosen: method.map(String::from),
            ..Self::default()
        }
    }

    /// The same with the defaults of a preset.
    pub fn with_preset(mut self, preset: Preset) -> Self {
        self.preset = preset;
        self
    }

    /// The same with defaults for so many ranks that train one model.
    pub fn for_ranks(mut self, ranks: usize) -> Self {
        self.ranks = Some(ranks);
        self
    }

    /// Adds settings that override those added before. They may name the method, unless it was
    /// chosen explicitly: `method = "pc"`, or `name` in `[method]`.
    pub fn push(&mut self, context: impl Into<String>, mut settings: Table) {
        self.notes.extend(old_keys::rename(&mut settings));
        let named = take_method(&mut settings);
        let context = context.into();
        self.layers.push(Layer { context, settings });
        self.named = named.or(self.named.take());
    }

    /// Notes for the user about names of earlier versions.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The method's name.
    pub fn method(&self) -> &str {
        self.requested_method().unwrap_or(METHOD)
    }

    /// The method's name, if one was requested.
    pub fn requested_method(&self) -> Option<&str> {
        self.chosen.as_deref().or(self.named.as_deref())
    }

    /// Whether a setting was requested, by its key.
    pub fn sets(&self, key: &str) -> bool {
        let has = |layer: &Layer| {
            let mut parts = key.split('.');
            let first = parts.next().and_then(|part| layer.settings.get(part));
            parts.fold(first, |value, part| value?.get(part)).is_some()
        };
        self.layers.iter().any(has)
    }

    /// The requested settings in one table, without the method's name and `[data]`.
    pub(crate) fn requested_settings(&self) -> Table {
        let mut all = Table::new();
        for layer in &self.layers {
            lay(&mut all, &layer.settings);
        }
        all.remove("data");
        all.retain(|_, value| value.as_table().is_none_or(|table| !table.is_empty()));
        all
    }

    /// Settings that are known before the data is opened, including `[data]`. `source` is the name
    /// of the data in messages and reports.
    pub fn settings_before_opening(&self, name: &DataName, source: &str) -> Result<RunConfig> {
        let usual = |kind| {
            let data = match name.built_in() {
                Some(built_in) => PresetData::BuiltIn(built_in),
                None => PresetData::Own(kind),
            };
            RunConfig::preset(self.method(), data, source, self.preset)
        };
        // How a file is read may decide whether it is a table or images, which determines all other
        // defaults.
        let draft = self.laid_over(usual(DataKind::Table)?)?;
        let kind = match name.holds_images(&draft.data.read_options())? {
            true => DataKind::Images,
            false => DataKind::Table,
        };
        self.laid_over(self.with_choices(usual(kind)?))
    }

    /// Complete settings for these rows: the defaults of the method and the preset, defaults that
    /// depend on the rows (the size of a table, whether images are black and white), then the
    /// requested settings.
    pub fn settings_for(&self, rows: &Dataset) -> Result<RunConfig> {
        let data = match rows.built_in() {
            Some(built_in) => PresetData::BuiltIn(built_in),
            None => PresetData::Own(DataKind::of(&rows.layout)),
        };
        let opened: DataConfig = rows.data_config();
        let mut usual = RunConfig::preset(self.method(), data, &opened.source, self.preset)?;
        usual.data = opened;
        let usual = self.with_choices(usual);
        let uses_all_labels = self.laid_over(usual.clone())?.data.labels == 0;
        self.laid_over(usual.with_data_dependent_defaults(rows, uses_all_labels))
    }

    /// Complete settings overridden by the requested ones.
    pub fn laid_over(&self, base: RunConfig) -> Result<RunConfig> {
        let overlay =
            |config: RunConfig, layer: &Layer| config.overlaid(&layer.settings, &layer.context);
        self.layers.iter().try_fold(base, overlay)
    }

    /// Defaults for the requested network, which determines the default sizes, and the number of
    /// ranks.
    fn with_choices(&self, config: RunConfig) -> RunConfig {
        let config = match self.ranks {
            Some(ranks) => config.with_ranks(ranks),
            None => config,
        };
        let models = self.layers.iter().rev();
        let mut models = models.filter_map(|layer| layer.settings.get("model")?.as_table());
        let named = models.find_map(|model| model.get("net")?.as_str());
        // An unknown network is refused when the settings override the defaults.
        match named.and_then(|name| choice("model.net", name).ok()) {
            Some(net) => config.with_net(net),
            None => config,
        }
    }
}

impl Layer {
    /// The settings of a TOML text.
    pub fn from_toml(context: &str, text: &str) -> Result<Self> {
        let settings = text
            .parse()
            .map_err(|error: toml::de::Error| Error::Config {
                context: context.into(),
                problem: format!("this is not TOML: {}", error.to_string().trim()),
            })?;
        let context = context.into();
        Ok(Self { context, settings })
    }
}

/// Overrides settings, section by section.
fn lay(base: &mut Table, over: &Table) {
    for (key, value) in over {
        match (base.get_mut(key), value) {
            (Some(Value::Table(inner)), Value::Table(over)) => lay(inner, over),
            (_, value) => {
                base.insert(key.clone(), value.clone());
            }
        }
    }
}

/// Removes the method's name from settings.
fn take_method(settings: &mut Table) -> Option<String> {
    let name = match settings.get_mut("method")? {
        Value::String(_) => settings.remove("method"),
        Value::Table(method) => method.remove("name"),
        _ => None,
    };
    name.and_then(|name| name.as_str().map(String::from))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::parse_settings;
    use cpcvae_data::{BuiltIn, Labels, Layout, Matrix};

    fn rows(columns: usize) -> Dataset {
        let names = (0..columns).map(|i| format!("x{i}").as_str().into());
        let values = Matrix::new(100, columns, vec![0.0; 100 * columns]).expect("fits");
        Dataset::new(
            "made",
            values,
            Layout::Columns(names.collect()),
            Labels::None,
        )
        .expect("fits")
    }

    fn request(pairs: &[&str]) -> Request {
        let pairs: Vec<String> = pairs.iter().map(ToString::to_string).collect();
        let mut request = Request::new(None);
        request.push("test", parse_settings(&pairs).expect("well formed"));
        request
    }

    #[test]
    fn what_is_said_wins_over_what_suits_the_rows() {
        let plain = Request::new(None).settings_for(&rows(40)).expect("ok");
        assert_eq!(plain.model.code, 20);
        let config = request(&["model.code=3"])
            .settings_for(&rows(40))
            .expect("ok");
        assert_eq!(
            (config.model.code, config.model.hidden),
            (3, plain.model.hidden)
        );
    }

    #[test]
    fn settings_may_name_the_method_and_what_was_chosen_first_wins() {
        assert_eq!(request(&["method=pc"]).method(), "pc");
        assert_eq!(request(&["method.name=m2"]).method(), "m2");
        let mut request = Request::new(Some("vae"));
        request.push("test", parse_settings(&["method=pc".into()]).expect("ok"));
        assert_eq!(request.method(), "vae");
    }

    #[test]
    fn built_in_data_has_its_protocol_before_it_is_opened() {
        let mnist = DataName::BuiltIn(BuiltIn::Mnist);
        let config = request(&["data.labels=50"]).settings_before_opening(&mnist, "mnist");
        let data = config.expect("ok").data;
        assert_eq!((data.labels, data.validation), (50, 10_000.0));
    }
}
