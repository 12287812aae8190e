"""Values for tests/torch_steps.rs: layers, latent code and Adam in PyTorch.

    pip install torch && python steps.py
"""
import torch
import torch.nn.functional as F


def pattern(count, factor):
    """Numbers in [-2, 2] that the Rust test can make too."""
    return torch.tensor([(i * factor % 41) / 10 - 2 for i in range(count)], dtype=torch.float32).double()


def show(name, tensor):
    numbers = ", ".join(f"{v:.7g}" if v % 1 else f"{v:.1f}" for v in tensor.flatten().tolist())
    print(f"{name}: [{numbers}]")


ACTIVATIONS = {
    "Identity": lambda v: v,
    "Softplus": F.softplus,
    "LeakyRelu": F.leaky_relu,
    "Elu": F.elu,
    "Relu": F.relu,
}
for name, act in ACTIVATIONS.items():
    x = pattern(6, 17).reshape(2, 3).requires_grad_()
    w = pattern(6, 29).reshape(3, 2).requires_grad_()
    b = pattern(2, 13).requires_grad_()
    y = act(x @ w + b)
    y.backward(pattern(4, 7).reshape(2, 2))
    show(f"{name} y, gx, gw, gb", torch.cat([t.flatten() for t in (y, x.grad, w.grad, b.grad)]))

raw = pattern(12, 17).reshape(2, 6).requires_grad_()
mean, scale = raw.chunk(2, 1)
posterior = torch.distributions.Normal(mean, F.softplus(scale) + 0.125)
z = mean + posterior.scale * pattern(6, 29).reshape(2, 3)
kl = torch.distributions.kl_divergence(posterior, torch.distributions.Normal(0.0, 1.0)).sum(1)
((z * pattern(6, 13).reshape(2, 3)).sum() + (kl * pattern(2, 7)).sum()).backward()
show("code z, kl, g_raw", torch.cat([t.flatten() for t in (z, kl, raw.grad)]))

param = pattern(5, 17).float().requires_grad_()
adam = torch.optim.Adam([param], lr=1e-2, betas=(0.9, 0.999), eps=1e-8)
for step in range(3):
    param.grad = (pattern(5, 29) * (step + 1) - 0.5).float()
    adam.step()
show("adam", param)
