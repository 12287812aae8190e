"""The models and objectives in PyTorch. Shapes are those of the defaults: N = 200 rows, L = 100 of
them labelled, K = 10 classes, a code of 50."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

import settings as s

LOG_2PI = math.log(2.0 * math.pi)
ROOT_2 = math.sqrt(2.0)


def linear(inputs: int, outputs: int) -> nn.Linear:
    """Glorot-uniform weights and zero biases, as ours."""
    layer = nn.Linear(inputs, outputs)
    nn.init.xavier_uniform_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer


def mlp(sizes: list[tuple[int, int]]) -> nn.Sequential:
    """Softplus between the layers."""
    parts: list[nn.Module] = []
    for inputs, outputs in sizes:
        parts += [linear(inputs, outputs), nn.Softplus()]
    return nn.Sequential(*parts[:-1])


def sample_code(raw: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """From `[N, 2 C]`: a draw `[N, C]`, its mean and standard deviation."""
    mean, scale = raw.float().chunk(2, 1)
    sigma = F.softplus(scale) + s.POSTERIOR_FLOOR
    return mean + sigma * torch.randn_like(mean), mean, sigma


def kl(mean: Tensor, sigma: Tensor) -> Tensor:
    """KL(q || N(0, I)), `[N]`."""
    return 0.5 * (mean * mean + sigma * sigma - 1.0).sum(1) - sigma.log().sum(1)


def image_to_canvas(z_t: Tensor) -> Tensor:
    """`[N, 6]` to `[N, 2, 3]`, from a place in the image to its place on the canvas."""
    t = z_t.tanh()
    dx, dy = 2.0 * s.TRANSLATION * t[:, 0], 2.0 * s.TRANSLATION * t[:, 1]
    rotation, shear = s.ROTATION * t[:, 2], s.SHEAR * t[:, 3]
    canvas = s.CANVAS / s.SIDE
    shrink = torch.exp(-math.log(s.SCALE) * t[:, 4:6]) / (canvas * shear.cos()[:, None])
    a = (rotation + shear).cos() * shrink[:, 0]
    b = (rotation + shear).sin() * shrink[:, 0]
    c = -rotation.sin() * shrink[:, 1]
    d = rotation.cos() * shrink[:, 1]
    entries = [a, b, -(a * dx + b * dy), c, d, -(c * dx + d * dy)]
    return torch.stack(entries, 1).view(-1, 2, 3)


def warp(canvas: Tensor, z_t: Tensor) -> Tensor:
    """`[N, 3, 42, 42]` to `[N, 3, 784]`: bilinear, the border's value beyond the border."""
    theta = image_to_canvas(z_t)[:, :, :, None, None]
    # By hand: `affine_grid` takes longer, with a small matrix product for each row.
    centre = (2.0 * torch.arange(s.SIDE) + 1.0) / s.SIDE - 1.0
    grid = theta[:, :, 0] * centre + theta[:, :, 1] * centre[:, None] + theta[:, :, 2]
    grid = grid.movedim(1, 3)  # [N, 28, 28, 2]
    image = F.grid_sample(canvas, grid, "bilinear", "border", align_corners=False)
    return image.flatten(2)


def constrain(raw: Tensor) -> Tensor:
    """`[N, 3 * 42 * 42]` to rho, mu and sigma squared, `[N, 3, 42, 42]`."""
    rho, mu, scale = raw.float().view(-1, 3, s.CANVAS, s.CANVAS).unbind(1)
    rho = torch.sigmoid(rho).clamp(s.RHO_FLOOR, 1.0 - s.RHO_FLOOR)
    return torch.stack([rho, mu.tanh(), (F.softplus(scale) + s.SCALE_FLOOR).square()], 1)


def noise_normal_log_prob(maps: Tensor, x: Tensor) -> Tensor:
    """log f of `x [N, P]` with `maps [N, 3, P]`, summed over pixels: `[N]`. In f32, without the care
    for far tails that ours takes: the noise keeps the density above 5e-5."""
    rho, mu, variance = maps.unbind(1)
    inverse = variance.rsqrt()
    mass = 0.5 * (
        torch.erf((1.0 - mu) * inverse / ROOT_2) + torch.erf((1.0 + mu) * inverse / ROOT_2)
    )
    bell = torch.exp(-0.5 * ((x - mu) * inverse).square()) * inverse / (mass * math.sqrt(2 * math.pi))
    return (rho * bell + 0.5 * (1.0 - rho)).log().sum(1)


def noise_normal_sample(maps: Tensor) -> Tensor:
    """A draw `[N, P]` by the inverse of the distribution function; mu and sigma get gradients
    through it."""
    rho, mu, variance = maps.unbind(1)
    uniform = torch.rand_like(rho)
    fixed = rho.detach()
    is_bell = uniform < fixed
    share = torch.where(is_bell, uniform / fixed, 0.5)
    scale = ROOT_2 * variance.sqrt()
    low, high = torch.erf((-1.0 - mu) / scale), torch.erf((1.0 - mu) / scale)
    quantile = torch.erfinv((low + share * (high - low)).clamp(-1.0 + 1e-6, 1.0 - 1e-6))
    bell = (mu + scale * quantile).clamp(-1.0, 1.0)
    return torch.where(is_bell, bell, 2.0 * (uniform - fixed) / (1.0 - fixed) - 1.0)


def aggregate(logits: Tensor) -> Tensor:
    """Cross-entropy of equal shares against the mean prediction."""
    return -(logits.softmax(1).mean(0) + s.SMALLEST_SHARE).log().mean()


class Vae(nn.Module):
    """`vae`, `pc` and `cpc`."""

    def __init__(self, setup: s.Setup):
        super().__init__()
        self.method = setup.method
        networks = {name: mlp(sizes) for name, sizes in s.layers(setup).items()}
        self.encoder, self.decoder = networks["encoder"], networks["decoder"]
        if setup.method != "vae":
            self.predictor = networks["predictor"]

    def loss(self, x: Tensor, y: Tensor) -> Tensor:
        """`x [N, 784]`, labelled rows first; `y [L]`, their classes."""
        rows, labelled = x.shape[0], y.shape[0]
        z, mean, sigma = sample_code(self.encoder(x))
        canvas = constrain(self.decoder(z[:, s.TRANSFORM :]))
        log_prob = noise_normal_log_prob(warp(canvas, z[:, : s.TRANSFORM]), x)
        loss = (kl(mean, sigma) - log_prob).mean()
        if self.method == "vae":
            return loss
        logits = self.predictor(z[:, s.TRANSFORM :]).float()
        prediction = F.cross_entropy(logits[:labelled], y, reduction="sum") / rows
        norm = self.predictor[0].weight.square().sum()
        loss = loss + s.PREDICTION * prediction + s.PREDICTOR_NORM * norm
        if self.method == "pc":
            return loss
        z_t = torch.randn(rows, s.TRANSFORM)
        x_bar = noise_normal_sample(warp(canvas, z_t))
        z_bar, _, _ = sample_code(self.encoder(x_bar))
        again = self.predictor(z_bar[:, s.TRANSFORM :]).float()
        probabilities = logits.softmax(1)
        consistency = F.cross_entropy(again[:labelled], y, reduction="sum") + F.cross_entropy(
            again[labelled:], probabilities[labelled:], reduction="sum"
        )
        entropy = -(probabilities * logits.log_softmax(1)).sum(1).mean()
        both = aggregate(logits[labelled:]) + aggregate(again[labelled:])
        return (
            loss + s.CONSISTENCY / rows * consistency + s.AGGREGATE * both + s.ENTROPY * entropy
        )

    def encode(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Means and standard deviations of q(z|x)."""
        mean, scale = self.encoder(x).float().chunk(2, 1)
        return mean, F.softplus(scale) + s.POSTERIOR_FLOOR

    def predict(self, x: Tensor) -> Tensor:
        """Class probabilities `[N, K]` at the code's mean."""
        mean = self.encoder(x).chunk(2, 1)[0]
        return self.predictor(mean[:, s.TRANSFORM :]).float().softmax(1)


class LabelVae(nn.Module):
    """M2. What does not depend on the class is computed once for a row."""

    def __init__(self, setup: s.Setup):
        super().__init__()
        self.classes = setup.classes
        sizes = s.layers(setup)
        self.classifier = mlp(sizes["classifier"])
        self.encoder_first, self.encoder_rest = linear(*sizes["encoder"][0]), mlp(sizes["encoder"][1:])
        self.decoder_first, self.decoder_rest = linear(*sizes["decoder"][0]), mlp(sizes["decoder"][1:])
        self.encoder_class = nn.Parameter(torch.empty(setup.classes, s.HIDDEN))
        self.decoder_class = nn.Parameter(torch.empty(setup.classes, s.HIDDEN))
        for vectors, inputs in ((self.encoder_class, s.PIXELS), (self.decoder_class, setup.code)):
            limit = math.sqrt(6.0 / (inputs + setup.classes + s.HIDDEN))
            nn.init.uniform_(vectors, -limit, limit)

    def loss(self, x: Tensor, y: Tensor) -> Tensor:
        """`x [N, 784]` grey, labelled rows first; `y [L]`, their classes. Labelled rows and the
        pairs of an unlabelled row and a class go through the networks as one batch of L + U K."""
        rows, labelled, classes = x.shape[0], y.shape[0], self.classes
        x = torch.bernoulli(x)
        log_q = self.classifier(x).float().log_softmax(1)
        first = self.encoder_first(x)
        known = first[:labelled] + self.encoder_class[y]
        each = (first[labelled:, None] + self.encoder_class).flatten(0, 1)
        raw = self.encoder_rest(F.softplus(torch.cat([known, each])))
        z, mean, sigma = sample_code(raw)
        of_class = torch.cat([self.decoder_class[y], self.decoder_class.repeat(rows - labelled, 1)])
        logits = self.decoder_rest(F.softplus(self.decoder_first(z) + of_class)).float()
        target = torch.cat([x[:labelled], x[labelled:].repeat_interleave(classes, 0)])
        # log p(x) = x l - softplus(l); the fused loss is minus that.
        log_prob = -F.binary_cross_entropy_with_logits(logits, target, reduction="none").sum(1)
        bound = log_prob - kl(mean, sigma) - math.log(classes)
        log_q_each = log_q[labelled:]
        each_bound = bound[labelled:].view(-1, classes)
        unlabelled = (log_q_each.exp() * (each_bound - log_q_each)).sum()
        classification = F.nll_loss(log_q[:labelled], y, reduction="sum")
        return (s.CLASSIFICATION * classification - bound[:labelled].sum() - unlabelled) / rows


def build(setup: s.Setup) -> nn.Module:
    """The model of a method, with the same weights for every variant."""
    torch.manual_seed(0)
    return LabelVae(setup) if setup.method == "m2" else Vae(setup)
