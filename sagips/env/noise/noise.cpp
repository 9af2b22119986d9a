#include "sagips/env/noise/noise.hpp"

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

Noise::Noise(std::shared_ptr<const NoiseSource> source, std::int64_t samples, std::int64_t events,
             std::int64_t first_sample, torch::ScalarType type, torch::Device device)
    : source_(std::move(source)),
      samples_(samples),
      events_(events),
      first_sample_(first_sample),
      type_(type),
      device_(device) {}

torch::Tensor Noise::uniform() {
  return source_->uniform(first_sample_, samples_, events_, next_dimension_++, type_).to(device_);
}

torch::Tensor Noise::normal() { return torch::special_ndtri(uniform()); }

}  // namespace sagips::env
