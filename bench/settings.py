"""What every side computes: sizes, weights and the cost of a step."""

from dataclasses import asdict, dataclass

SIDE = 28
PIXELS = SIDE * SIDE
CANVAS = 42  # side of the decoder's canvas, 1.5 times the image's
HIDDEN = 1000
TRANSFORM = 6  # code dimensions of the affine transform; M2 has none
LABELLED_SHARE = 10  # one in so many rows of the data has a label

POSTERIOR_FLOOR = 1e-4
SCALE_FLOOR = 0.01
RHO_FLOOR = 1e-4
SMALLEST_SHARE = 1e-3  # in the aggregate term

# The transform's ranges.
TRANSLATION, ROTATION, SHEAR, SCALE = 0.2, 0.4, 0.2, 1.5

# lambda, and the other weights of the paper's MNIST runs as multiples of it.
PREDICTION = 25.0
CONSISTENCY = 4.25 * PREDICTION
AGGREGATE = 0.1 * PREDICTION
ENTROPY = 0.5 * PREDICTION
PREDICTOR_NORM = 1.0
CLASSIFICATION = 0.1  # alpha of M2

LEARNING_RATE = 3e-4
BETAS = (0.9, 0.999)
EPSILON = 1e-8


@dataclass(frozen=True)
class Setup:
    """One measured thing; every worker gets it as JSON."""

    method: str = "cpc"  # vae, pc, cpc or m2
    threads: int = 2
    batch: int = 200  # rows a step, half of them labelled
    code: int = 50  # code dimensions, those of the transform included
    classes: int = 10
    rows: int = 10_000  # of the data set
    data: str = ""  # file of `rows` or more images of 28 x 28 bytes

    def to_dict(self) -> dict:
        return asdict(self)

    @property
    def labelled(self) -> int:
        """Labelled rows of a step."""
        return self.batch // 2


def our_settings(setup: Setup, precision: str) -> list[str]:
    """The same for ours, as for `cpcvae fit --set`. What is not here is the default for images.
    Evaluation and checkpoints lie beyond the last step."""
    values: dict[str, object] = {
        "model.code": setup.code,
        "model.activation": "softplus",
        "train.precision": precision,
        "train.shift": 0,
        "train.labelled_per_batch": setup.labelled,
        "train.unlabelled_per_batch": setup.batch - setup.labelled,
        "train.learning_rate": LEARNING_RATE,
        "train.schedule": "constant",
        "train.steps": 1_000_000_000,
        "train.evaluate_every": 2_000_000_000,
        "train.checkpoint_every": 2_000_000_000,
    }
    if setup.method in ("pc", "cpc"):
        values["method.prediction_weight"] = PREDICTION
        values["method.predictor_norm"] = PREDICTOR_NORM
    if setup.method == "cpc":
        values["method.consistency_weight"] = CONSISTENCY / PREDICTION
        values["method.aggregate_weight"] = AGGREGATE / PREDICTION
        values["method.entropy_weight"] = ENTROPY / PREDICTION
        values["method.gradient_path"] = "open"
        values["pseudo_labels.source"] = "none"
        for ramp in ("consistency", "aggregate", "entropy"):
            values[f"method.{ramp}_ramp"] = 0.0
    if setup.method == "m2":
        values["method.classification_weight"] = CLASSIFICATION
    return [f"{key}={value}" for key, value in values.items()]


def layers(setup: Setup) -> dict[str, list[tuple[int, int]]]:
    """(inputs, outputs) of the dense layers of each network. The first layers of M2's encoder and
    decoder have a vector for each class beside them."""
    if setup.method == "m2":
        return {
            "classifier": [(PIXELS, HIDDEN), (HIDDEN, HIDDEN), (HIDDEN, setup.classes)],
            "encoder": [(PIXELS, HIDDEN), (HIDDEN, HIDDEN), (HIDDEN, 2 * setup.code)],
            "decoder": [(setup.code, HIDDEN), (HIDDEN, HIDDEN), (HIDDEN, PIXELS)],
        }
    content = setup.code - TRANSFORM
    networks = {
        "encoder": [(PIXELS, HIDDEN), (HIDDEN, HIDDEN), (HIDDEN, 2 * setup.code)],
        "decoder": [(content, HIDDEN), (HIDDEN, HIDDEN), (HIDDEN, 3 * CANVAS * CANVAS)],
    }
    if setup.method != "vae":
        networks["predictor"] = [(content, setup.classes)]
    return networks


def parameter_count(setup: Setup) -> int:
    """Numbers that Adam updates."""
    dense = sum((i + 1) * o for network in layers(setup).values() for i, o in network)
    return dense + (2 * setup.classes * HIDDEN if setup.method == "m2" else 0)


def step_gflop(setup: Setup) -> float:
    """Floating-point operations of the matrix products of one step: two for each weight and row
    forwards, twice that backwards, but for the gradient of the data, which nobody needs."""
    cost = {
        name: [2e-9 * i * o for i, o in network] for name, network in layers(setup).items()
    }
    of_rows = {name: [setup.batch * flop for flop in network] for name, network in cost.items()}
    if setup.method == "m2":
        # The first layer of the encoder sees a row once; all else once for each class.
        spread = setup.labelled + (setup.batch - setup.labelled) * setup.classes
        for name in ("encoder", "decoder"):
            rows = [setup.batch if name == "encoder" else spread, spread, spread]
            of_rows[name] = [r * flop for r, flop in zip(rows, cost[name])]
    total = 3 * sum(sum(network) for network in of_rows.values())
    data_gradients = of_rows["encoder"][0] + of_rows.get("classifier", [0.0])[0]
    if setup.method == "cpc":
        # Encoder and predictor a second time; there the features have a gradient.
        total += 3 * (sum(of_rows["encoder"]) + sum(of_rows["predictor"]))
    return total - data_gradients
