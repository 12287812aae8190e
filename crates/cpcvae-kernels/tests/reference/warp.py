"""Values for tests/warp.rs: PyTorch's affine_grid and grid_sample on small maps.

    pip install torch && python warp.py
"""
import torch
import torch.nn.functional as F

torch.manual_seed(0)
torch.set_printoptions(precision=8)
CANVAS, IMAGE = (4, 5), (3, 2)
THETAS = [
    [[1, 0, 0], [0, 1, 0]],  # identity
    [[0.6, 0.2, 0.1], [-0.3, 0.7, -0.2]],  # rotation, shear
    [[1.7, -0.4, 0.5], [0.5, 1.6, -0.9]],  # leaves the canvas on all sides
    [[0.3, 0.1, 2.5], [0.1, 0.2, 0.3]],  # all beyond the right edge
]


def pattern(count, factor):
    """Numbers in [-2, 2] that the Rust test can make too."""
    return torch.tensor([(i * factor % 41) / 10 - 2 for i in range(count)], dtype=torch.float32).double()


def show(name, tensor):
    numbers = ", ".join(f"{v:.7g}" for v in tensor.flatten().tolist())
    print(f"const {name}: [f32; {tensor.numel()}] = [{numbers}];")


n = len(THETAS)
raw = (5 * pattern(n * 3 * CANVAS[0] * CANVAS[1], 17)).reshape(n, 3, *CANVAS).requires_grad_()
theta = torch.tensor(THETAS, dtype=torch.float32).double().requires_grad_()
maps = torch.stack(
    [
        torch.sigmoid(raw[:, 0]).clamp(1e-4, 1 - 1e-4),
        torch.tanh(raw[:, 1]),
        (F.softplus(raw[:, 2]) + 0.01) ** 2,
    ],
    1,
)
grid = F.affine_grid(theta, (n, 3, *IMAGE), align_corners=False)
out = F.grid_sample(maps, grid, mode="bilinear", padding_mode="border", align_corners=False)
g_out = pattern(out.numel(), 29).reshape(out.shape)
out.backward(g_out)
show("OUT", out)
show("G_RAW", raw.grad)
show("G_THETA", theta.grad)
