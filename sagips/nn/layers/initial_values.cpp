#include <cmath>
#include <map>
#include <span>

#include "sagips/core/crc32c.hpp"
#include "sagips/nn/layers/layers.hpp"

namespace sagips::nn {

namespace {

enum class Form { uniform, normal, truncated_normal };
enum class Fan { none, in, mean };

/// Numbers of mean 0 whose variance is `scale` over the numbers that meet (or leave) one output.
struct Distribution {
  double scale;
  Fan fan;
  Form form;
};

/// source: Glorot and Bengio, AISTATS 2010; He et al., ICCV 2015; LeCun et al., Efficient BackProp (1998).
/// Keras cuts the normal ones off at two deviations, PyTorch (xavier, kaiming) does not.
const std::map<std::string, Distribution>& distributions() {
  static const std::map<std::string, Distribution> all = {
      {"glorot_uniform", {1, Fan::mean, Form::uniform}},
      {"glorot_normal", {1, Fan::mean, Form::truncated_normal}},
      {"he_uniform", {2, Fan::in, Form::uniform}},
      {"he_normal", {2, Fan::in, Form::truncated_normal}},
      {"lecun_uniform", {1, Fan::in, Form::uniform}},
      {"lecun_normal", {1, Fan::in, Form::truncated_normal}},
      {"xavier_uniform", {1, Fan::mean, Form::uniform}},
      {"xavier_normal", {1, Fan::mean, Form::normal}},
      {"kaiming_uniform", {2, Fan::in, Form::uniform}},
      {"kaiming_normal", {2, Fan::in, Form::normal}},
      {"normal", {1, Fan::none, Form::normal}}};
  return all;
}

double deviation(const Distribution& distribution, const Shape& shape) {
  const auto places =
      static_cast<double>(numbers_in(shape)) / static_cast<double>(shape[0] * shape[1]);
  const double in = places * static_cast<double>(shape[1]),
               out = places * static_cast<double>(shape[0]);
  const double fan = distribution.fan == Fan::none ? 1
                     : distribution.fan == Fan::in ? in
                                                   : (in + out) / 2;
  return std::sqrt(distribution.scale / fan);
}

}  // namespace

std::function<torch::Tensor(const core::RandomStream&)> initial_values(
    const std::string& name, const ParameterTensor& parameter) {
  const Distribution distribution = distributions().at(name);
  return [distribution, shape = parameter.shape,
          number = core::crc32c(parameter.name)](const core::RandomStream& stream) {
    torch::Tensor uniform = torch::empty(shape);
    stream.uniform(
        number, 0,
        std::span<float>(uniform.data_ptr<float>(), static_cast<std::size_t>(uniform.numel())));
    const double sigma = deviation(distribution, shape);
    if (distribution.form == Form::uniform) return (2 * uniform - 1) * (std::sqrt(3.0) * sigma);
    if (distribution.form == Form::normal) return torch::special_ndtri(uniform) * sigma;
    const double below = 0.5 * std::erfc(std::sqrt(2.0));       // two deviations
    constexpr double deviation_when_cut = 0.87962566103423978;  // of a normal distribution there
    return torch::special_ndtri(below + uniform * (1 - 2 * below)) * (sigma / deviation_when_cut);
  };
}

void InitialValues::field(core::FieldList& list) {
  std::vector<std::string> names{"default"};
  for (const auto& [known, distribution] : distributions()) names.push_back(known);
  list.add_choice(
      "initial", names, [this] { return name; },
      [this](const std::string& chosen) { name = chosen; },
      "distribution that weights begin from, with biases of 0; default: PyTorch's of the layer");
}

void InitialValues::apply(LayerPlace& place) const {
  if (name == "default") return;
  for (ParameterTensor& parameter : place.parameters) {
    if (parameter.is_bias)
      parameter.initial = [shape = parameter.shape](const core::RandomStream&) {
        return torch::zeros(shape);
      };
    else
      parameter.initial = initial_values(name, parameter);
  }
}

}  // namespace sagips::nn
