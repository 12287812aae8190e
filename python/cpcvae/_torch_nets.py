"""The networks of a run as PyTorch modules with its parameters."""

import torch
import torch.nn.functional as F
from torch import nn

ACTIVATIONS = {
    "softplus": nn.Softplus,
    "leaky-relu": lambda: nn.LeakyReLU(0.01),
    "elu": nn.ELU,
    "relu": nn.ReLU,
}
# Slope below zero in wide residual networks, and the weight of a new batch in running averages.
LEAK = 0.1
NEW_BATCH = 0.05


def network(shape, tensors, name):
    """The encoder or decoder of that name."""
    if shape["net"] == "mlp":
        return Dense(tensors, name, shape["activation"])
    if f"{name}.stem.weight" in tensors:
        return WideResNet(tensors, name, shape)
    return WideResNetDecoder(tensors, name, shape)


class Dense(nn.Module):
    """Hidden layers with an activation, optionally normalised before it, and a last layer without."""

    def __init__(self, tensors, name, activation):
        super().__init__()
        self.layers, self.norms = nn.ModuleList(), nn.ModuleList()
        while f"{name}.layers.{len(self.layers)}.weight" in tensors:
            layer = f"{name}.layers.{len(self.layers)}"
            self.layers.append(_linear(tensors, layer))
        while f"{name}.norms.{len(self.norms)}.scale" in tensors:
            self.norms.append(_norm(nn.BatchNorm1d, tensors, f"{name}.norms.{len(self.norms)}"))
        self.activation = ACTIVATIONS[activation]()

    def forward(self, x):
        """`x [rows, inputs]` to `[rows, outputs]`."""
        for place, layer in enumerate(self.layers[:-1]):
            x = layer(x)
            if self.norms:
                x = self.norms[place](x)
            x = self.activation(x)
        return self.layers[-1](x)


class WideResNet(nn.Module):
    """From images to numbers: a convolution, residual blocks, dense layers."""

    def __init__(self, tensors, name, shape):
        super().__init__()
        self.image = shape["image"]
        self.stem = _conv(tensors, f"{name}.stem", 1)
        self.blocks = nn.ModuleList(
            Block(tensors, f"{name}.blocks.{place}", stride) for place, stride in enumerate(_strides(shape))
        )
        self.norm = _norm(nn.BatchNorm2d, tensors, f"{name}.norm")
        self.dense = Dense(tensors, f"{name}.dense", shape["activation"])

    def forward(self, x):
        """`x [rows, channels * pixels]` to `[rows, outputs]`."""
        height, width, channels = self.image
        h = self.stem(x.reshape(-1, channels, height, width))
        for block in self.blocks:
            h = block(h)
        h = F.leaky_relu(self.norm(h), LEAK)
        # Dense layers take pixels with channels last.
        return self.dense(h.permute(0, 2, 3, 1).flatten(1))


class WideResNetDecoder(nn.Module):
    """The same in reverse order, each convolution transposed. The output image is the
    canvas, with a channel for each map."""

    def __init__(self, tensors, name, shape):
        super().__init__()
        strides = _strides(shape)
        sizes = [canvas(shape)]
        for stride in strides:
            sizes.append([-(-side // stride) for side in sizes[-1]])
        self.sizes = sizes[-2::-1]
        self.meeting = sizes[-1]
        self.dense = Dense(tensors, f"{name}.dense", shape["activation"])
        self.blocks = nn.ModuleList(
            Block(tensors, f"{name}.blocks.{place}", stride, up=True)
            for place, stride in enumerate(reversed(strides))
        )
        self.norm = _norm(nn.BatchNorm2d, tensors, f"{name}.norm")
        self.last = _conv(tensors, f"{name}.last", 1, up=True)
        self.bias = nn.Parameter(torch.from_numpy(tensors[f"{name}.bias"]))

    def forward(self, z):
        """`z [rows, code]` to `[rows, maps * pixels]`."""
        height, width = self.meeting
        h = self.dense(z).reshape(len(z), height, width, -1).permute(0, 3, 1, 2)
        for block, size in zip(self.blocks, self.sizes):
            h = block(h, size)
        h = self.last(F.leaky_relu(self.norm(h), LEAK))
        return (h + self.bias[:, None, None]).flatten(1)


class Block(nn.Module):
    """`x + conv(act(conv(act(x))))`; where sizes change, the skip connection is a 1x1 convolution."""

    def __init__(self, tensors, name, stride, up=False):
        super().__init__()
        self.up = up
        self.first_norm = _norm(nn.BatchNorm2d, tensors, f"{name}.first_norm")
        self.first = _conv(tensors, f"{name}.first", stride, up)
        self.second_norm = _norm(nn.BatchNorm2d, tensors, f"{name}.second_norm")
        self.second = _conv(tensors, f"{name}.second", 1, up)
        has_shortcut = f"{name}.shortcut.weight" in tensors
        self.shortcut = _conv(tensors, f"{name}.shortcut", stride, up) if has_shortcut else None

    def forward(self, x, size=None):
        """Images from `x [rows, channels, height, width]`; a transposed block makes images of `size`."""
        more = {"output_size": size} if self.up else {}
        active = F.leaky_relu(self.first_norm(x), LEAK)
        skip = x if self.shortcut is None else self.shortcut(active, **more)
        inner = F.leaky_relu(self.second_norm(self.first(active, **more)), LEAK)
        return self.second(inner, **more) + skip


def canvas(shape):
    """Height and width of the decoder's output."""
    height, width, _ = shape["image"]
    transform = shape["transform"]
    # Rounds halves up, like Rust.
    sides = [side * transform["canvas"] if transform else side for side in (height, width)]
    return [int(side + 0.5) for side in sides]


def _strides(shape):
    blocks = (shape["net"]["wrn"]["depth"] - 4) // 6
    return [2 if group > 0 and block == 0 else 1 for group in range(3) for block in range(blocks)]


def _linear(tensors, name):
    weight = torch.from_numpy(tensors[f"{name}.weight"])
    layer = nn.Linear(*weight.shape)
    layer.weight = nn.Parameter(weight.T.contiguous())
    layer.bias = nn.Parameter(torch.from_numpy(tensors[f"{name}.bias"]))
    return layer


def _norm(kind, tensors, name):
    scale = torch.from_numpy(tensors[f"{name}.scale"])
    norm = kind(len(scale), eps=1e-5, momentum=NEW_BATCH)
    norm.weight = nn.Parameter(scale)
    norm.bias = nn.Parameter(torch.from_numpy(tensors[f"{name}.shift"]))
    mean, variance = torch.from_numpy(tensors[f"{name}.running"])
    norm.running_mean.copy_(mean)
    norm.running_var.copy_(variance)
    return norm


def _conv(tensors, name, stride, up=False):
    # From [kernel, kernel, first, second]: a transposed convolution has its inputs second.
    weight = torch.from_numpy(tensors[f"{name}.weight"]).permute(3, 2, 0, 1).contiguous()
    second, first, kernel, _ = weight.shape
    inputs, outputs = (second, first) if up else (first, second)
    kind = nn.ConvTranspose2d if up else nn.Conv2d
    conv = kind(inputs, outputs, kernel, stride, kernel // 2, bias=False)
    conv.weight = nn.Parameter(weight)
    return conv
