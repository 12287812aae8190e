"""`cpcvae.torch.load` against `cpcvae encode`, `predict` and `reconstruct`."""

import shutil

import numpy as np
import pytest

from export_support import (
    RECORDED, SMALL_IMAGES, as_numbers, codes, columns_of, command, mixed_rows, mixed_run, module, moons, pixels,
    probabilities, scratch, table,
)

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
TOLERANCE = 1e-5
VAES = ["cpc", "pc", "supervised-vae", "vae-then-mlp", "m1", "vae"]


@pytest.fixture(autouse=True)
def no_gradients():
    with torch.no_grad():
        yield


def load(run):
    return module("torch").load(run)


def far(a, b):
    """The largest difference, against numbers beyond 1 as a share of them."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    assert a.shape == b.shape, f"{a.shape}, {b.shape}"
    return (np.abs(a - b) / np.maximum(1, np.abs(b))).max()


@pytest.mark.parametrize("method", VAES)
def test_points_give_the_same_codes_and_features(method):
    rows, path = moons()
    run = RECORDED / f"half-moon-{method}"
    model = load(run)
    posterior = model.encode(model.prepare(rows))
    mean, sigma = codes(run, path)
    assert far(posterior.mean, mean) < TOLERANCE and far(posterior.sigma, sigma) < TOLERANCE
    made = command("reconstruct", run, path, "--precision", "f32")
    made = columns_of(made, lambda name: name in ("x1", "x2"))
    assert far(model.restore(model.decode(posterior.mean)), made) < TOLERANCE
    if method == "vae":
        with pytest.raises(TypeError, match="without labels"):
            model.predict(posterior.mean)
    else:
        assert far(model.probabilities(posterior.mean), probabilities(run, path)) < TOLERANCE


@pytest.mark.parametrize("method", ["labels-only", "vat"])
def test_a_classifier_predicts(method):
    rows, path = moons()
    run = RECORDED / f"half-moon-{method}"
    model = load(run)
    assert far(torch.softmax(model(model.prepare(rows)), 1), probabilities(run, path)) < TOLERANCE
    with pytest.raises(TypeError, match="no codes"):
        model.encode(model.prepare(rows))


@pytest.mark.parametrize("name", ["glyphs-cpc", "glyphs-wrn"])
def test_images_and_their_transforms(name):
    images, path = pixels()
    model = load(RECORDED / name)
    posterior = model.encode(model.prepare(images / 255))
    mean, sigma = codes(RECORDED / name, path)
    assert far(posterior.mean, mean) < TOLERANCE and far(posterior.sigma, sigma) < TOLERANCE
    assert far(model.probabilities(posterior.mean), probabilities(RECORDED / name, path)) < TOLERANCE
    out = scratch() / f"{name}.csv"
    command("reconstruct", RECORDED / name, path, "--precision", "f32", "--out", out)
    made = columns_of(out.read_text(), lambda column: column.startswith("pixel"))
    assert model.restore(model.decode(posterior.mean)).shape == (40, 28, 28, 1)
    # From the same codes and in double precision: dozens of convolutions and a transform make 7e-5 of
    # the difference of two codes in their last digits, with PyTorch's own numbers too.
    restored = model.double().restore(model.decode(torch.tensor(mean)))
    assert far(restored.reshape(40, -1), made) < TOLERANCE


@pytest.mark.parametrize("likelihood", ["noise-normal", "bernoulli"])
def test_other_likelihoods_of_pixels(likelihood):
    run = scratch() / likelihood
    command("fit", "glyphs", "--set", f"model.likelihood={likelihood}", "--out", run, *SMALL_IMAGES)
    images, path = pixels()
    model = load(run)
    posterior = model.encode(model.prepare(images / 255))
    assert far(posterior.mean, codes(run, path)[0]) < TOLERANCE
    out = scratch() / f"{likelihood}.csv"
    command("reconstruct", run, path, "--precision", "f32", "--out", out)
    made = columns_of(out.read_text(), lambda column: column.startswith("pixel"))
    assert far(model.restore(model.decode(posterior.mean)).reshape(40, -1), made) < TOLERANCE


@pytest.mark.parametrize("more", [(), ("--set=model.batch_norm=true", "--set=model.activation=softplus")])
def test_a_mixed_table(more):
    run, path = mixed_run(*more)
    model = load(run)
    rows = as_numbers([row[:-1] for row in mixed_rows()], model.columns)
    posterior = model.encode(model.prepare(rows))
    mean, sigma = codes(run, path)
    assert far(posterior.mean, mean) < TOLERANCE and far(posterior.sigma, sigma) < TOLERANCE
    names, made = table(command("reconstruct", run, path, "--precision", "f32"))
    places = [names.index(column["name"]) for column in model.columns]
    made = as_numbers([[row[place] for place in places] for row in made], model.columns)
    restored = model.restore(model.decode(posterior.mean))
    # Levels, flags, counts and dates are written whole; numbers differ in their last digits.
    for column, (ours, theirs) in zip(model.columns, zip(restored.T, made.T)):
        whole = column["kind"] != "number" or column.get("whole") or column.get("time")
        # The command line clamps values to the observed range.
        ours = np.clip(ours, *column["whole"]) if column.get("whole") else ours
        assert np.abs(ours - theirs).max() <= (1.0 if whole else TOLERANCE * np.abs(theirs).max())
        assert not whole or (np.round(ours) == theirs).mean() > 0.98
    # The network's own prediction, one of the ensemble's.
    assert model.has_ensemble and model.classes == ["high", "low", "middle"]
    text = command("predict", run, path, "--precision", "f32", "--explain")
    names, explained = table(text)
    (network,) = [place for place, name in enumerate(names) if name.endswith("cpc")]
    ours = model.probabilities(posterior.mean).argmax(1)
    assert [model.classes[place] for place in ours] == [row[network] for row in explained]


def test_it_can_be_trained_further():
    run, _ = mixed_run()
    model = load(run).train()
    x = model.prepare(as_numbers([row[:-1] for row in mixed_rows()], model.columns))
    with torch.enable_grad():
        z = model.encode(x).sample()
        loss = model.decode(z).square().mean() + model.predict(z).square().mean()
        loss.backward()
    assert all(parameter.grad is not None for parameter in model.encoder.parameters())
    assert all(parameter.grad is not None for parameter in model.predictor.parameters())


def test_what_cannot_be_read_is_said(tmp_path):
    with pytest.raises(NotImplementedError, match="m2.*cpcvae export"):
        load(RECORDED / "half-moon-m2")
    with pytest.raises(FileNotFoundError, match="cpcvae fit"):
        load(tmp_path / "nowhere")
    run = tmp_path / "run"
    shutil.copytree(RECORDED / "half-moon-cpc", run)
    path = run / "model" / "model.safetensors"
    damaged = bytearray(path.read_bytes())
    damaged[-1] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(ValueError, match="damaged"):
        load(run)
    with pytest.raises(ValueError, match="do not fit"):
        load(RECORDED / "half-moon-cpc").prepare([[1.0, 2.0, 3.0]])
