// Writes TorchScript modules into the current folder, as a user's PyTorch would.
#include <torch/script.h>

#include <cstdint>
#include <string>

namespace {

void save(const std::string& file, const std::string& source, std::int64_t noise_dimensions = 0) {
  torch::jit::Module module(file);
  if (noise_dimensions > 0)
    module.register_attribute("noise_dimensions", c10::IntType::get(), noise_dimensions);
  module.define(source);
  module.save(file + ".pt");
}

}  // namespace

int main() {
  // examples/script_stage/my_stage.py
  save("my_stage", R"(
def forward(self, lifetime: Tensor, noise: Tensor) -> Tensor:
    clock = 0.3 * torch.special_ndtri(noise[:, :, 1])
    return (clock - lifetime * torch.log(noise[:, :, 0])).unsqueeze(2)
)",
       2);
  // finite at 0.05 .. 0.95 of the range 0.1 .. 5, where the dry run looks
  save("nan_later", R"(
def forward(self, lifetime: Tensor, noise: Tensor) -> Tensor:
    good = -lifetime * torch.log(noise[:, :, 0])
    return (good + torch.sqrt(4.76 - lifetime) - torch.sqrt(4.76 - lifetime)).unsqueeze(2)
)",
       1);
  save("shift", R"(
def forward(self, events: Tensor) -> Tensor:
    return events + 0.25
)");
  save("text", R"(
def forward(self, words: str) -> str:
    return words
)");
  save("three", R"(
def forward(self, a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    return a
)");
  save("silent_noise", R"(
def forward(self, a: Tensor, noise: Tensor) -> Tensor:
    return a
)");
  save("wrong_size", R"(
def forward(self, lifetime: Tensor, noise: Tensor) -> Tensor:
    return lifetime @ noise[0, :, :]
)",
       1);
  save("own_dice", R"(
def forward(self, lifetime: Tensor) -> Tensor:
    return (lifetime * torch.rand([lifetime.size(0), 40])).unsqueeze(2)
)");
}
