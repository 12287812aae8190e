"""Estimates how far training scales: the table of docs/cluster.md.

A step on R ranks takes C / R + U + 2 (1 - 1/R) B / bandwidth + 2 log2(R) latency: the passes
through the networks, the work that every rank repeats (Adam; writing the gradient out and back), and
the exchange of the gradient. The last column overlaps the exchange with the backward pass, which is
two thirds of C / R.
"""

import math

# Measured by `bench/mpi/run time`, in ms: a step with one shard and two threads; U; bytes of the gradient.
MODELS = {
    "MNIST's MLP, 200 rows": (26.2, 3.6 + 4.8, 25.86e6),
    "WRN-28-2, 100 rows": (619.0, 16.0 + 22.0, 116.7e6),
}
# Throughput of a program in bytes per millisecond, and latency in milliseconds.
NETWORKS = {"10 Gbit/s": (1.1e6, 0.03), "InfiniBand, 100 Gbit/s": (11e6, 0.002)}
# The part of U that a step with one shard has, too.
ADAM = {"MNIST's MLP, 200 rows": 3.6, "WRN-28-2, 100 rows": 16.0}

for model, (step, same, size) in MODELS.items():
    passes = step - ADAM[model]
    for network, (bandwidth, latency) in NETWORKS.items():
        for ranks in (2, 4, 8, 16, 32):
            exchange = 2 * (1 - 1 / ranks) * size / bandwidth + 2 * math.log2(ranks) * latency
            own = passes / ranks
            plain = own + same + exchange
            hidden = same + max(own, own / 3 + exchange)
            print(
                f"| {model} | {network} | {ranks} | {exchange:.1f} | {plain:.0f} |"
                f" {step / plain:.1f} | {step / hidden:.1f} |"
            )
