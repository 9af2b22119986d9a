#include "sagips/env/noise/noise.hpp"

#include <vector>

#include "sagips/nn/device_library.hpp"

namespace sagips::env {

namespace {

template <class Real>
void fill(const core::RandomStream& stream, torch::Tensor& numbers, std::int64_t first_sample,
          std::int64_t dimension) {
  const std::int64_t events = numbers.size(1);
  for (std::int64_t sample = 0; sample < numbers.size(0); ++sample)
    stream.uniform(static_cast<std::uint32_t>(first_sample + sample),
                   static_cast<std::uint32_t>(dimension),
                   std::span<Real>(numbers.data_ptr<Real>() + sample * events,
                                   static_cast<std::size_t>(events)));
}

}  // namespace

torch::Tensor PhiloxNoise::uniform(std::int64_t first_sample, std::int64_t samples,
                                   std::int64_t events, std::int64_t dimension,
                                   torch::ScalarType type) const {
  torch::Tensor numbers = torch::empty({samples, events}, type);
  if (type == torch::kFloat64)
    fill<double>(stream_, numbers, first_sample, dimension);
  else
    fill<float>(stream_, numbers, first_sample, dimension);
  return numbers;
}

torch::Tensor PhiloxNoise::uniform_on(const torch::Device& device, std::int64_t first_sample,
                                      std::int64_t samples, std::int64_t events,
                                      std::int64_t first_dimension, std::int64_t dimensions) const {
  if (nn::device_library(device) == nullptr) return {};
  torch::Tensor numbers =
      torch::empty({samples, dimensions, events}, torch::dtype(torch::kFloat32).device(device));
  nn::on_device(device, &nn::DeviceLibrary::uniform, nn::stream_name(stream_),
                static_cast<std::uint32_t>(first_sample), samples,
                static_cast<std::uint32_t>(first_dimension), dimensions, events, 1.0F,
                numbers.data_ptr<float>());
  return numbers;
}

Noise::Noise(std::shared_ptr<const NoiseSource> source, std::int64_t samples, std::int64_t events,
             std::int64_t first_sample, torch::ScalarType type, torch::Device device)
    : source_(std::move(source)),
      samples_(samples),
      events_(events),
      first_sample_(first_sample),
      type_(type),
      device_(device) {}

torch::Tensor Noise::uniform() { return uniform(1).squeeze(1); }

torch::Tensor Noise::uniform(std::int64_t dimensions) {
  const std::int64_t first = next_dimension_;
  next_dimension_ += dimensions;
  if (!device_.is_cpu() && type_ == torch::kFloat32)
    if (torch::Tensor numbers =
            source_->uniform_on(device_, first_sample_, samples_, events_, first, dimensions);
        numbers.defined())
      return numbers;
  std::vector<torch::Tensor> each;
  for (std::int64_t k = 0; k < dimensions; ++k)
    each.push_back(source_->uniform(first_sample_, samples_, events_, first + k, type_));
  return (dimensions == 1 ? each[0].unsqueeze(1) : torch::stack(each, 1)).to(device_);
}

torch::Tensor Noise::normal() { return torch::special_ndtri(uniform()); }

}  // namespace sagips::env
