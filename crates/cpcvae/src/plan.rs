//! From settings to a checked plan of training.

mod networks;
mod objectives;

use crate::config::{
    ConstraintConfig, MeasureName, RunConfig, ScheduleName, SolverName, TrainConfig,
};
use crate::error::{Error, Remedy, Result};
use crate::method;
use crate::model::{ModelKind, Shape, Target};
use crate::net::spatial_transformer::DIMENSIONS;
use crate::prepare::{FeatureScale, Prepared};
use crate::range::{at_least_zero, check, positive};
use crate::train::{Constraint, ConstraintMeasure, Schedule, Solver, TrainPlan};
use cpcvae_data::{BatchPlan, Layout};

/// Checks every setting against the others and against the data.
pub fn train_plan(config: &RunConfig, prepared: &Prepared) -> Result<TrainPlan> {
    let options = objectives::options(config)?;
    let recipe = config.method.recipe(&prepared.facts)?;
    let recipe = recipe.with_options(&options, &prepared.facts);
    let shape = shape(config, prepared, recipe.kind)?;
    let train = &config.train;
    let has_validation = prepared.training.validation.is_some();
    let (labelled_per_batch, unlabelled_per_batch) = batch_sizes(config, prepared)?;
    let steps_per_epoch = steps_per_epoch(config, prepared)?;
    let steps = if train.steps > 0 {
        train.steps
    } else {
        (at_least_zero("train.epochs", train.epochs)? * steps_per_epoch as f64).ceil() as u64
    };
    if steps == 0 {
        let problem = "there are no steps to take; set `train.steps` or `train.epochs`";
        return Err(Error::setting("train.steps", problem));
    }
    if train.early_stop > 0 && !has_validation {
        let problem = "needs validation rows; set `data.validation`";
        return Err(Error::setting("train.early_stop", problem));
    }
    let evaluate_every = match train.evaluate_every {
        // With few labelled rows, an epoch is a single step; validation is less frequent.
        0 => steps_per_epoch.max(steps / 30),
        every => every,
    };
    Ok(TrainPlan {
        seed: config.seed,
        shape,
        decoder_start: config.model.decoder_start,
        method: config.method.clone(),
        facts: prepared.facts.clone(),
        options,
        recipe,
        steps,
        labelled_per_batch,
        unlabelled_per_batch,
        shards: shards(train.shards, labelled_per_batch, unlabelled_per_batch)?,
        shift: train.shift,
        stretch: stretch(train.stretch)?,
        learning_rate: positive("train.learning_rate", train.learning_rate)?,
        schedule: schedule(train, has_validation)?,
        clip_norm: some_if_positive("train.clip_norm", train.clip_norm)?,
        early_stop: (train.early_stop > 0).then_some(train.early_stop),
        evaluate_every: evaluate_every.max(1),
        checkpoint_every: train.checkpoint_every.max(1),
        log_every: train.log_every.max(1),
        precision: train.precision.precision(),
        constraint: constraint(&config.constraint, config, &prepared.target)?,
    })
}

/// From 0.5 on a matrix could be singular and map the whole image to a line.
fn stretch(most: f64) -> Result<f64> {
    let holds = (0.0..0.5).contains(&most);
    check("train.stretch", most, holds, "from 0 to below 0.5")
}

/// More would leave no row for some; and noise has a number of 8 bits for each.
const MOST_SHARDS: usize = 256;

/// Halves of halves, each with rows of every kind.
fn shards(count: usize, labelled: usize, unlabelled: usize) -> Result<usize> {
    if !count.is_power_of_two() || count > MOST_SHARDS {
        let problem = format!("is {count}; it must be 1, 2, 4 and so on up to {MOST_SHARDS}");
        return Err(Error::setting("train.shards", problem));
    }
    for (kind, rows) in [("labelled", labelled), ("unlabelled", unlabelled)] {
        if (1..count).contains(&rows) {
            let problem = format!(
                "is {count}, but a batch has only {rows} {kind} rows; choose fewer shards, or raise \
                 `train.{kind}_per_batch`"
            );
            return Err(Error::setting("train.shards", problem));
        }
    }
    Ok(count)
}

fn batch_sizes(config: &RunConfig, prepared: &Prepared) -> Result<(usize, usize)> {
    let train = &config.train;
    let (few, mut many) = (train.labelled_per_batch, train.unlabelled_per_batch);
    if few + many == 0 {
        let problem = "a batch needs rows; set it or `train.unlabelled_per_batch`";
        return Err(Error::setting("train.labelled_per_batch", problem));
    }
    if config.method.uses_labels() && few == 0 {
        let problem = format!(
            "the method `{}` needs labelled rows in each batch",
            config.method.name()
        );
        return Err(Error::setting("train.labelled_per_batch", problem));
    }
    if prepared.training.split.unlabelled.is_empty() {
        many = 0;
    }
    Ok((few, many))
}

/// Steps in a pass over the larger stream of the method's first stage.
fn steps_per_epoch(config: &RunConfig, prepared: &Prepared) -> Result<u64> {
    let split = &prepared.training.split;
    let (few, many) = batch_sizes(config, prepared)?;
    let (labelled, unlabelled) = (split.labelled.clone(), split.unlabelled.clone());
    let plan = if !config.method.uses_unlabelled() {
        BatchPlan::new(labelled, Vec::new(), few, 0, config.seed)?
    } else if !config.method.uses_labels() {
        let all = [labelled, unlabelled].concat();
        BatchPlan::new(Vec::new(), all, 0, few + many, config.seed)?
    } else {
        BatchPlan::new(labelled, unlabelled, few, many, config.seed)?
    };
    Ok(plan.steps_per_epoch().max(1))
}

fn shape(config: &RunConfig, prepared: &Prepared, kind: ModelKind) -> Result<Shape> {
    let model = &config.model;
    let image = match &prepared.preprocess.layout {
        Layout::Image {
            height,
            width,
            channels,
        } => Some([*height, *width, *channels]),
        Layout::Columns(_) => None,
    };
    if image.is_none() && !model.likelihood.is_for_tables() {
        let problem = "is for pixels; the columns of a table need `normal` (flags, counts and categories \
                       have the likelihood of their kind)";
        return Err(Error::setting("model.likelihood", problem));
    }
    let transform = networks::transform(config, image.is_some(), kind)?;
    let taken = model.style + transform.as_ref().map_or(0, |_| DIMENSIONS);
    if model.code <= taken {
        let problem = format!(
            "is {}, but transform and style dimensions take {taken} of it; it must be larger",
            model.code
        );
        return Err(Error::setting("model.code", problem));
    }
    if !matches!(kind, ModelKind::Vae | ModelKind::Classifier) && model.style > 0 {
        let method = config.method.name();
        let problem = format!("is for predictors on a VAE's code; `{method}` has none");
        return Err(Error::setting("model.style", problem));
    }
    for (key, sizes) in [
        ("model.hidden", &model.hidden),
        ("model.predictor", &model.predictor),
    ] {
        if sizes.contains(&0) {
            return Err(Error::setting(key, "a layer needs at least one unit"));
        }
    }
    let shape = Shape {
        kind,
        features: prepared.training.rows.width(),
        image,
        code: model.code,
        style: model.style,
        net: networks::net(config, image, kind)?,
        hidden: model.hidden.clone(),
        predictor: model.predictor.clone(),
        activation: model.activation,
        batch_norm: networks::batch_norm(config, kind)?,
        likelihood: model.likelihood,
        row: match &prepared.preprocess.features {
            FeatureScale::Mixed(scale) => Some(scale.row.clone()),
            FeatureScale::Standardise(_) | FeatureScale::Pixels { .. } => None,
        },
        scale_floor: positive("model.scale_floor", model.scale_floor)? as f32,
        transform,
        target: prepared.target.clone(),
    };
    check_memory(&shape)?;
    Ok(shape)
}

/// Refuses a network that cannot fit into memory before it is made: weights, their gradients and
/// Adam's two averages are 4 bytes each.
fn check_memory(shape: &Shape) -> Result<()> {
    let needed = shape.least_parameters().saturating_mul(16);
    let most = cpcvae_data::most_memory();
    if needed <= most {
        return Ok(());
    }
    let gigabytes = |bytes: u64| format!("{:.1} GB", bytes as f64 / 1e9);
    Err(Error::setting(
        "model",
        format!(
            "a code of {} dimensions and layers of {:?} units need at least {} of memory, and {} may \
             be used (half of the machine's; `CPCVAE_MEMORY` sets another number of bytes); choose a smaller \
             `model.code` or `model.hidden`",
            shape.code,
            shape.hidden,
            gigabytes(needed),
            gigabytes(most)
        ),
    ))
}

fn schedule(train: &TrainConfig, has_validation: bool) -> Result<Schedule> {
    match train.schedule {
        ScheduleName::Constant => Ok(Schedule::Constant),
        ScheduleName::Cosine => Ok(Schedule::Cosine),
        ScheduleName::Plateau if has_validation => Ok(Schedule::Plateau {
            factor: positive("train.plateau_factor", train.plateau_factor)?,
            patience: train.plateau_patience.max(1),
        }),
        ScheduleName::Plateau => Err(Error::setting(
            "train.schedule",
            "`plateau` needs validation rows; set `data.validation`, or use `cosine`",
        )),
    }
}

fn constraint(
    settings: &ConstraintConfig,
    config: &RunConfig,
    labels: &Target,
) -> Result<Option<Constraint>> {
    let measure = match settings.measure {
        MeasureName::None => return Ok(None),
        MeasureName::Loss => ConstraintMeasure::Loss,
        MeasureName::Accuracy => ConstraintMeasure::Accuracy,
    };
    if !config.method.info().takes_constraint {
        let problem = format!(
            "a prediction constraint is for {}, not for `{}`",
            method::names_where(|info| info.takes_constraint),
            config.method.name()
        );
        return Err(Error::setting("constraint.measure", problem));
    }
    positive(
        "method.prediction_weight",
        config.method.prediction_weight().unwrap_or(0.0),
    )?;
    if measure == ConstraintMeasure::Accuracy && !labels.is_classes() {
        let problem = "continuous labels have no accuracy; use `loss`";
        let error = Error::setting("constraint.measure", problem);
        return Err(error.with_remedy(Remedy::ConstrainLoss));
    }
    let target = positive("constraint.target", settings.target)?;
    if measure == ConstraintMeasure::Accuracy && target > 1.0 {
        let problem = format!("is {target}; an accuracy is at most 1");
        return Err(Error::setting("constraint.target", problem));
    }
    let solver = match settings.solver {
        SolverName::Dual => Solver::Dual {
            rate: positive("constraint.rate", settings.rate)?,
        },
        SolverName::Sequence => {
            let factor = positive("constraint.factor", settings.factor)?;
            if factor <= 1.0 {
                return Err(Error::setting("constraint.factor", "must be larger than 1"));
            }
            Solver::Sequence {
                factor,
                rounds: settings.rounds.max(1),
            }
        }
    };
    Ok(Some(Constraint {
        measure,
        target,
        solver,
    }))
}

fn some_if_positive(key: &str, value: f64) -> Result<Option<f64>> {
    Ok(Some(at_least_zero(key, value)?).filter(|value| *value > 0.0))
}
