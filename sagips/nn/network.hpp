#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <torch/types.h>

#include "sagips/core/random.hpp"
#include "sagips/core/row_tensors.hpp"
#include "sagips/kernels/mlp_passes.hpp"
#include "sagips/nn/replica.hpp"

namespace sagips::nn {

/// Lengths of one sample's dimensions, rows left out: {1, 28, 28} for a grey image.
using Shape = std::vector<std::int64_t>;
std::string written(const Shape& shape);      ///< "1 x 28 x 28"
std::int64_t numbers_in(const Shape& shape);  ///< their product
Shape shape_of_rows(const torch::Tensor& rows);

/// Adds up numbers of all ranks, in place. collective: the same calls on every rank, in the same order
using AddUp = std::function<void(std::span<double> numbers)>;

/// How a network is evaluated, beside its input.
struct Evaluation {
  /// The random numbers of the step, where the network trains; null: it predicts (no dropout, running statistics).
  const core::RandomStream* training = nullptr;
  std::int64_t first_sample = 0;  ///< number of the first row in the batch of all ranks
  const AddUp* add_up = nullptr;  ///< where batch norms in training see the rows of all ranks
};

/// What a layer is, for a person who checks a network.
struct LayerSummary {
  std::string name;                    ///< "layer3 convolution"
  Shape output;                        ///< of one sample
  std::int64_t weights = 0;            ///< numbers that learn
  std::int64_t operations = 0;         ///< multiply-adds of one sample, forward
  std::string script{};                ///< TorchScript file that it is; empty: it is none
  std::vector<LayerSummary> inside{};  ///< of its chains; weights and operations count in it, too
};

/// A network that owns no weights: these are leaves of a `Replica`, so that several threads can
/// evaluate it at a time.
class Network {
 public:
  virtual ~Network() = default;

  const std::vector<ParameterTensor>& parameters() const { return parameters_; }
  const std::vector<BufferTensor>& buffers() const { return buffers_; }
  const Shape& input() const { return input_; }
  const Shape& output() const { return output_; }
  /// What these are made of, where it has several inputs or outputs with names.
  const core::RowTensors& input_tensors() const { return input_tensors_; }
  const core::RowTensors& output_tensors() const { return output_tensors_; }
  const std::vector<LayerSummary>& layers() const { return layers_; }
  /// Whether a loss that is a sum over rows stays one: false where rows of a batch in training depend
  /// on each other (batch norm), so that a batch cannot be cut into tiles.
  bool separable() const { return separable_; }
  /// Whether some layer's rows depend on each other and cannot be those of all ranks (modules, scripts).
  bool keeps_to_own_rows() const { return keeps_to_own_rows_; }
  /// Whether training draws random numbers for each row (dropout).
  bool is_random() const { return is_random_; }
  /// Whether some layer leaves out particles whose numbers are all 0.
  bool skips_empty() const { return skips_empty_; }
  /// Its shape where kernels::MlpPasses can evaluate it: dense layers with biases on flat rows, one
  /// activation between all of them and none at the end.
  const std::optional<kernels::MlpShape>& fusable() const { return fusable_; }

  /// Lets layers that keep tensors of their own look into such leaves.
  virtual void bind(Leaves&) const {}
  /// shape: input [rows, ...] -> [rows, ...]. Training, running statistics in the leaves' buffers are
  /// updated: on one thread.
  virtual torch::Tensor operator()(const Leaves& leaves, const torch::Tensor& input,
                                   const Evaluation& evaluation) const = 0;

 protected:
  std::vector<ParameterTensor> parameters_;
  std::vector<BufferTensor> buffers_;
  std::vector<LayerSummary> layers_;
  Shape input_, output_;
  core::RowTensors input_tensors_, output_tensors_;
  bool separable_ = true, keeps_to_own_rows_ = false, is_random_ = false, skips_empty_ = false;
  std::optional<kernels::MlpShape> fusable_;
};

}  // namespace sagips::nn
