"""Prints the constants of `torch_images.rs`: convolution, transposed convolution, batch normalisation.

    pip install torch && python images.py
"""

import torch
import torch.nn.functional as F


def waves(count, step, *shape):
    """Numbers that Rust makes the same way: sin(step * i), rounded to f32."""
    i = torch.arange(count, dtype=torch.float64)
    return torch.sin(step * i).float().reshape(shape)


def show(name, tensor):
    values = tensor.detach().flatten().tolist()
    print(f"const {name}: [f32; {len(values)}] = [")
    for start in range(0, len(values), 8):
        print("    " + ", ".join(f"{v:.6}" if "." in f"{v:.6}" or "e" in f"{v:.6}" else f"{v:.6}.0" for v in values[start : start + 8]) + ",")
    print("];")


def channels_last(tensor):
    return tensor.permute(0, 2, 3, 1)


def convolution():
    # [rows, height, width, channels] and [kernel, kernel, inputs, outputs], as in the kernels.
    x = waves(2 * 4 * 3 * 2, 0.7, 2, 4, 3, 2).permute(0, 3, 1, 2).requires_grad_()
    w = waves(3 * 3 * 2 * 3, 1.3, 3, 3, 2, 3).permute(3, 2, 0, 1).requires_grad_()
    y = F.conv2d(x, w, stride=2, padding=1)
    gy = waves(y.numel(), 0.9, 2, 2, 2, 3).permute(0, 3, 1, 2)
    y.backward(gy)
    show("CONV", channels_last(y))
    show("CONV_X", channels_last(x.grad))
    show("CONV_W", w.grad.permute(2, 3, 1, 0))


def transposed():
    x = waves(2 * 2 * 2 * 3, 0.9, 2, 2, 2, 3).permute(0, 3, 1, 2)
    w = waves(3 * 3 * 2 * 3, 1.3, 3, 3, 2, 3).permute(3, 2, 0, 1)
    # To 4 x 3: one more row than the stride leaves.
    y = F.conv_transpose2d(x, w, stride=2, padding=1, output_padding=(1, 0))
    show("TRANSPOSED", channels_last(y))


def normalisation():
    x = waves(2 * 3 * 2 * 2, 0.7, 2, 3, 2, 2).permute(0, 3, 1, 2).requires_grad_()
    scale = torch.tensor([1.5, -0.5], requires_grad=True)
    shift = torch.tensor([0.25, 0.125], requires_grad=True)
    y = F.leaky_relu(F.batch_norm(x, None, None, scale, shift, training=True, eps=1e-5), 0.1)
    gy = waves(y.numel(), 0.9, 2, 3, 2, 2).permute(0, 3, 1, 2)
    y.backward(gy)
    show("NORM", channels_last(y))
    show("NORM_X", channels_last(x.grad))
    show("NORM_SCALE", scale.grad)
    show("NORM_SHIFT", shift.grad)


convolution()
transposed()
normalisation()
