"""Tests of the peers' models: that they compute what ours computes, and all the same.

`python bench/check.py` prints the largest errors as JSON, and fails where one is too large. Our own
density and warp are compared with SciPy and PyTorch by `cargo test`."""

import json
import os

os.environ["JAX_PLATFORMS"] = "cpu"

import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import torch  # noqa: E402

import jax_model  # noqa: E402
import settings as s  # noqa: E402
import torch_model  # noqa: E402


def density_integral_error() -> float:
    """The Noise-Normal's density, integrated over [-1, 1] by the midpoint rule."""
    points = 20_000
    x = ((torch.arange(points) + 0.5) / points * 2.0 - 1.0)[:, None]
    worst = 0.0
    for rho in (1e-4, 0.3, 0.9999):
        for mu in (-0.999, 0.0, 0.7):
            for sigma in (0.01, 0.2, 3.0):
                maps = torch.tensor([rho, mu, sigma**2]).repeat(points, 1)[:, :, None]
                density = torch_model.noise_normal_log_prob(maps, x).double().exp()
                worst = max(worst, abs(density.mean().item() * 2.0 - 1.0))
    return worst


def sample_error() -> float:
    """The distribution function at draws is uniform: the largest gap to a straight line."""
    draws = 40_000
    rho, mu, sigma = 0.6, 0.4, 0.5
    torch.manual_seed(0)
    maps = torch.tensor([rho, mu, sigma**2]).repeat(draws, 1)[:, :, None]
    x = torch_model.noise_normal_sample(maps)[:, 0].double().sort().values
    normal = torch.special.ndtr
    low, high = (normal(torch.tensor((end - mu) / sigma).double()) for end in (-1.0, 1.0))
    exact = rho * (normal((x - mu) / sigma) - low) / (high - low) + (1.0 - rho) * (x + 1.0) / 2.0
    return (exact - (torch.arange(draws) + 0.5) / draws).abs().max().item()


def jax_and_torch_error() -> float:
    """Constraints, warp and log-density of both, on the same random numbers."""
    random = np.random.default_rng(0)
    rows, places = 5, s.CANVAS * s.CANVAS
    raw = random.normal(size=(rows, 3, places)).astype(np.float32)
    z_t = (2.0 * random.normal(size=(rows, s.TRANSFORM))).astype(np.float32)
    x = random.uniform(-1.0, 1.0, (rows, s.PIXELS)).astype(np.float32)
    canvas = torch_model.constrain(torch.from_numpy(raw).flatten(1))
    maps = torch_model.warp(canvas, torch.from_numpy(z_t))
    of_torch = torch_model.noise_normal_log_prob(maps, torch.from_numpy(x)).numpy()
    side_by_side = jnp.asarray(raw.transpose(0, 2, 1).reshape(rows, -1))
    jax_maps = jax_model.warp(jax_model.constrain(side_by_side), jnp.asarray(z_t))
    of_jax = np.asarray(jax_model.noise_normal_log_prob(jax_maps, jnp.asarray(x)))
    error_of_maps = np.abs(maps.numpy() - np.asarray(jax_maps).transpose(0, 2, 1)).max()
    return float(max(error_of_maps, np.abs(of_torch / of_jax - 1.0).max()))


if __name__ == "__main__":
    errors = {
        "density_integral": (density_integral_error(), 2e-3),
        "draws": (sample_error(), 1.36 * 2.0 / 200.0),  # twice the 5 % bound of Kolmogorov
        "jax_and_torch": (jax_and_torch_error(), 1e-3),
    }
    print(json.dumps({name: error for name, (error, _) in errors.items()}))
    for name, (error, limit) in errors.items():
        if not error < limit:
            raise SystemExit(f"{name}: {error} is not below {limit}")
