#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sagips/kernels/aligned.hpp"
#include "sagips/kernels/panel.hpp"
#include "sagips/kernels/products.hpp"

namespace sagips::kernels {

/// What all particles of an event tell each other: the message to i is the sum over all j != i of f(i, j), where
/// f's first layer is activation(a_i + b_j) and dense layers follow.
struct PairShape {
  std::int64_t particles;                    ///< of an event
  std::vector<std::int64_t> widths;          ///< of each layer, the first included
  std::vector<PanelActivation> activations;  ///< behind each layer
  bool some_absent = false;                  ///< events may have fewer particles

  std::int64_t outputs() const { return widths.back(); }
  std::int64_t half_numbers() const { return particles * 2 * widths.front(); }  ///< of an event
  std::int64_t message_numbers() const { return particles * outputs(); }
};

/// Forward and backward passes of such messages, one receiver at a time: all senders go through all layers while
/// they are in the cache. The way back makes the values anew, so that nothing of the size of all pairs goes to
/// memory. All calls may come from many threads.
class PairPasses {
 public:
  PairPasses(const PairShape& shape, const std::shared_ptr<const Products>& products);

  const PairShape& shape() const { return shape_; }
  std::int64_t weights() const;  ///< of all layers but the first

  /// A layer's weights in whole vectors.
  struct Packed {
    AlignedFloats plain, transposed;  ///< [to, from] and [from, to]
    AlignedFloats bias;               ///< [to]
  };
  /// shape: weights [weights()], weight [outputs, inputs] and bias [outputs] of each layer but the first, in order
  std::vector<Packed> pack(const float* weights) const;

  struct Events {
    std::int64_t count;
    const float* halves;  ///< [count, particles, 2, widths[0]]: a, then b
    const std::uint8_t*
        present;  ///< [count, particles], 0 for one that neither sends nor receives; null: all are
  };
  /// shape: messages [count, particles, outputs], 0 for those who are not present
  void forward(const Events& events, const std::vector<Packed>& packed, float* messages) const;
  /// shape: slopes, d loss / d messages, as messages; halves_gradient as halves, overwritten; gradient as the weights
  /// of `pack`, added to
  void backward(const Events& events, const std::vector<Packed>& packed, const float* slopes,
                float* halves_gradient, float* gradient) const;

 private:
  struct Rows {  ///< products for so many senders, of each layer but the first
    std::vector<Products::Kernel> forward, below, gradient;
  };
  class Event;
  const Rows& products(const Event& event) const;
  void fill(Event& event, const std::vector<Packed>& packed, std::int64_t receiver) const;
  void go_back(Event& event, const std::vector<Packed>& packed, std::int64_t receiver,
               const float* slope) const;

  PairShape shape_;
  std::vector<std::int64_t> wide_;  ///< widths in whole vectors
  std::vector<Rows> rows_;  ///< by the number of senders, in steps; else of all particles alone
};

}  // namespace sagips::kernels
