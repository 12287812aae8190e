"""From a decoder's output to the mean of a row's features: constraints, transforms, likelihoods."""

import math

import torch
import torch.nn.functional as F

from ._torch_nets import canvas

TRANSFORM = 6
LOWEST_SHARE = 1e-4


def feature_mean(shape, raw, z):
    """The mean of p(x|z) in the model's units, `[rows, features]`, from the decoder's outputs
    `raw [rows, outputs]` for `z [rows, code]`."""
    if shape["row"] is not None:
        return mixed_mean(shape["row"], raw)
    maps = parameters(shape, raw, z)
    if shape["likelihood"] == "normal":
        return maps[:, 0]
    if shape["likelihood"] == "bernoulli":
        return torch.sigmoid(maps[:, 0])
    return noise_normal_mean(*maps.unbind(1))


def parameters(shape, raw, z):
    """Parameters of the likelihood, `[rows, maps, features]`: mean and variance of a normal, logits
    of a Bernoulli, rho, mu and sigma^2 of the Noise-Normal."""
    floor = shape["scale_floor"]
    constraints = {
        "normal": [lambda m: m, lambda m: (F.softplus(m) + floor) ** 2],
        "bernoulli": [lambda m: m],
        "noise-normal": [
            lambda m: torch.sigmoid(m).clamp(LOWEST_SHARE, 1 - LOWEST_SHARE),
            torch.tanh,
            lambda m: (F.softplus(m) + floor) ** 2,
        ],
    }[shape["likelihood"]]
    height, width, channels = shape["image"] or [1, shape["features"], 1]
    drawn = raw.reshape(len(raw), len(constraints), channels, -1)
    maps = torch.stack([constrain(drawn[:, place]) for place, constrain in enumerate(constraints)], 1)
    if shape["transform"] is not None:
        size = canvas(shape)
        theta = image_to_canvas(z[:, :TRANSFORM], shape["transform"]["ranges"], size[1] / width, size[0] / height)
        planes = maps.reshape(len(raw), -1, *size)
        grid = F.affine_grid(theta, (len(raw), planes.shape[1], height, width), align_corners=False)
        maps = F.grid_sample(planes, grid, padding_mode="border", align_corners=False)
    return maps.reshape(len(raw), len(constraints), -1)


def image_to_canvas(z_t, ranges, canvas_width, canvas_height):
    """The affine maps `[rows, 2, 3]` from a position in the image to its position on the canvas."""
    t = torch.tanh(z_t)
    dx, dy = 2 * ranges["translation"] * t[:, 0], 2 * ranges["translation"] * t[:, 1]
    rotation, shear = ranges["rotation"] * t[:, 2], ranges["shear"] * t[:, 3]
    log_scale = math.log(ranges["scale"])
    shrink_x = torch.exp(-log_scale * t[:, 4]) / (torch.cos(shear) * canvas_width)
    shrink_y = torch.exp(-log_scale * t[:, 5]) / (torch.cos(shear) * canvas_height)
    a = torch.cos(rotation + shear) * shrink_x
    b = torch.sin(rotation + shear) * shrink_x
    c = -torch.sin(rotation) * shrink_y
    d = torch.cos(rotation) * shrink_y
    rows = [a, b, -(a * dx + b * dy), c, d, -(c * dx + d * dy)]
    return torch.stack(rows, 1).reshape(-1, 2, 3)


def noise_normal_mean(rho, mu, variance):
    """rho times the mean of a normal truncated to [-1, 1]; the noise has mean zero."""
    sigma = variance.sqrt()
    left, right = (mu + 1) / sigma, (1 - mu) / sigma
    density = lambda t: torch.exp(-0.5 * t**2) / math.sqrt(2 * math.pi)
    mass = 0.5 * (torch.erf(left / math.sqrt(2)) + torch.erf(right / math.sqrt(2)))
    return rho * (mu + sigma * (density(left) - density(right)) / mass)


def mixed_mean(row, raw):
    """Means of numbers, probabilities of flags and levels, encoded means of counts."""
    numbers, flags, counts = row["numbers"], row["flags"], len(row["counts"])
    parts = list(torch.split(raw, [numbers, numbers, flags, counts, counts, *row["categories"]], 1))
    means, _, logits, log_means, _, *levels = parts
    mean, scale = (raw.new_tensor([count[key] for count in row["counts"]]) for key in ("mean", "scale"))
    counted = torch.log1p(torch.exp((log_means * scale + mean).clamp(-15, 20)))
    encoded = (counted - mean) / scale
    return torch.cat([means, torch.sigmoid(logits), encoded, *(torch.softmax(block, 1) for block in levels)], 1)
