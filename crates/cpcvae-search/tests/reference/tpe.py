"""Reference values of tests/optuna.rs and of sampler/truncated.rs.

    pip install optuna scipy && python tpe.py
"""
import math
import statistics
import warnings

import numpy as np
import optuna
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.samplers import TPESampler
from optuna.trial import TrialState
from scipy.stats import norm

optuna.logging.set_verbosity(optuna.logging.ERROR)
warnings.simplefilter("ignore")

print("log masses:",
      repr(float(np.log(norm.sf(5) - norm.sf(6)))), repr(float(np.log(norm.cdf(30) - norm.cdf(-1)))))

# Wide ranges: of equal values Optuna gives one or the other the wider kernel, as numpy sorts them.
SPACE = {
    "rate": FloatDistribution(1e-4, 1.0, log=True),
    "weight": FloatDistribution(-2.0, 3.0),
    "units": IntDistribution(1, 4000, log=True),
    "layers": IntDistribution(1, 500),
    "kind": CategoricalDistribution(["a", "b", "c"]),
}


def share(trial, place):
    """The same in Rust: multiples of the golden ratio, without their whole part."""
    return ((trial + 1) * (place + 1) * 0.6180339887498949) % 1.0


def made(trial):
    s = [share(trial, place) for place in range(5)]
    return {
        "rate": math.exp(math.log(1e-4) * (1 - s[0])),
        "weight": -2.0 + 5.0 * s[1],
        "units": int(1 + math.floor(3999.9 * s[2])),
        "layers": int(1 + math.floor(499.9 * s[3])),
        "kind": ["a", "b", "c"][int(3 * s[4])],
    }


def value(p):
    return (math.log10(p["rate"]) + 2) ** 2 + (p["weight"] - 1) ** 2 + (p["kind"] == "b") + 0.001 * p["layers"]


def study_of(count):
    study = optuna.create_study()
    for number in range(count):
        params = made(number)
        state = TrialState.PRUNED if number % 5 == 4 else TrialState.COMPLETE
        study.add_trial(optuna.trial.create_trial(
            params=params, distributions=SPACE, value=value(params),
            state=state, intermediate_values={10 + number % 3: value(params)}))
    return study


for count in (12, 40):
    study = study_of(count)
    sampler = TPESampler(seed=0)
    below, above = optuna.samplers._tpe.sampler._split_trials(
        study, study.trials, optuna.samplers._tpe.sampler.default_gamma(count))
    names = list(SPACE)
    good = sampler._build_parzen_estimator(study, SPACE, below, True)
    bad = sampler._build_parzen_estimator(study, SPACE, above, False)
    promises = []
    for number in (100, 101, 102, 103):
        params = made(number)
        point = {name: np.array([SPACE[name].to_internal_repr(params[name])]) for name in names}
        promises.append(float((good.log_pdf(point) - bad.log_pdf(point))[0]))
    print(f"promises of {count}:", promises)
    print(f"importances of {count}:", optuna.importance.get_param_importances(study))


def sphere(x):
    return sum(v * v for v in x)


def rastrigin(x):
    return sum(10 + v * v - 10 * math.cos(2 * math.pi * v) for v in x)


def branin(x):
    a, b = x
    return ((b - 5.1 / (4 * math.pi**2) * a * a + 5 / math.pi * a - 6) ** 2
            + 10 * (1 - 1 / (8 * math.pi)) * math.cos(a) + 10)


FUNCTIONS = {
    "sphere": (sphere, [(-5.0, 5.0)] * 5),
    "rastrigin": (rastrigin, [(-5.12, 5.12)] * 2),
    "branin": (branin, [(-5.0, 10.0), (0.0, 15.0)]),
}
SEEDS, TRIALS = 40, 60
for name, (function, ranges) in FUNCTIONS.items():
    for kind, make in (("tpe", TPESampler), ("random", optuna.samplers.RandomSampler)):
        best = []
        for seed in range(SEEDS):
            study = optuna.create_study(sampler=make(seed=seed))
            study.optimize(lambda t: function(
                [t.suggest_float(f"x{i}", *r) for i, r in enumerate(ranges)]), n_trials=TRIALS)
            best.append(study.best_value)
        quartiles = statistics.quantiles(best, n=4)
        print(name, kind, "quartiles of the best of", TRIALS, [float(f"{q:.4g}") for q in quartiles])
