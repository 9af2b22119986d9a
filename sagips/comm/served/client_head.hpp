#pragma once
#include <cstdint>
#include <span>

namespace sagips::comm {

/// What a worker tells the owner of a piece of the central weights before it sends anything. A share
/// of any steps follows; the answer is a piece.
struct ClientHead {
  enum class Kind : std::uint32_t {
    share,  ///< what the rule makes of gradients or weights is asked for
    look,   ///< the central weights are asked for, nothing is brought
    leave,  ///< a share (of no steps: nothing), the last one; answered when all have left
    alive,  ///< nothing is brought or asked for
    silent  ///< nor does anything come for however long
  };
  Kind kind = Kind::share;
  /// In a share: answers of this owner that were in the weights that the oldest part of it was made of.
  std::uint32_t taken = 0;
  std::uint64_t number = 0;   ///< steps whose gradients are in the share; of a look: its number
  std::uint64_t readers = 0;  ///< of a look
  double progress = 0;        ///< of the worker's run, as in Step

  /// Whether it is told only so that this worker is not missed.
  bool is_sign() const { return kind == Kind::alive || kind == Kind::silent; }
  bool brings_values() const { return kind != Kind::look && !is_sign() && number > 0; }
  std::span<float> as_floats() {
    return {reinterpret_cast<float*>(this), sizeof(ClientHead) / sizeof(float)};
  }
};

}  // namespace sagips::comm
