//! Models with wide residual networks: gradients, predictions, and saved runs.

use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::{Device, Gradients, Tensor, TensorData};
use cpcvae::config::{NetName, RunConfig, parse_settings};
use cpcvae::distribution::Family;
use cpcvae::infer::Inference;
use cpcvae::method::{DataKind, LabelFacts, Method};
use cpcvae::model::{ActivationName, Model, ModelKind, Shape, TransformPlan};
use cpcvae::net::{Net, WideResNetShape};
use cpcvae::noise::{Noise, NoisePurpose};
use cpcvae::objective::{Examples, Progress};
use cpcvae::run::{RunFolder, Trained, run};
use cpcvae::train::{Adam, Parameters, Silent};
use cpcvae_data::{Matrix, Rows, Source, glyphs};
use cpcvae_kernels::random::{self, Stream};

mod stop_at;
mod toy;
use stop_at::StopAt;

/// The smallest such network, on colour images with odd, unequal sides.
fn shape(kind: ModelKind) -> Shape {
    let [height, width, channels] = [5, 7, 3];
    Shape {
        features: height * width * channels,
        image: Some([height, width, channels]),
        code: 9,
        net: Net::Wrn(WideResNetShape {
            depth: 10,
            width: 1,
        }),
        hidden: vec![11],
        activation: ActivationName::LeakyRelu,
        likelihood: Family::NoiseNormal,
        transform: Some(TransformPlan {
            ranges: Default::default(),
            canvas: 1.5,
        }),
        ..toy::shape(kind)
    }
}

fn facts() -> LabelFacts {
    LabelFacts {
        class_shares: vec![0.5, 0.3, 0.2],
        rows: 9,
        labelled_rows: 4,
    }
}

fn examples(rows: usize) -> Examples {
    let features = Noise::new(9, 0, &toy::device())
        .normal(
            NoisePurpose::Features,
            [rows, shape(ModelKind::Vae).features],
        )
        .tanh();
    Examples {
        features,
        ..toy::examples(rows / 2, rows - rows / 2)
    }
}

/// All parameters moved along a direction of unit length, except running averages.
fn moved(parameters: &Parameters, by: f32) -> Parameters {
    let mut moved = parameters.clone();
    for (i, (_, (_, values))) in moved.0.iter_mut().enumerate() {
        let mut along = vec![0.0; values.len()];
        let stream = Stream {
            seed: 4,
            step: i as u64,
            purpose: 1,
        };
        random::normal(stream, &mut along);
        values.iter_mut().zip(along).for_each(|(v, d)| *v += by * d);
    }
    moved
}

/// The sum of the absolute values of all gradients.
fn size(model: &Model, gradients: &Gradients) -> f64 {
    struct Sum<'a>(&'a Gradients, f64);
    impl ModuleVisitor for Sum<'_> {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            if let Some(gradient) = param.val().grad(self.0) {
                self.1 += f64::from(gradient.abs().sum().into_scalar::<f32>());
            }
        }
    }
    let mut sum = Sum(gradients, 0.0);
    model.visit(&mut sum);
    sum.1
}

/// Through convolutions, statistics of batches, transposed convolutions, warp and simulated images:
/// the first step of Adam moves each parameter by the rate, against the sign of its gradient, so
/// the slope of the loss along that step is the rate times the sum of the gradients' absolute
/// values.
#[test]
fn gradients_are_slopes() {
    // Finite differences in f32 through samples of Noise-Normal do not converge, so simulated
    // images are normal here.
    for (method, kind, likelihood) in [
        ("pc", ModelKind::Vae, Family::NoiseNormal),
        ("cpc", ModelKind::Vae, Family::Normal),
        ("labels-only", ModelKind::Classifier, Family::Normal),
    ] {
        let method = Method::named(method, DataKind::Images).expect("listed");
        let objective = &method.recipe(&facts()).expect("valid").stages[0].objective;
        let (mut shape, batch) = (shape(kind), examples(8));
        shape.likelihood = likelihood;
        let noise = Noise::new(5, 1, &toy::device());
        let loss = |model: &Model| {
            let terms = objective
                .terms(model, &batch, &noise, Progress::DONE)
                .expect("its model");
            terms.loss().expect("some weight")
        };
        let model = Model::new(&shape, 1, &toy::compute());
        let before = Parameters::of(&model);
        let gradients = loss(&model).backward();
        let rate = 1e-5;
        let expected = rate * size(&model, &gradients);
        let after =
            Parameters::of(&Adam::default().step(model, gradients, rate, None, &toy::compute()));
        let at = |share: f32| {
            let mut between = before.clone();
            for (name, (_, values)) in &mut between.0 {
                let to = &after.0[name].1;
                values
                    .iter_mut()
                    .zip(to)
                    .for_each(|(v, to)| *v += share * (to - *v));
            }
            let fresh = Model::new(&shape, 1, &toy::compute());
            let model = between.apply(fresh).expect("same shapes");
            f64::from(loss(&model).into_scalar::<f32>())
        };
        let slope = 2.0 * (at(-0.25) - at(0.25));
        let apart = (slope / expected - 1.0).abs();
        assert!(apart < 0.02, "{}: {slope} is not {expected}", method.name());
    }
}

#[test]
fn an_answer_does_not_depend_on_the_rows_beside_it() {
    let shape = shape(ModelKind::Vae);
    let fresh = Model::new(&shape, 1, &toy::compute());
    // Any parameters; averages that differ from their initial values.
    let parameters = moved(&Parameters::of(&fresh), 0.01);
    let model = parameters.apply(fresh).expect("same shapes");
    let inference = Inference::new(&model, &shape, &Device::flex(), 0);
    // More than one pass in inference.
    let rows = 120;
    let values = toy::values(examples(rows).features);
    let all = Matrix::new(rows, shape.features, values).expect("fits");
    let together = inference.predict(&all, 0).expect("has a predictor");
    for row in [0, 49, 50, 119] {
        let alone = Matrix::new(1, shape.features, all.row(row).to_vec()).expect("fits");
        let answer = inference.predict(&alone, 0).expect("has a predictor");
        for (a, b) in answer.values.iter().zip(together.row(row)) {
            assert!((a - b).abs() < 1e-5, "row {row}: {a} and {b}");
        }
    }
}

#[test]
fn only_real_rows_enter_the_running_averages() {
    let shape = shape(ModelKind::Vae);
    let batch = examples(8);
    let after = |method: &str| {
        let mut model = Model::new(&shape, 1, &toy::compute());
        let recipe = Method::named(method, DataKind::Images)
            .expect("listed")
            .recipe(&facts())
            .expect("valid");
        let noise = Noise::new(5, 1, &toy::device());
        recipe.stages[0]
            .objective
            .terms(&model, &batch, &noise, Progress::DONE)
            .expect("its model");
        model.update_running_statistics();
        let mut parameters = Parameters::of(&model);
        parameters.0.retain(|name, _| name.ends_with("running"));
        parameters
    };
    // In `cpc`, simulated images pass through the networks after the real ones; `pc` has none.
    let [cpc, pc] = [after("cpc"), after("pc")];
    assert!(cpc.0.len() > 10);
    assert_eq!(cpc, pc);
    let fresh = Parameters::of(&Model::new(&shape, 1, &toy::compute()));
    assert!(cpc.0.iter().all(|(name, values)| fresh.0[name] != *values));
}

fn config(method: &str) -> RunConfig {
    let settings = [
        "model.depth=10",
        "model.width=1",
        "model.hidden=[20]",
        "model.code=10",
        "train.labelled_per_batch=4",
        "train.unlabelled_per_batch=4",
        "train.steps=6",
        "train.log_every=1",
        "train.evaluate_every=4",
        "data.validation=10",
        "data.labels=10",
    ];
    let settings: Vec<String> = settings.iter().map(|s| s.to_string()).collect();
    RunConfig::defaults(method, DataKind::Images, "glyphs")
        .expect("listed")
        .with_net(NetName::Wrn)
        .overlaid(&parse_settings(&settings).expect("well formed"), "test")
        .expect("known keys")
}

#[test]
fn a_resumed_run_equals_an_uninterrupted_one() {
    let rows = || Source::from(glyphs(40, 3).expect("drawn"));
    for method in ["cpc", "labels-only", "vat", "vae-then-mlp", "m1-m2"] {
        let config = config(method);
        let folders = [(); 2].map(|()| tempfile::tempdir().expect("a temporary folder"));
        let [whole, parts] = folders
            .each_ref()
            .map(|f| RunFolder::at(f.path().join("run")));
        let device = Device::flex();
        run(&config, rows(), Some(&whole), &device, &mut Silent).expect("trains");
        for stop in [3, 1000] {
            run(
                &config,
                rows(),
                Some(&parts),
                &device,
                &mut StopAt::step(stop),
            )
            .expect("trains");
        }
        for file in ["metrics.jsonl", "model/model.safetensors"] {
            let [a, b] = [&whole, &parts].map(|f| std::fs::read(f.path().join(file)).expect(file));
            assert!(a == b, "{method}: {file} differs");
        }
        // Averages are part of the model: its predictions are the same after loading.
        let trained = Trained::open(&whole, &device, 0).expect("saved");
        let features = trained
            .card
            .preprocess
            .apply(rows().rows)
            .expect("fits")
            .features;
        let answers = trained
            .inference
            .predict(&features.part(0..5), 0)
            .expect("predicts");
        assert!(answers.values.iter().all(|value| value.is_finite()));
    }
}

#[test]
fn settings_that_make_no_network_are_refused() {
    let rows = || Source::from(glyphs(40, 3).expect("drawn"));
    let problem = |method: &str, change: &dyn Fn(&mut RunConfig)| {
        let mut config = config(method);
        change(&mut config);
        let folder = tempfile::tempdir().expect("a temporary folder");
        let folder = RunFolder::at(folder.path().join("run"));
        let result = run(&config, rows(), Some(&folder), &Device::flex(), &mut Silent);
        result.expect_err("refused").to_string()
    };
    let message = problem("cpc", &|config| config.model.depth = 27);
    assert!(
        message.contains("model.depth") && message.contains("28"),
        "{message}"
    );
    let message = problem("cpc", &|config| config.model.width = 0);
    assert!(message.contains("model.width"), "{message}");
    let message = problem("m2", &|_| {});
    assert!(message.contains("dense"), "{message}");
}

#[test]
fn a_tensor_of_the_decoder_has_the_canvas_it_was_asked_for() {
    let shape = shape(ModelKind::Vae);
    let Model::Vae(vae) = Model::new(&shape, 1, &toy::compute()) else {
        panic!("asked for a VAE");
    };
    let z = Noise::new(1, 1, &toy::device()).normal(NoisePurpose::Prior, [4, 9]);
    // 5 x 7 pixels with a canvas of 1.5 times the sides: 8 x 11, three maps of three colours.
    assert_eq!(vae.decoder_output(z.clone()).dims(), [4, 8 * 11 * 9]);
    let mean: Tensor<2> = vae.decode(z).mean();
    assert_eq!(mean.dims(), [4, 5 * 7 * 3]);
    let data: TensorData = mean.into_data();
    let values: Vec<f32> = data.try_into_vec().expect("f32");
    assert!(values.iter().all(|value| value.abs() <= 1.0));
}
