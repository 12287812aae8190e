"""JAX's side of the benchmark: one compiled function is the whole step (loss, gradient, Adam), its
parameters and moments are updated in place (donated), batches lie ready on the device.

XLA has no setting for its number of threads; it takes as many as the process has processors, which
the orchestrator sets for every worker."""

import os
from functools import partial

from protocol import fastest_chunk, peak_bytes, serve, setup_and_variant, timed, timed_steps

SETUP, VARIANT = setup_and_variant()
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=" + str(SETUP.threads > 1).lower()

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

import data  # noqa: E402
import jax_model  # noqa: E402
from settings import BETAS, EPSILON, LEARNING_RATE  # noqa: E402

# Much faster than the default on a CPU.
jax.config.update("jax_default_prng_impl", "unsafe_rbg")

BATCHES_ON_HAND = 16
PREDICT, ENCODE = jax.jit(jax_model.predict), jax.jit(jax_model.encode)


def adam(parameter, gradient, first, second, correction1, correction2):
    """One parameter's update, as PyTorch computes it."""
    first = BETAS[0] * first + (1.0 - BETAS[0]) * gradient
    second = BETAS[1] * second + (1.0 - BETAS[1]) * gradient * gradient
    root = jnp.sqrt(second) / jnp.sqrt(correction2) + EPSILON
    return parameter - LEARNING_RATE / correction1 * first / root, first, second


@partial(jax.jit, donate_argnums=0)
def train_step(state, x, y):
    parameters, first, second, key, count = state
    key, own = jax.random.split(key)
    loss_of = jax_model.label_vae_loss if SETUP.method == "m2" else jax_model.vae_loss
    loss, gradients = jax.value_and_grad(lambda p: loss_of(SETUP, p, x, y, own))(parameters)
    count = count + 1.0
    corrections = (1.0 - BETAS[0] ** count, 1.0 - BETAS[1] ** count)
    leaves, shape = jax.tree.flatten(parameters)
    moved = [
        adam(*each, *corrections)
        for each in zip(leaves, *(jax.tree.leaves(tree) for tree in (gradients, first, second)))
    ]
    parameters, first, second = (shape.unflatten(list(part)) for part in zip(*moved))
    return (parameters, first, second, key, count), loss


class JaxWorker:
    def __init__(self):
        parameters = jax_model.parameters(SETUP)
        zeros = jax.tree.map(jnp.zeros_like, parameters)
        self.count = sum(leaf.size for leaf in jax.tree.leaves(parameters))
        self.state = (parameters, zeros, jax.tree.map(jnp.copy, zeros), jax.random.key(1), jnp.float32(0))
        self.features = data.features(SETUP)
        self.batches = [
            (jnp.asarray(self.features[rows]), jnp.asarray(classes))
            for rows, classes in data.batch_rows(SETUP, BATCHES_ON_HAND)
        ]
        self.taken = 0
        self.chunk = 0  # rows at once in inference
        self.pieces: dict[int, list[jax.Array]] = {}

    def step(self):
        x, y = self.batches[self.taken % BATCHES_ON_HAND]
        self.taken += 1
        self.state, loss = train_step(self.state, x, y)
        loss.block_until_ready()  # JAX returns at once; a step is over when it is done
        return loss

    def steps(self, lead: int, count: int) -> dict:
        return timed_steps(self.step, lead, count)

    def predict(self, rows: int, repeats: int) -> dict:
        return self.infer(PREDICT, rows, repeats)

    def encode(self, rows: int, repeats: int) -> dict:
        return self.infer(ENCODE, rows, repeats)

    def infer(self, ask, rows: int, repeats: int) -> dict:
        """The results of all chunks lie in memory at the end, as with ours."""

        def all_chunks(chunk: int) -> None:
            if chunk not in self.pieces:  # on the device before the measured calls
                starts = range(0, rows, chunk)
                self.pieces = {chunk: [jnp.asarray(self.features[i : i + chunk]) for i in starts]}
            jax.block_until_ready([ask(self.state[0], piece) for piece in self.pieces[chunk]])

        if self.chunk == 0:  # the first request is the warm-up: it finds the best size
            self.chunk = fastest_chunk(all_chunks, rows)
        return {"seconds": timed(lambda: all_chunks(self.chunk), repeats), "chunk": self.chunk}

    def parameters(self) -> dict:
        return {"count": self.count}

    def memory(self) -> dict:
        return {"peak_bytes": peak_bytes()}


if __name__ == "__main__":
    serve(JaxWorker())
