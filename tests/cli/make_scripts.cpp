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

/// A network that learns, as torch.jit.script makes it.
void save_network() {
  torch::manual_seed(1);
  torch::jit::Module network("network");
  network.register_attribute("training", c10::BoolType::get(), true);
  const auto weight = [&](const char* name, std::int64_t outputs, std::int64_t inputs) {
    network.register_parameter(name, torch::randn({outputs, inputs}) / 2, false);
  };
  weight("first", 32, 2);
  weight("last", 3, 32);
  network.register_parameter("offset", torch::randn({32}), false);
  network.register_buffer("mean", torch::zeros({32}));
  network.register_buffer("variance", torch::ones({32}));
  for (torch::Tensor parameter : network.parameters()) parameter.requires_grad_();
  network.define(R"(
def forward(self, x: Tensor) -> Tensor:
    x = torch.relu(torch.linear(x, self.first, self.offset))
    x = torch.batch_norm(x, None, None, self.mean, self.variance, self.training, 0.1, 1e-5, True)
    return torch.linear(torch.dropout(x, 0.1, self.training), self.last)
)");
  network.save("network.pt");
}

/// A layer of 16 outputs that a generator or a discriminator may begin with.
void save_layer(std::int64_t inputs) {
  torch::manual_seed(2);
  torch::jit::Module layer("layer");
  layer.register_attribute("training", c10::BoolType::get(), true);
  layer.register_parameter("weight", torch::randn({16, inputs}) / 2, false);
  for (torch::Tensor parameter : layer.parameters()) parameter.requires_grad_();
  layer.define(R"(
def forward(self, x: Tensor) -> Tensor:
    return torch.tanh(torch.linear(x, self.weight))
)");
  layer.save("layer_of_" + std::to_string(inputs) + ".pt");
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
  save_network();
  save_layer(2);
  save_layer(6);
}
