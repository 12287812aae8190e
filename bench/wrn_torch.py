"""PyTorch's side of `bench/wrn`: WRN-28-2 forward and backward, and a whole CPC step with it.

The set-up is a JSON object in the first argument, as for our side (`examples/bench-wrn.rs`), with
`variant`: `f32` or `bf16` (autocast), `-last` for channels_last, `-compile` for torch.compile."""

import json
import os
import sys
import time
from contextlib import nullcontext

SETUP = json.loads(sys.argv[1])
os.environ["OMP_NUM_THREADS"] = str(SETUP["threads"])

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from torch import Tensor, nn  # noqa: E402

import settings as s  # noqa: E402

# The shared formulas of `torch_model.py`, for images of 32 x 32 pixels.
s.SIDE, s.CANVAS, s.PIXELS = 32, 48, 32 * 32

import torch_model  # noqa: E402

STEM, WIDTHS, BLOCKS, DENSE, CODE, CLASSES = 16, (32, 64, 128), 4, 1000, 200, 10
LEAK, DENSE_LEAK = 0.1, 0.01


def layout(parts: set[str]):
    return torch.channels_last if "last" in parts else torch.contiguous_format


class Block(nn.Module):
    """`x + conv(act(conv(act(x))))`, plain or transposed."""

    def __init__(self, inputs: int, outputs: int, stride: int, up: bool):
        super().__init__()

        def conv(inputs: int, outputs: int, kernel: int, stride: int) -> nn.Module:
            padding = kernel // 2
            if up:
                return nn.ConvTranspose2d(
                    inputs, outputs, kernel, stride, padding, stride - 1, bias=False
                )
            return nn.Conv2d(inputs, outputs, kernel, stride, padding, bias=False)

        self.norm1, self.conv1 = nn.BatchNorm2d(inputs), conv(inputs, outputs, 3, stride)
        self.norm2, self.conv2 = nn.BatchNorm2d(outputs), conv(outputs, outputs, 3, 1)
        changes = inputs != outputs or stride > 1
        self.shortcut = conv(inputs, outputs, 1, stride) if changes else None

    def forward(self, x: Tensor) -> Tensor:
        active = F.leaky_relu(self.norm1(x), LEAK)
        skip = x if self.shortcut is None else self.shortcut(active)
        return self.conv2(F.leaky_relu(self.norm2(self.conv1(active)), LEAK)) + skip


def plans() -> list[tuple[int, int, int]]:
    """Inputs, outputs and stride of each block."""
    found, inputs = [], STEM
    for group, outputs in enumerate(WIDTHS):
        for block in range(BLOCKS):
            found.append((inputs, outputs, 2 if group > 0 and block == 0 else 1))
            inputs = outputs
    return found


def dense(sizes: list[int]) -> nn.Sequential:
    parts: list[nn.Module] = []
    for inputs, outputs in zip(sizes, sizes[1:]):
        parts += [nn.Linear(inputs, outputs), nn.LeakyReLU(DENSE_LEAK)]
    return nn.Sequential(*parts[:-1])


class Encoder(nn.Module):
    """`[N, 1024]` to `[N, 2 C]`."""

    def __init__(self, memory_format):
        super().__init__()
        self.stem = nn.Conv2d(1, STEM, 3, 1, 1, bias=False)
        self.blocks = nn.Sequential(*[Block(*plan, up=False) for plan in plans()])
        self.norm = nn.BatchNorm2d(WIDTHS[-1])
        self.dense = dense([WIDTHS[-1] * 64, DENSE, DENSE, DENSE, 2 * CODE])
        self.memory_format = memory_format

    def forward(self, x: Tensor) -> Tensor:
        pixels = x.view(-1, 1, 32, 32).contiguous(memory_format=self.memory_format)
        h = F.leaky_relu(self.norm(self.blocks(self.stem(pixels))), LEAK)
        return self.dense(h.permute(0, 2, 3, 1).flatten(1))


class Decoder(nn.Module):
    """`[N, content]` to the three maps of 48 x 48, `[N, 3 * 48 * 48]`."""

    def __init__(self, memory_format):
        super().__init__()
        side = s.CANVAS // 4
        self.shape = (WIDTHS[-1], side, side)
        sizes = [CODE - s.TRANSFORM, DENSE, DENSE, DENSE, WIDTHS[-1] * side * side]
        self.dense = dense(sizes)
        mirrored = [(outputs, inputs, stride) for inputs, outputs, stride in reversed(plans())]
        self.blocks = nn.Sequential(*[Block(*plan, up=True) for plan in mirrored])
        self.norm = nn.BatchNorm2d(STEM)
        self.last = nn.ConvTranspose2d(STEM, 3, 3, 1, 1)
        self.memory_format = memory_format

    def forward(self, z: Tensor) -> Tensor:
        h = self.dense(z).view(-1, *self.shape).contiguous(memory_format=self.memory_format)
        return self.last(F.leaky_relu(self.norm(self.blocks(h)), LEAK)).flatten(1)


class Cpc(torch_model.Vae):
    """The shared objective with these networks."""

    def __init__(self, memory_format):
        nn.Module.__init__(self)
        self.method = "cpc"
        self.encoder, self.decoder = Encoder(memory_format), Decoder(memory_format)
        self.predictor = nn.Sequential(torch_model.linear(CODE - s.TRANSFORM, CLASSES))


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(SETUP["threads"])
    parts = set(SETUP["variant"].split("-"))
    memory_format = layout(parts)
    rows = SETUP["batch"]
    x = torch.randn(rows, s.PIXELS)
    if SETUP["what"] == "cpc":
        model = Cpc(memory_format)
        x, y = x.tanh(), torch.arange(rows // 2) % CLASSES
        adam = torch.optim.Adam(model.parameters(), 3e-4, fused=True)

        def loss() -> Tensor:
            return model.loss(x, y)
    else:
        model, adam = Encoder(memory_format), None

        def loss() -> Tensor:
            return model(x).float().square().mean()

    model.to(memory_format=memory_format)
    run = torch.compile(loss, dynamic=False) if "compile" in parts else loss
    seconds = []
    for repetition in range(SETUP["count"] + 2):
        begin = time.perf_counter()
        context = torch.autocast("cpu", torch.bfloat16) if "bf16" in parts else nullcontext()
        with context:
            value = run()
        value.backward()
        if adam:
            adam.step()
        model.zero_grad(set_to_none=True)
        if repetition >= 2:
            seconds.append(time.perf_counter() - begin)
    parameters = sum(p.numel() for p in model.parameters())
    print(json.dumps({"seconds": seconds, "loss": value.item(), "parameters": parameters}))


main()
