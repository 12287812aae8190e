"""PyTorch's side of the benchmark. Variants: `eager` or `compile` (of the loss and its gradient) or
`compile-step` (of the loss, its gradient and the update), each with `-f32` or `-bf16` (autocast).

In the loop there is nothing but the step: batches lie ready as tensors, gradients are dropped and
not zeroed, Adam is the fused one, and no value is read before the round is over."""

import os
from contextlib import nullcontext

from protocol import fastest_chunk, peak_bytes, serve, setup_and_variant, timed, timed_steps

SETUP, VARIANT = setup_and_variant()
# Before torch is loaded: OpenMP reads it once.
os.environ["OMP_NUM_THREADS"] = str(SETUP.threads)

import torch  # noqa: E402

import data  # noqa: E402
from settings import BETAS, EPSILON, LEARNING_RATE  # noqa: E402
from torch_model import build  # noqa: E402

BATCHES_ON_HAND = 16


class TorchWorker:
    def __init__(self):
        torch.set_num_threads(SETUP.threads)
        torch.set_num_interop_threads(1)
        self.compiles, self.precision = VARIANT.rsplit("-", 1)
        self.model = build(SETUP)
        # A compiled update is written out by the compiler; it has its own way of fusing.
        fused = self.compiles != "compile-step"
        self.adam = torch.optim.Adam(
            self.model.parameters(), LEARNING_RATE, BETAS, EPSILON, fused=fused
        )
        self.features = torch.from_numpy(data.features(SETUP))
        self.chosen = [
            (torch.from_numpy(rows), torch.from_numpy(classes))
            for rows, classes in data.batch_rows(SETUP, BATCHES_ON_HAND)
        ]
        self.batches: list[tuple[torch.Tensor, torch.Tensor]] = []
        self.loss = self.model.loss
        if self.compiles in ("compile", "compile-step"):
            self.loss = torch.compile(self.model.loss, dynamic=False)
        self.update = self.adam.step
        if self.compiles == "compile-step":
            self.update = torch.compile(self.adam.step, dynamic=False)
        self.taken = 0
        self.chunk = 0  # rows at once in inference
        self.asked = None  # what is compiled for it

    def autocast(self):
        if self.precision == "bf16":
            return torch.autocast("cpu", torch.bfloat16)
        return nullcontext()

    def step(self) -> torch.Tensor:
        x, y = self.batches[self.taken % BATCHES_ON_HAND]
        self.taken += 1
        with self.autocast():
            loss = self.loss(x, y)
        loss.backward()
        self.update()
        self.adam.zero_grad(set_to_none=True)
        return loss.detach()

    def steps(self, lead: int, count: int) -> dict:
        if not self.batches:
            self.batches = [(self.features[rows], y) for rows, y in self.chosen]
        return timed_steps(self.step, lead, count)

    def gathered_steps(self, count: int) -> dict:
        """Steps that take their rows from the whole data set, for the measure of memory: no more
        batches on hand than one."""
        for _ in range(count):
            rows, y = self.chosen[self.taken % BATCHES_ON_HAND]
            self.batches = [(self.features[rows], y)] * BATCHES_ON_HAND
            self.step()
        return {}

    def predict(self, rows: int, repeats: int) -> dict:
        return self.infer(self.model.predict, rows, repeats)

    def encode(self, rows: int, repeats: int) -> dict:
        return self.infer(self.model.encode, rows, repeats)

    def infer(self, ask, rows: int, repeats: int) -> dict:
        """The results of all chunks lie in memory at the end, as with ours."""
        self.model.eval()
        if self.compiles != "eager":
            self.asked = self.asked or torch.compile(ask, dynamic=False)
            ask = self.asked
        x = self.features[:rows]

        def all_chunks(chunk: int) -> list:
            with torch.inference_mode(), self.autocast():
                return [ask(piece) for piece in x.split(chunk)]

        if self.chunk == 0:  # the first request is the warm-up: it finds the best size
            self.chunk = fastest_chunk(all_chunks, rows)
        return {"seconds": timed(lambda: all_chunks(self.chunk), repeats), "chunk": self.chunk}

    def parameters(self) -> dict:
        return {"count": sum(p.numel() for p in self.model.parameters())}

    def memory(self) -> dict:
        return {"peak_bytes": peak_bytes()}

    def product(self) -> dict:
        """GFLOP/s of a product of two 2000 x 2000 matrices, best of ten."""
        a, b = torch.randn(2000, 2000), torch.randn(2000, 2000)
        with torch.inference_mode():
            return {"gflops": 16.0 / min(timed(lambda: a @ b, 10))}


if __name__ == "__main__":
    serve(TorchWorker())
