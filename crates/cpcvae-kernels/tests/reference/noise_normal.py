"""Values for tests/noise_normal_values.rs with 60 digits.

    pip install mpmath numpy && python noise_normal.py
"""
import mpmath as mp
import numpy as np

mp.mp.dps = 60
CASES = [  # rho, mean, sigma, x
    (0.9, 0.3, 0.2, 0.5), (0.5, -0.7, 0.05, -0.72), (0.9999, -1.0, 0.01, -1.0),
    (0.0, 0.1, 0.3, 0.4), (1.0, 0.1, 0.3, 0.4), (0.3, 0.0, 1.0, -0.9),
    (0.7, 0.5, 1e3, 0.25), (1.0, -0.9, 1e3, -1.0), (0.9, 0.2, 30.0, 1.0),
    (0.9, 0.2, 1e-3, 0.2011), (0.99, 0.2, 1e-3, 0.9), (1.0, 0.2, 1e-3, 0.9),
    (1.0, -0.99, 2e-3, 1.0), (0.8, 1.5, 0.4, 0.9), (1.0, 1.5, 0.01, 0.9995),
    (1.0, -2.0, 1e-3, -1.0), (0.9, 40.0, 0.5, 0.999), (1.0, 40.0, 0.5, 0.999),
    (0.6, -100.0, 1e3, 0.3), (0.6, 100.0, 10.0, 0.3), (1.0, 3.0, 0.1, -0.5),
    (0.9, 1.0, 0.02, 0.99), (0.25, -1.2, 3.0, 0.0), (1.0, 1e-4, 5.0, -0.3),
]
UNIFORMS = [2.0**-24, 0.001, 0.2, 0.6, 0.9, 0.999]


def exact(number):
    return mp.mpf(float(np.float32(number)))


def cdf(a, b):
    """Phi(b) - Phi(a), from the tail that keeps digits."""
    s = mp.sqrt(2)
    return (mp.erfc(a / s) - mp.erfc(b / s)) / 2 if a + b > 0 else (mp.erfc(-b / s) - mp.erfc(-a / s)) / 2


def density(rho, mean, variance, x):
    s = mp.sqrt(variance)
    return rho * mp.npdf(x, mean, s) / cdf((-1 - mean) / s, (1 - mean) / s) + (1 - rho) / 2


def share(mean, variance, x):
    s = mp.sqrt(variance)
    a = (-1 - mean) / s
    return cdf(a, (x - mean) / s) / cdf(a, (1 - mean) / s)


def distribution(rho, mean, variance, x):
    return rho * share(mean, variance, x) + (1 - rho) * (x + 1) / 2


def slopes(function, params, x):
    result = []
    for i in range(3):
        h = mp.mpf(10) ** -20 * max(abs(params[i]), mp.mpf(10) ** -6)
        moved = [[p + (sign * h if i == j else 0) for j, p in enumerate(params)] for sign in (1, -1)]
        result.append((function(*moved[0], x) - function(*moved[1], x)) / (2 * h))
    return result


def sample(rho, mean, variance, u):
    if u >= rho:
        return 2 * (u - rho) / (1 - rho) - 1
    low, high = mp.mpf(-1), mp.mpf(1)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if share(mean, variance, middle) < u / rho else (low, middle)
    return (low + high) / 2


def show(numbers):
    limit = mp.mpf(float(np.finfo(np.float32).max))  # the kernel's derivatives are finite
    numbers = [float(min(max(n, -limit), limit)) for n in numbers]
    return "[" + ", ".join(np.format_float_scientific(n, precision=8, trim="0") for n in numbers) + "]"


for rho, mean, sigma, x in CASES:
    params = [exact(rho), exact(mean), exact(np.float32(sigma) ** 2)]
    x = exact(x)
    log = mp.log(density(*params, x))
    f = density(*params, x)
    d_log = [slope / f for slope in slopes(density, params, x)]
    # No sample ever lands where the density is this small.
    d_x = [0 if log < -500 else -slope / f for slope in slopes(distribution, params, x)]
    samples = [sample(*params, exact(u)) for u in UNIFORMS]
    print(f"    Case {{ params: {show(params)}, x: {show([x])[1:-1]}, log: {show([log])[1:-1]},")
    print(f"        d_log: {show(d_log)}, d_x: {show(d_x)},")
    print(f"        samples: {show(samples)} }},")
