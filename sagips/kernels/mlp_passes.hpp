#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "sagips/kernels/aligned.hpp"
#include "sagips/kernels/panel.hpp"
#include "sagips/kernels/products.hpp"

namespace sagips::kernels {

/// A fully connected network with an activation between layers and none at its end.
struct MlpShape {
  std::vector<std::int64_t> widths;  ///< inputs, one or more hidden layers, outputs
  PanelActivation activation{};

  std::int64_t inputs() const { return widths.front(); }
  std::int64_t outputs() const { return widths.back(); }
  std::size_t hidden_layers() const { return widths.size() - 2; }
  std::int64_t widest_hidden() const {
    return *std::max_element(widths.begin() + 1, widths.end() - 1);
  }
};

/// Rows that are evaluated at a time, so that their activations and the weights stay in the
/// second-level cache of a core.
std::int64_t rows_in_cache(const MlpShape& shape, std::int64_t cache_bytes);

/// Bytes of the second-level cache that a thread has to itself; 1 MiB where the system does not tell.
std::int64_t second_level_cache();

/// Forward and backward passes of such a network over many rows, block by block: all layers of a
/// block go forward and backward while it is in the cache, bias and activation on panels of rows
/// that just left a product.
///
/// Where the output is one number a row, the backward pass for the input gradient is run with slope
/// 1 and each row's own slope comes in where it is first needed: the input gradient needs none.
///
/// `pack` is for one thread; the passes may then run on many.
class MlpPasses {
 public:
  /// block_rows is rounded up to whole panels of 32. Fewer rows than that at a time are cut into panels that
  /// fit them.
  MlpPasses(const MlpShape& shape, std::int64_t block_rows,
            std::shared_ptr<const Products> library);

  /// Takes the weights that the following passes use.
  /// parameters: weight [outputs, inputs] and bias [outputs] of each layer, in order
  void pack(std::span<const float* const> parameters);

  /// Writes d loss / d output of some rows, given their outputs.
  /// shape: [rows, outputs] both, for rows first_row, first_row + 1, ...
  using Slopes = std::function<void(std::span<const float> outputs, std::int64_t first_row,
                                    std::span<float> slopes)>;

  struct Rows {
    const float* input;  ///< [rows, inputs]
    std::int64_t rows;
    float* output;          ///< [rows, outputs]
    float* input_gradient;  ///< [rows, inputs], d output / d input; null: nobody asks. Only for one
                            ///< output
  };
  /// Outputs and, where asked for, their slopes by the input.
  void evaluate(const Rows& rows) const;
  /// The same, and adds sum_r slope_r d output_r / d weights to the gradients.
  /// gradients: shaped as the parameters of `pack`
  void learn(const Rows& rows, const Slopes& slopes, std::span<float* const> gradients) const;

  const MlpShape& shape() const { return shape_; }
  std::int64_t block_rows() const { return block_rows_; }

 private:
  /// A product of fixed height, for whole blocks and for what is left.
  struct Gradient {
    Products::Kernel block, panel;
  };
  struct Layer {
    Layer(std::int64_t from_size, std::int64_t to_size);
    void pack(const float* weight, const float* new_bias);
    std::int64_t from, to;
    AlignedFloats plain, transposed;  ///< weight [to, from] and [from, to]
    AlignedFloats bias;               ///< [to]
  };
  struct Kernels {
    Products::Kernel forward,
        below;          ///< a panel of rows at a time; below: deltas on their way back
    Gradient gradient;  ///< of the weight; of few inputs: of its transposed
  };
  /// How rows are cut.
  struct Heights {
    std::int64_t panel, block;
    std::vector<Kernels> layers{};  ///< those of the output last; none where it is one number
  };
  /// Those of fewer rows than a block, by their number, made when they first come.
  struct Few {
    std::mutex mutex;
    std::map<std::int64_t, Heights> known;
  };
  class Scratch;
  struct Learning;

  bool has_one_output() const { return shape_.outputs() == 1; }
  Heights heights(std::int64_t panel, std::int64_t block) const;
  const Heights& heights_for(std::int64_t rows) const;
  template <class Block>
  void each_block(Scratch& scratch, const Rows& rows, const Block& block) const;
  Panel panel(const Scratch& scratch, std::size_t layer, std::int64_t first) const;
  void forward(Scratch& scratch, std::int64_t rows) const;
  void start_backward(Scratch& scratch, std::int64_t rows, const Learning* learning) const;
  void backward(Scratch& scratch, std::int64_t rows, const Learning* learning) const;
  Panel delta_panel(const Scratch& scratch, std::size_t layer, std::int64_t first, float* delta,
                    const Learning* learning) const;
  void input_gradient(const Scratch& scratch, std::int64_t rows) const;
  bool has_many_inputs() const;
  static void add(const Scratch& scratch, std::size_t layer, const float* a, std::int64_t a_width,
                  const float* b, std::int64_t b_width, std::int64_t rows, float* to);

  MlpShape shape_;
  std::int64_t block_rows_;
  std::shared_ptr<const Products> library_;
  std::vector<Layer> hidden_;
  Layer output_;
  Heights whole_;
  std::unique_ptr<Few> few_ = std::make_unique<Few>();
};

}  // namespace sagips::kernels
