// Fused dense layers on a GPU.
#include <algorithm>
#include <utility>

#include "sagips/nn/device.hpp"
#include "sagips/nn/device_library.hpp"
#include "sagips/nn/fused_mlp.hpp"

namespace sagips::nn {

namespace {

int precision_now() {
  switch (precision()) {
    case Precision::tf32:
      return SAGIPS_CUDA_TF32;
    case Precision::bfloat16:
      return SAGIPS_CUDA_BFLOAT16;
    case Precision::float32:
      break;
  }
  return SAGIPS_CUDA_FLOAT32;
}

/// The flat array that tensors are views of.
float* flat(const torch::Tensor& view) {
  return static_cast<float*>(view.storage().mutable_data());
}

class DeviceMlp final : public FusedMlp {
 public:
  DeviceMlp(sagips_cuda_dense shape, torch::Device device)
      : shape_(shape),
        device_(device),
        packed_(bytes_on(device, device_library(device)->dense_packed_bytes(shape, precision_))) {}

  void pack(const Leaves& leaves) override {
    for (int i = 0; i <= shape_.hidden_layers; ++i) {
      const auto layer = static_cast<std::size_t>(i);
      shape_.weight_at[i] = static_cast<std::int32_t>(leaves.tensors[2 * layer].storage_offset());
      shape_.bias_at[i] = static_cast<std::int32_t>(leaves.tensors[2 * layer + 1].storage_offset());
    }
    on_device(device_, &DeviceLibrary::dense_pack, shape_, precision_, flat(leaves.tensors[0]),
              packed_.data_ptr());
  }
  bool is_on_cpu() const override { return false; }

  torch::Tensor outputs(const torch::Tensor& input, torch::Tensor* slopes) const override {
    torch::Tensor output = torch::empty({input.size(0), shape_.outputs}, input.options());
    if (slopes) {
      *slopes = torch::empty_like(input);
      run(input, {SAGIPS_CUDA_ONE, 0, 0, nullptr}, output, slopes->data_ptr<float>(), nullptr);
    } else {
      on_device(device_, &DeviceLibrary::dense_outputs, shape_, precision_, packed_.data_ptr(),
                input.data_ptr<float>(), input.size(0), output.data_ptr<float>());
    }
    return output;
  }

  void add_gradients(const torch::Tensor& input, const torch::Tensor& slopes,
                     Leaves& leaves) const override {
    torch::Tensor output = torch::empty_like(slopes);
    run(input, {SAGIPS_CUDA_GIVEN, 0, 0, slopes.data_ptr<float>()}, output, nullptr, &leaves);
  }

  torch::Tensor learn(const torch::Tensor& given, const KnownLoss& loss,
                      Leaves& leaves) const override {
    const torch::Tensor input = given.detach().reshape({-1, shape_.inputs}).contiguous();
    torch::Tensor output = torch::empty({input.size(0)}, input.options());
    sagips_cuda_slopes slopes{SAGIPS_CUDA_LINEAR, static_cast<float>(loss.label),
                              static_cast<float>(loss.factor), nullptr};
    if (loss.kind == KnownLoss::Kind::linear)
      slopes.factor = static_cast<float>(loss.factor * (1 - 2 * loss.label));
    else
      slopes.kind = loss.kind == KnownLoss::Kind::least_squares ? SAGIPS_CUDA_LEAST_SQUARES
                                                                : SAGIPS_CUDA_CROSS_ENTROPY;
    run(input, slopes, output, nullptr, &leaves);
    return output.view(given.sizes().slice(0, static_cast<std::size_t>(given.dim() - 1)));
  }

 private:
  void run(const torch::Tensor& input, sagips_cuda_slopes slopes, torch::Tensor& output,
           float* input_gradient, Leaves* leaves) const {
    torch::Tensor work;
    if (leaves)
      work = bytes_on(device_,
                      device_library(device_)->dense_work_bytes(shape_, precision_, input.size(0)));
    on_device(device_, &DeviceLibrary::dense_passes, shape_, precision_, packed_.data_ptr(),
              input.data_ptr<float>(), input.size(0), slopes, output.data_ptr<float>(),
              input_gradient, leaves ? leaves->gradients.data_ptr<float>() : nullptr,
              leaves ? work.data_ptr() : nullptr);
  }

  sagips_cuda_dense shape_;
  torch::Device device_;
  int precision_ = precision_now();
  torch::Tensor packed_;  ///< the weights, as the passes read them
};

}  // namespace

std::unique_ptr<FusedMlp> make_device_mlp(const kernels::MlpShape& shape, torch::Device device) {
  const DeviceLibrary* const library = device_library(device);
  const std::size_t hidden = shape.hidden_layers();
  if (library == nullptr || shape.activation.kind != kernels::PanelActivation::Kind::leaky_relu ||
      hidden > std::size(sagips_cuda_dense{}.widths))
    return nullptr;
  sagips_cuda_dense passes{};
  passes.inputs = static_cast<std::int32_t>(shape.inputs());
  passes.outputs = static_cast<std::int32_t>(shape.outputs());
  passes.hidden_layers = static_cast<std::int32_t>(hidden);
  std::transform(shape.widths.begin() + 1, shape.widths.end() - 1, passes.widths,
                 [](std::int64_t width) { return static_cast<std::int32_t>(width); });
  passes.slope = shape.activation.negative_slope;
  if (library->dense_packed_bytes(passes, precision_now()) == 0) return nullptr;
  return std::make_unique<DeviceMlp>(passes, device);
}

}  // namespace sagips::nn
