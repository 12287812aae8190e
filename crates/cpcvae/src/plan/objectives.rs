//! Checks settings outside of `[method]` that objectives depend on.

use crate::config::{PseudoLabelConfig, PseudoLabelSourceName, RunConfig};
use crate::error::{Error, Result};
use crate::method::{ObjectiveOptions, names_where};
use crate::objective::{PseudoLabelSource, PseudoLabels};
use crate::range::{at_least_zero, check, share};

pub(super) fn options(config: &RunConfig) -> Result<ObjectiveOptions> {
    let pseudo_labels = pseudo_labels(&config.pseudo_labels)?;
    if pseudo_labels.is_some() && !config.method.info().takes_pseudo_labels {
        let method = config.method.name();
        let takers = names_where(|info| info.takes_pseudo_labels);
        let problem = format!("pseudo-labels are for {takers}, not for `{method}`; set it to none");
        return Err(Error::setting("pseudo_labels.source", problem));
    }
    Ok(ObjectiveOptions {
        pseudo_labels,
        labelled_evidence: config.train.labelled_evidence,
    })
}

/// Their weight is a multiple of lambda.
fn pseudo_labels(settings: &PseudoLabelConfig) -> Result<Option<PseudoLabels>> {
    let source = match settings.source {
        PseudoLabelSourceName::None => return Ok(None),
        PseudoLabelSourceName::Propagation => PseudoLabelSource::Propagation {
            alpha: alpha(settings.alpha)?,
        },
        PseudoLabelSourceName::Ensemble => PseudoLabelSource::Ensemble,
    };
    if settings.neighbours == 0 {
        let problem = "a row needs at least one neighbour; for no pseudo-labels set \
                       `pseudo_labels.source` to none";
        return Err(Error::setting("pseudo_labels.neighbours", problem));
    }
    Ok(Some(PseudoLabels {
        weight: at_least_zero("pseudo_labels.weight", settings.weight)?,
        decay: share("pseudo_labels.decay", settings.decay)?,
        source,
        neighbours: settings.neighbours,
        features: settings.features,
        refreshes: settings.refreshes,
        mixup: at_least_zero("pseudo_labels.mixup", settings.mixup)?,
    }))
}

fn alpha(alpha: f64) -> Result<f64> {
    let holds = alpha > 0.0 && alpha < 1.0;
    check("pseudo_labels.alpha", alpha, holds, "above 0 and below 1")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::{DataKind, LabelFacts};

    fn config(method: &str) -> RunConfig {
        let mut config = RunConfig::defaults(method, DataKind::Table, "x").expect("it exists");
        config.pseudo_labels.source = PseudoLabelSourceName::Propagation;
        config
    }

    fn problem(config: &RunConfig) -> String {
        options(config).expect_err("not valid").to_string()
    }

    #[test]
    fn bad_settings_name_their_key() {
        for (key, change) in [
            ("pseudo_labels.alpha", (1.0, 0.0, 30)),
            ("pseudo_labels.decay", (0.9, 1.5, 30)),
            ("pseudo_labels.neighbours", (0.9, 0.0, 0)),
        ] {
            let mut config = config("cpc");
            let settings = &mut config.pseudo_labels;
            (settings.alpha, settings.decay, settings.neighbours) = change;
            assert!(problem(&config).contains(key), "{}", problem(&config));
        }
        assert!(problem(&config("m2")).contains("pseudo_labels.source"));
    }

    #[test]
    fn weights_are_multiples_of_lambda_and_continuous_labels_have_none() {
        let config = config("cpc");
        let options = options(&config).expect("valid");
        let of = |class_shares: Vec<f32>| {
            let facts = LabelFacts {
                class_shares,
                rows: 50,
                labelled_rows: 10,
            };
            let recipe = config.method.recipe(&facts).expect("valid");
            let recipe = recipe.with_options(&options, &facts);
            let objective = &recipe.stages[0].objective;
            objective.constrained().expect("cpc has it").clone()
        };
        let objective = of(vec![0.5, 0.5]);
        let wanted = objective.pseudo_labels.expect("they are on");
        // lambda 5 of tables.
        assert_eq!(wanted.weight, 5.0 * config.pseudo_labels.weight);
        assert_eq!(objective.labelled_share, 0.2);
        assert_eq!(of(Vec::new()).pseudo_labels, None);
    }
}
