"""A run's model as a PyTorch module, which can be trained further.

    import cpcvae.torch
    model = cpcvae.torch.load("runs/wine-cpc")
    x = model.prepare(rows)              # rows in your units
    mean, sigma = model.encode(x)
    model.probabilities(mean)            # of the network; see `classes`

The module computes in float32 what the library computes with `--precision f32`. It is made from
numbers and text of the run folder: nothing there is executed.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

try:
    import torch
    from torch import nn
except ImportError as error:
    raise ImportError("cpcvae.torch needs PyTorch: `pip install torch`") from error

from ._run_files import RunFiles, read_run
from ._torch_nets import Dense, network
from ._torch_observation import TRANSFORM, feature_mean
from ._torch_rows import Rows

POSTERIOR_FLOOR = 1e-4


class Posterior(NamedTuple):
    """q(z|x), a normal with diagonal covariance."""

    mean: torch.Tensor
    """`[rows, code]`"""
    sigma: torch.Tensor
    """Standard deviations, `[rows, code]`"""

    def sample(self) -> torch.Tensor:
        """A differentiable draw."""
        return self.mean + self.sigma * torch.randn_like(self.sigma)


class Model(nn.Module):
    """Encoder, decoder and predictor of a VAE (`cpc`, `pc`, `supervised-vae`, `vae-then-mlp`, `m1`,
    `vae`), or the predictor of a `labels-only` or `vat` network.

    `encoder`, `decoder` and `predictor` are modules with the run's parameters; None if the model
    has no such part. Tensors have the model's units: `prepare` converts rows to them, `restore` back.
    """

    def __init__(self, run: RunFiles) -> None:
        super().__init__()
        card, shape, tensors = run.card, run.card["shape"], run.tensors
        self.card, self.shape, self.rows = card, shape, Rows(card["preprocess"])
        self.temperature, self.has_ensemble = run.temperature, run.has_ensemble
        self.encoder = self.decoder = self.predictor = None
        self.places = shape["row"]["can_be_missing"] if shape["row"] else None
        if shape["kind"] == "vae":
            self.encoder = network(shape, tensors, "Vae.encoder")
            self.decoder = network(shape, tensors, "Vae.decoder")
            if "Vae.predictor.layers.0.weight" in tensors:
                self.predictor = Dense(tensors, "Vae.predictor", shape["activation"])
        elif shape["kind"] == "classifier":
            self.predictor = network(shape, tensors, "Classifier.network")
        else:
            kind = shape["kind"] if isinstance(shape["kind"], str) else next(iter(shape["kind"]))
            raise NotImplementedError(
                f"a model of the method `{card['method']}` ({kind}) is not supported; VAEs and classifiers "
                "are. `cpcvae export RUN FILE.onnx` writes codes and answers of every method"
            )

    @property
    def classes(self) -> list[str]:
        """Names of the classes; empty if labels are continuous or there are none."""
        return self.shape["target"]["classes"] if _has(self.shape["target"], "classes") else []

    def prepare(self, rows: npt.ArrayLike) -> torch.Tensor:
        """Rows in the user's units, one value a column (see `columns`) or pixels from 0 to 1, as the
        model has them: `[rows, features]`, missing cells as NaN."""
        return torch.from_numpy(self.rows.prepare(rows)).to(self.device)

    def restore(self, features: torch.Tensor) -> npt.NDArray[np.floating]:
        """Features `[rows, features]` in the user's columns and units, as an array."""
        return self.rows.restore(features.detach().cpu().numpy())

    @property
    def columns(self) -> list[dict[str, Any]] | None:
        """The columns of a row: name, kind, levels of a category as its codes count them."""
        return self.rows.columns

    @property
    def device(self) -> torch.device:
        """The device of the parameters."""
        return next(self.parameters()).device

    def seen(self, x: torch.Tensor) -> torch.Tensor:
        """The network's input for prepared rows: missing cells as 0, and indicators of them."""
        if self.places is None:
            return x
        missing = torch.isnan(x)
        return torch.cat([x.masked_fill(missing, 0.0), missing[:, self.places].to(x.dtype)], 1)

    def encode(self, x: torch.Tensor) -> Posterior:
        """q(z|x) for prepared rows."""
        if self.encoder is None:
            raise TypeError(f"a `{self.card['method']}` model has no codes: it can only predict")
        mean, raw = self.encoder(self.seen(x)).chunk(2, dim=1)
        return Posterior(mean, nn.functional.softplus(raw) + POSTERIOR_FLOOR)

    def predict(self, z: torch.Tensor) -> torch.Tensor:
        """The predictor's outputs, `[rows, outputs]`: logits of the classes, or standardised labels. Of
        codes `[rows, code]`, for a classifier of prepared rows."""
        if self.predictor is None:
            raise TypeError("this model predicts nothing: it was trained without labels")
        if self.encoder is None:
            return self.predictor(self.seen(z))
        first = TRANSFORM if self.shape["transform"] else 0
        return self.predictor(z[:, first : self.shape["code"] - self.shape["style"]])

    def probabilities(self, z: torch.Tensor) -> torch.Tensor:
        """Probabilities of the classes from codes, calibrated at the run's temperature unless that is
        of an ensemble's vote (`has_ensemble`), in which the network is one voter."""
        temperature = 1.0 if self.has_ensemble else self.temperature
        return torch.softmax(self.predict(z) / temperature, 1)

    def values(self, z: torch.Tensor) -> torch.Tensor:
        """Continuous labels in the user's units from codes, `[rows, labels]` of float64."""
        scale = self.card["preprocess"]["labels"]
        outputs = self.predict(z)
        outputs = outputs * outputs.new_tensor(scale["scale"]) + outputs.new_tensor(scale["mean"])
        offsets = self.card["preprocess"].get("label_offsets") or [0.0] * outputs.shape[1]
        return outputs.double() + torch.tensor(offsets, dtype=torch.float64, device=outputs.device)

    def decode(self, z: torch.Tensor) -> torch.Tensor:
        """The mean of p(x|z) in the model's units, `[rows, features]`."""
        if self.decoder is None:
            raise TypeError(f"a `{self.card['method']}` model cannot decode: it can only predict")
        first = TRANSFORM if self.shape["transform"] else 0
        return feature_mean(self.shape, self.decoder(z[:, first:]), z)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The predictor's outputs for prepared rows, at the mean of the code."""
        return self.predict(x if self.encoder is None else self.encode(x).mean)


def load(run: str | os.PathLike[str], device: str | torch.device = "cpu") -> Model:
    """The model of a run folder, in evaluation mode (`.train()` to train it further)."""
    return Model(read_run(run)).to(device).eval()


def _has(target: Any, name: str) -> bool:
    return isinstance(target, dict) and name in target
