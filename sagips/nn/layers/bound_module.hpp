#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sagips/nn/layers/layer.hpp"

namespace sagips::nn {

/// A module that owns its tensors, with those that a replica holds in their place, each once.
class BoundModule {
 public:
  virtual ~BoundModule() = default;
  /// shape: [rows, ...] -> [rows, ...]
  virtual torch::Tensor forward(const torch::Tensor& rows, bool trains) = 0;

  std::vector<NamedTensor> parameters{}, buffers{};
  core::RowTensors outputs{};  ///< that a row of its output is made of, once it was called

 protected:
  /// Several outputs as one row, flat and one behind the other.
  /// throws: core::Error for one that has not a row for each of the input's
  torch::Tensor joined(const std::vector<NamedTensor>& several, std::int64_t rows);
  /// Tied tensors are the same one. throws: core::Error where two share memory and are not the same
  void add_parameter(const std::string& name, const torch::Tensor& tensor);
  /// Whole numbers are counters and tables, which stay where they are.
  void add_buffer(const std::string& name, const torch::Tensor& tensor);
};

/// Makes the same module at each call but for the numbers that its weights begin at.
using MakeBoundModule = std::function<std::shared_ptr<BoundModule>(std::uint64_t seed)>;

/// A layer that is such a module: what it does is found by a trial, and each thread has its own.
class BoundLayer : public Layer {
 public:
  Shape declare(const Shape& input, LayerPlace& place) override;
  std::shared_ptr<void> bind(std::span<torch::Tensor> weights,
                             std::span<torch::Tensor> buffers) const override;
  torch::Tensor operator()(const torch::Tensor& input, const LayerTensors& tensors,
                           const Evaluation& evaluation) const override;

 protected:
  /// What to do where a trial finds these.
  struct Advice {
    const char *random_numbers, *unused_weight;
  };
  virtual MakeBoundModule maker(const Shape& input, const core::RowTensors& tensors) const = 0;
  virtual std::string name() const = 0;    ///< by which a config calls it
  virtual bool draws_weights() const = 0;  ///< false: they begin the same for each seed
  virtual Advice advice() const = 0;

 private:
  MakeBoundModule make_;  ///< once declared
};

}  // namespace sagips::nn
