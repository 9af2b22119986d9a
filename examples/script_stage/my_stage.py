"""Writes my_stage.pt, a stage for SAGIPS. Run it with a Python that has PyTorch: python3 my_stage.py"""
import torch


class MyStage(torch.nn.Module):
    """Times of exponential decays, smeared by a clock of 0.3 us."""

    def __init__(self):
        super().__init__()
        self.noise_dimensions = 2  # uniform random numbers an event that forward gets

    def forward(self, lifetime: torch.Tensor, noise: torch.Tensor) -> torch.Tensor:
        # lifetime: [samples, parameters]; noise: [samples, events, 2]; result: [samples, events, observables]
        clock = 0.3 * torch.special.ndtri(noise[:, :, 1])
        return (clock - lifetime * torch.log(noise[:, :, 0])).unsqueeze(2)


if __name__ == "__main__":
    torch.jit.script(MyStage()).save("my_stage.pt")
