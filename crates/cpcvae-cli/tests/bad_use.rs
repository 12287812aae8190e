//! Bad settings, models and folders: a clear error and a non-zero exit code, nothing overwritten,
//! no panic.

mod sandbox;

use sandbox::{SMALL, Sandbox};

#[test]
fn settings_that_make_no_sense() {
    let sandbox = Sandbox::new();
    let error = |arguments: &[&str]| {
        sandbox.error(&[&["fit", "half-moon", "--out", "run"], &SMALL[..], arguments].concat())
    };
    assert_eq!(
        error(&["--set", "train.learning_rat=1"]),
        "unknown setting `train.learning_rat`; did you mean `train.learning_rate`?"
    );
    assert_eq!(
        error(&["--set", "train.learning_rate"]),
        "`train.learning_rate`: must be key=value, for example `train.learning_rate=1e-3`"
    );
    assert_eq!(
        error(&["--set", "train.learning_rate=fast"]),
        "--set: invalid type: string \"fast\", expected f64 in `train.learning_rate`"
    );
    assert_eq!(
        error(&["--set", "train.learning_rate=-1"]),
        "setting `train.learning_rate`: is -1; it must be larger than 0"
    );
    assert_eq!(
        error(&["--set", "data.half_moon_labels=odd"]),
        "--set: unknown variant `odd`, expected `evenly-spaced` or `random` in \
         `data.half_moon_labels`"
    );
    for (setting, message) in [
        (
            "model.net=resnet",
            "`resnet`, expected `mlp` or `wrn` in `model.net`",
        ),
        (
            "train.schedule=step",
            "`step`, expected one of `constant`, `cosine`, `plateau` in `train.schedule`",
        ),
        (
            "train.precision=f64",
            "`f64`, expected one of `auto`, `bf16`, `f32` in `train.precision`",
        ),
        (
            "constraint.measure=auc",
            "`auc`, expected one of `none`, `loss`, `accuracy` in `constraint.measure`",
        ),
        (
            "constraint.solver=newton",
            "`newton`, expected `dual` or `sequence` in `constraint.solver`",
        ),
    ] {
        let expected = format!("--set: unknown variant {message}");
        assert_eq!(error(&["--set", setting]), expected);
    }
    assert_eq!(
        error(&["--set", "method=m3"]),
        "setting `method.name`: there is no method `m3`; there are: vae, vae-then-mlp, \
         supervised-vae, pc, cpc, m2, m1, m1-m2, adgm, sdgm, blended-m2, labels-only, vat"
    );
    assert_eq!(
        error(&["--target-accuracy", "1.5"]),
        "setting `constraint.target`: is 1.5; an accuracy is at most 1"
    );
    assert_eq!(
        error(&["--method", "m2", "--target-loss", "0.1"]),
        "setting `constraint.measure`: a prediction constraint is for `pc` and `cpc`, not \
         for `m2`"
    );
    assert_eq!(
        error(&["--code", "2", "--set", "model.style=2"]),
        "setting `model.code`: is 2, but transform and style dimensions take 2 of it; it \
         must be larger"
    );
    assert_eq!(
        error(&["--test", "0.2"]),
        "setting `data.test`: `half-moon` has a test set of its own; set it to 0"
    );
    let text = error(&["--labels", "1", "--validation", "0.1"]);
    assert!(text.contains("at least 2 labels"), "{text}");
    sandbox.write("bad.toml", "[train\n");
    let text = error(&["-c", "bad.toml"]);
    assert!(text.starts_with("bad.toml: this is not TOML"), "{text}");
    assert_eq!(
        sandbox.error(&["fit", "glyphs", "--preset", "paper"]),
        "setting `preset`: the paper has settings for half-moon, mnist, svhn, norb and celeba, but none \
         for `glyphs`"
    );
    // The old name of the same flag.
    let text = sandbox.error(&["fit", "glyphs", "--paper"]);
    assert!(text.contains("none for `glyphs`"), "{text}");
    let text = sandbox.error(&[
        "fit",
        "half-moon",
        "--method",
        "pc",
        "--set",
        "pseudo_labels.source=propagation",
    ]);
    assert!(text.contains("setting `pseudo_labels.source`"), "{text}");
    #[cfg(not(feature = "wgpu"))]
    assert_eq!(
        error(&["--device", "wgpu"]),
        "this build of cpcvae has no `wgpu` device; build it with `cargo build --release \
         --features wgpu`"
    );
    assert_eq!(sandbox.files("run"), []);
    // Clap's own errors end with its own code.
    assert_eq!(
        sandbox
            .run(&["fit", "half-moon", "--epochs", "1", "--max-steps", "1"])
            .code,
        2
    );
    assert_eq!(sandbox.run(&["fit", "half-moon", "--method", "m3"]).code, 2);
    assert_eq!(sandbox.run(&["fit"]).code, 2);
}

#[test]
fn rows_that_do_not_fit_the_model() {
    let sandbox = Sandbox::new();
    sandbox.fit(&["half-moon", "--out", "moon"]);
    sandbox.fit(&[
        "glyphs",
        "--set",
        "data.rows=100",
        "--code",
        "8",
        "--out",
        "glyph",
    ]);
    sandbox.write("other.csv", "a,b\n1,2\n");
    assert_eq!(
        sandbox.error(&["predict", "moon", "other.csv"]),
        "other.csv, header: there is no feature column `x1`, `x2`; the columns are: a, b"
    );
    assert_eq!(
        sandbox.error(&["predict", "moon", "glyphs"]),
        "`glyphs` does not fit the model: it has images of 28 x 28 x 1, the model was \
         trained on 2 columns (x1, x2)"
    );
    assert_eq!(
        sandbox.error(&["predict", "glyph", "other.csv"]),
        "other.csv is a table, but the model was trained on images of 28 x 28 pixels; ask it \
         about `glyphs`"
    );
    assert_eq!(
        sandbox.error(&["reconstruct", "moon", "half-moon", "--out", "m.png"]),
        "a grid of images needs a model of images; write a .csv file for a table"
    );
    assert_eq!(
        sandbox.error(&["reconstruct", "moon", "half-moon", "--kind", "aligned"]),
        "this model has no affine transform in its code, so nothing can be aligned or \
         moved; affine transforms are for images"
    );
    assert_eq!(
        sandbox.error(&["sample", "glyph", "--class", "rung"]),
        "the model has no class `rung`; its classes are: bar, plus, ring, ell, tee, vee, \
         triangle, square, zigzag, arrow"
    );
    assert_eq!(
        sandbox.error(&["sample", "glyph", "--threshold", "1.5"]),
        "--threshold is 1.5; a probability is above 0 and at most 1"
    );
    assert_eq!(
        sandbox.error(&[
            "sample",
            "moon",
            "--class",
            "0",
            "--threshold",
            "1",
            "--max-draws",
            "2000"
        ]),
        "class `0` is too rare: 0 of 2000 drawn codes reach a probability of \
         1, but 10 samples are wanted; lower the threshold, ask for fewer samples, or allow more \
         draws\n  hint: --threshold sets the probability, --max-draws how many codes are drawn"
    );
    assert_eq!(
        sandbox.error(&["evaluate", "moon", "other.csv"]),
        "other.csv: which column holds the labels? Name it; rows without a label are left blank in \
         it\n  hint: --label COLUMN names it; --method vae trains without labels"
    );
    sandbox.write("moon.csv", "x1,x2\n1,2\n3,nan\n");
    assert_eq!(
        sandbox.error(&["predict", "moon", "moon.csv"]),
        "`moon` has missing cells (the first in row 2, column `x2`), but all rows that the \
         model was trained on are whole; fill them, or train again with `model.missing_cells`\n  \
         hint: train again with `--set model.missing_cells=true`"
    );
    // Nothing is written instead of a result, and no partial file is left.
    sandbox.write("kept.csv", "mine");
    sandbox.error(&["predict", "moon", "moon.csv", "--out", "kept.csv"]);
    assert_eq!(sandbox.read("kept.csv"), b"mine");
    let error = sandbox.error(&["predict", "moon", "half-moon", "--out", "no/where.csv"]);
    assert!(
        error.starts_with("no/where.csv: cannot be written"),
        "{error}"
    );
}

#[test]
fn models_and_checkpoints_that_are_damaged() {
    let sandbox = Sandbox::new();
    sandbox.fit(&["half-moon", "--out", "run"]);
    let model = "run/model/model.safetensors";
    let checkpoint = "run/checkpoints/last.safetensors";
    let predict = ["predict", "run", "half-moon"];
    let resume = ["fit", "half-moon", "--out", "run", "--resume", "--quiet"];
    for (file, command) in [(model, &predict[..]), (checkpoint, &resume[..])] {
        let whole = sandbox.read(file);
        let mut flipped = whole.clone();
        let last = flipped.len() - 3;
        flipped[last] ^= 0x40;
        let damaged = [
            &whole[..whole.len() / 2],
            &whole[..5],
            &flipped,
            b"",
            b"not a model",
        ];
        for bytes in damaged {
            sandbox.write(file, bytes);
            let before = sandbox.files("run");
            let error = sandbox.error(command);
            assert!(
                error.contains(file) && error.contains("is damaged"),
                "{error}"
            );
            assert_eq!(sandbox.files("run"), before, "nothing is overwritten");
        }
        sandbox.write(file, whole);
        sandbox.ok(command);
    }
    let config = sandbox.read("run/config.toml");
    sandbox.write("run/config.toml", "seed = \"x\"");
    let error = sandbox.error(&resume);
    assert!(error.contains("run/config.toml"), "{error}");
    sandbox.write("run/config.toml", config);
    sandbox.write("run/split.json", "{}}");
    let error = sandbox.error(&resume);
    assert!(error.contains("run/split.json: not a split"), "{error}");
}

#[test]
fn folders_that_cannot_be_written() {
    let sandbox = Sandbox::new();
    sandbox.write("file", "mine");
    for out in ["file", "file/run"] {
        let error = sandbox.error(&[&["fit", "half-moon", "--out", out], &SMALL[..]].concat());
        assert!(error.starts_with(out), "{error}");
    }
    assert_eq!(sandbox.read("file"), b"mine");
}

#[test]
fn a_loss_that_is_not_finite() {
    let sandbox = Sandbox::new();
    let rate = [
        "--set",
        "train.learning_rate=1e5",
        "--set",
        "train.checkpoint_every=1",
    ];
    let error = sandbox.error(&[&["fit", "half-moon", "--out", "run"], &SMALL[..], &rate].concat());
    assert!(
        error.contains("the term `") && error.contains("last good checkpoint"),
        "{error}"
    );
    assert!(!sandbox.path("run/model").exists());
}

/// Several processes of a build without MPI would train the same model into the same folder.
#[cfg(not(feature = "mpi"))]
#[test]
fn a_build_without_mpi_that_mpirun_starts() {
    let sandbox = Sandbox::new();
    for launcher in ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"] {
        let fit = [&["fit", "half-moon", "--out", "run"], &SMALL[..]].concat();
        let mut command = sandbox.command(&fit);
        let answer = sandbox.answer(command.env(launcher, "2").output().expect("starts"));
        assert_eq!(answer.code, 1);
        let says_how = answer.err.contains("cargo build --release --features");
        assert!(
            says_how && answer.err.contains("2 processes"),
            "{}",
            answer.err
        );
        assert!(!sandbox.path("run").exists());
    }
}
