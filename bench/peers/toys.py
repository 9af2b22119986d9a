"""Two toys as torch functions, for sbi_bench.py: both sides simulate by them."""
import torch

GRID = torch.linspace(0.1, 0.99999, 1000, dtype=torch.float64)


class GAndK:
    """Quantile function A + B (1 + 0.8 tanh(g z / 2)) (1 + z^2)^k z of a normal number z (Rayner and MacGillivray,
    Statistics and Computing 12 (2002) 57)."""
    name, events = "g-and-k", 1000
    names = ["A", "B", "g", "k"]
    low, high, truth = [0.0] * 4, [10.0] * 4, [3.0, 1.0, 2.0, 0.5]

    @staticmethod
    def stage(theta, noise):
        a, b, g, k = (theta[:, i:i + 1] for i in range(4))
        z = noise.normal()
        return a + b * (1 + 0.8 * torch.tanh(g * z / 2)) * (1 + z * z) ** k * z

    @staticmethod
    def simulate(theta, events):
        class Noise:
            normal = staticmethod(lambda: torch.randn(len(theta), events))
        return GAndK.stage(theta, Noise).unsqueeze(2), None


class Proxy1d:
    """The closure test of the SAGIPS paper (docs/physics/proxy1d.md): the workload proxy1d."""
    name, events = "proxy1d", 10000
    names = ["N_u", "a_u", "b_u", "N_d", "a_d", "b_d"]
    low, high = [0.0, -1.0, 0.0, 0.0, -1.0, 0.0], [3.0, 1.0, 5.0, 3.0, 1.0, 5.0]
    truth = [2.1875, -0.5, 3.0, 1.09375, -0.5, 4.0]

    @staticmethod
    def simulate(theta, events):
        """Events [samples, events, 2] and norms [samples, 2], in pieces that memory holds."""
        if len(theta) > 100:
            pieces = [Proxy1d.simulate(piece, events) for piece in theta.split(100)]
            return [torch.cat(pair) for pair in zip(*pieces)]
        quarks = theta.double().reshape(-1, 2, 3, 1)
        u, d = (quarks[:, i, 0] * GRID ** quarks[:, i, 1] * (1 - GRID) ** quarks[:, i, 2] for i in range(2))
        densities = torch.stack([4 * u + d, 4 * d + u], 1)
        step = GRID[1] - GRID[0]
        norms = densities[..., :-1].sum(2) * step
        tail = densities.flip(2).cumsum(2)
        tail = tail / tail[..., -1:]
        uniform = 0.9999 * torch.rand(len(theta), 2, events, dtype=torch.float64)
        upper = torch.searchsorted(tail, uniform).clamp(1, 999)
        below, above = tail.gather(2, upper - 1), tail.gather(2, upper)
        x = GRID[-1] - (upper - 1 + (uniform - below) / (above - below).clamp_min(1e-30)) * step
        return x.transpose(1, 2).float(), norms.float()


TOYS = {toy.name: toy for toy in (GAndK, Proxy1d)}
