"""The models and objectives in JAX; `torch_model.py` has the same functions with the same names.
Parameters are a dictionary of networks, each a list of (weight `[inputs, outputs]`, bias)."""

import math

import jax
import jax.numpy as jnp
from jax import Array, lax, random
from jax.nn import log_softmax, softmax, softplus
from jax.scipy.special import erf
from jax.lax import erf_inv

import settings as s

ROOT_2 = math.sqrt(2.0)
CORNERS = ((0, 0), (0, 1), (1, 0), (1, 1))


def parameters(setup: s.Setup) -> dict:
    """Glorot-uniform weights and zero biases, as ours."""
    key = random.key(0)

    def uniform(shape: tuple[int, int], fan: int) -> Array:
        nonlocal key
        key, own = random.split(key)
        limit = math.sqrt(6.0 / fan)
        return random.uniform(own, shape, jnp.float32, -limit, limit)

    networks: dict = {
        name: [(uniform((i, o), i + o), jnp.zeros(o)) for i, o in sizes]
        for name, sizes in s.layers(setup).items()
    }
    if setup.method == "m2":
        for name, inputs in (("encoder", s.PIXELS), ("decoder", setup.code)):
            shape = (setup.classes, s.HIDDEN)
            networks[f"{name}_class"] = uniform(shape, inputs + setup.classes + s.HIDDEN)
    return networks


def mlp(layers: list, x: Array) -> Array:
    """Softplus between the layers."""
    for weight, bias in layers[:-1]:
        x = softplus(x @ weight + bias)
    weight, bias = layers[-1]
    return x @ weight + bias


def sample_code(raw: Array, key: Array) -> tuple[Array, Array, Array]:
    """From `[N, 2 C]`: a draw `[N, C]`, its mean and standard deviation."""
    mean, scale = jnp.split(raw, 2, axis=1)
    sigma = softplus(scale) + s.POSTERIOR_FLOOR
    return mean + sigma * random.normal(key, mean.shape), mean, sigma


def kl(mean: Array, sigma: Array) -> Array:
    """KL(q || N(0, I)), `[N]`."""
    return 0.5 * (mean * mean + sigma * sigma - 1.0).sum(1) - jnp.log(sigma).sum(1)


def places(z_t: Array) -> tuple[Array, Array]:
    """Where each pixel looks on the canvas, in pixels of the canvas: x and y, `[N, 784]`."""
    t = jnp.tanh(z_t)
    dx, dy = 2.0 * s.TRANSLATION * t[:, 0], 2.0 * s.TRANSLATION * t[:, 1]
    rotation, shear = s.ROTATION * t[:, 2], s.SHEAR * t[:, 3]
    canvas = s.CANVAS / s.SIDE
    shrink = jnp.exp(-math.log(s.SCALE) * t[:, 4:6]) / (canvas * jnp.cos(shear)[:, None])
    a = jnp.cos(rotation + shear) * shrink[:, 0]
    b = jnp.sin(rotation + shear) * shrink[:, 0]
    c = -jnp.sin(rotation) * shrink[:, 1]
    d = jnp.cos(rotation) * shrink[:, 1]
    centre = (2.0 * jnp.arange(s.SIDE) + 1.0) / s.SIDE - 1.0
    y, x = (grid.reshape(1, -1) for grid in jnp.meshgrid(centre, centre, indexing="ij"))
    x, y = x - dx[:, None], y - dy[:, None]
    column = a[:, None] * x + b[:, None] * y
    row = c[:, None] * x + d[:, None] * y

    def in_pixels(place: Array) -> Array:
        return jnp.clip(((place + 1.0) * s.CANVAS - 1.0) / 2.0, 0.0, s.CANVAS - 1.0)

    return in_pixels(column), in_pixels(row)


def warp(canvas: Array, z_t: Array) -> Array:
    """`[N, 1764, 3]` to `[N, 784, 3]`: bilinear, the border's value beyond the border. The three maps
    lie side by side, so that a lookup is one slice and its gradient one addition of a slice."""
    x, y = places(z_t)
    left, top = jnp.floor(lax.stop_gradient(x)), jnp.floor(lax.stop_gradient(y))
    along, down = x - left, y - top
    image = 0.0
    for below, right in CORNERS:
        weight = (down if below else 1.0 - down) * (along if right else 1.0 - along)
        row = jnp.minimum(top.astype(jnp.int32) + below, s.CANVAS - 1)
        column = jnp.minimum(left.astype(jnp.int32) + right, s.CANVAS - 1)
        index = row * s.CANVAS + column
        looked_up = jax.vmap(lambda of_row, at: of_row.at[at].get(mode="promise_in_bounds"))(
            canvas, index
        )
        image = image + weight[:, :, None] * looked_up
    return image


def constrain(raw: Array) -> Array:
    """`[N, 3 * 42 * 42]` to rho, mu and sigma squared, `[N, 42 * 42, 3]`. Which of the decoder's
    outputs is which map is only a matter of naming them."""
    rho, mu, scale = jnp.split(raw.reshape(-1, s.CANVAS * s.CANVAS, 3), 3, axis=2)
    rho = jnp.clip(jax.nn.sigmoid(rho), s.RHO_FLOOR, 1.0 - s.RHO_FLOOR)
    variance = jnp.square(softplus(scale) + s.SCALE_FLOOR)
    return jnp.concatenate([rho, jnp.tanh(mu), variance], axis=2)


def noise_normal_log_prob(maps: Array, x: Array) -> Array:
    """log f of `x [N, P]` with `maps [N, P, 3]`, summed over pixels: `[N]`."""
    rho, mu, variance = maps[:, :, 0], maps[:, :, 1], maps[:, :, 2]
    inverse = lax.rsqrt(variance)
    mass = 0.5 * (erf((1.0 - mu) * inverse / ROOT_2) + erf((1.0 + mu) * inverse / ROOT_2))
    bell = jnp.exp(-0.5 * jnp.square((x - mu) * inverse)) * inverse
    bell = bell / (mass * math.sqrt(2.0 * math.pi))
    return jnp.log(rho * bell + 0.5 * (1.0 - rho)).sum(1)


def noise_normal_sample(maps: Array, key: Array) -> Array:
    """A draw `[N, P]` by the inverse of the distribution function; mu and sigma get gradients
    through it."""
    rho, mu, variance = maps[:, :, 0], maps[:, :, 1], maps[:, :, 2]
    uniform = random.uniform(key, rho.shape)
    fixed = lax.stop_gradient(rho)
    is_bell = uniform < fixed
    share = jnp.where(is_bell, uniform / fixed, 0.5)
    scale = ROOT_2 * jnp.sqrt(variance)
    low, high = erf((-1.0 - mu) / scale), erf((1.0 - mu) / scale)
    quantile = erf_inv(jnp.clip(low + share * (high - low), -1.0 + 1e-6, 1.0 - 1e-6))
    bell = jnp.clip(mu + scale * quantile, -1.0, 1.0)
    return jnp.where(is_bell, bell, 2.0 * (uniform - fixed) / (1.0 - fixed) - 1.0)


def cross_entropy(logits: Array, target: Array) -> Array:
    """Against probabilities, summed over rows."""
    return -(target * log_softmax(logits)).sum()


def aggregate(logits: Array) -> Array:
    """Cross-entropy of equal shares against the mean prediction."""
    return -jnp.log(softmax(logits).mean(0) + s.SMALLEST_SHARE).mean()


def vae_loss(setup: s.Setup, p: dict, x: Array, y: Array, key: Array) -> Array:
    """`x [N, 784]`, labelled rows first; `y [L]`, their classes."""
    rows, labelled = x.shape[0], y.shape[0]
    keys = random.split(key, 4)
    z, mean, sigma = sample_code(mlp(p["encoder"], x), keys[0])
    canvas = constrain(mlp(p["decoder"], z[:, s.TRANSFORM :]))
    log_prob = noise_normal_log_prob(warp(canvas, z[:, : s.TRANSFORM]), x)
    loss = (kl(mean, sigma) - log_prob).mean()
    if setup.method == "vae":
        return loss
    one_hot = jax.nn.one_hot(y, setup.classes)
    logits = mlp(p["predictor"], z[:, s.TRANSFORM :])
    loss += s.PREDICTION / rows * cross_entropy(logits[:labelled], one_hot)
    loss += s.PREDICTOR_NORM * jnp.square(p["predictor"][0][0]).sum()
    if setup.method == "pc":
        return loss
    z_t = random.normal(keys[1], (rows, s.TRANSFORM))
    x_bar = noise_normal_sample(warp(canvas, z_t), keys[2])
    z_bar, _, _ = sample_code(mlp(p["encoder"], x_bar), keys[3])
    again = mlp(p["predictor"], z_bar[:, s.TRANSFORM :])
    probabilities = softmax(logits)
    target = jnp.concatenate([one_hot, probabilities[labelled:]])
    entropy = -(probabilities * log_softmax(logits)).sum(1).mean()
    both = aggregate(logits[labelled:]) + aggregate(again[labelled:])
    consistency = s.CONSISTENCY / rows * cross_entropy(again, target)
    return loss + consistency + s.AGGREGATE * both + s.ENTROPY * entropy


def label_vae_loss(setup: s.Setup, p: dict, x: Array, y: Array, key: Array) -> Array:
    """M2, for `x [N, 784]` grey, labelled rows first. Labelled rows and the pairs of an unlabelled
    row and a class go through the networks as one batch of L + U K."""
    rows, labelled, classes = x.shape[0], y.shape[0], setup.classes
    keys = random.split(key)
    x = (random.uniform(keys[0], x.shape) < x).astype(jnp.float32)
    log_q = log_softmax(mlp(p["classifier"], x))
    weight, bias = p["encoder"][0]
    first = x @ weight + bias
    each = first[labelled:, None] + p["encoder_class"]
    known = first[:labelled] + p["encoder_class"][y]
    hidden = jnp.concatenate([known, each.reshape(-1, s.HIDDEN)])
    z, mean, sigma = sample_code(mlp(p["encoder"][1:], softplus(hidden)), keys[1])
    weight, bias = p["decoder"][0]
    of_class = jnp.tile(p["decoder_class"], (rows - labelled, 1))
    of_class = jnp.concatenate([p["decoder_class"][y], of_class])
    logits = mlp(p["decoder"][1:], softplus(z @ weight + bias + of_class))
    target = jnp.concatenate([x[:labelled], jnp.repeat(x[labelled:], classes, axis=0)])
    log_prob = (target * logits - softplus(logits)).sum(1)
    bound = log_prob - kl(mean, sigma) - math.log(classes)
    log_q_each = log_q[labelled:]
    each_bound = bound[labelled:].reshape(-1, classes)
    unlabelled = (jnp.exp(log_q_each) * (each_bound - log_q_each)).sum()
    classification = -jnp.take_along_axis(log_q[:labelled], y[:, None], 1).sum()
    return (s.CLASSIFICATION * classification - bound[:labelled].sum() - unlabelled) / rows


def encode(p: dict, x: Array) -> tuple[Array, Array]:
    """Means and standard deviations of q(z|x)."""
    mean, scale = jnp.split(mlp(p["encoder"], x), 2, axis=1)
    return mean, softplus(scale) + s.POSTERIOR_FLOOR


def predict(p: dict, x: Array) -> Array:
    """Class probabilities `[N, K]` at the code's mean."""
    mean = jnp.split(mlp(p["encoder"], x), 2, axis=1)[0]
    return softmax(mlp(p["predictor"], mean[:, s.TRANSFORM :]))
