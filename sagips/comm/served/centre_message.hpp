#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace sagips::comm {

/// What a worker and the owner of a piece of the central weights send each other: a head and a piece.
class CentreMessage {
 public:
  enum class Kind : std::uint64_t {
    share,  ///< what the rule makes of gradients or weights is asked for
    look,   ///< the central weights are asked for, nothing is brought
    leave   ///< a share (of no steps: nothing), the last one; answered when all have left
  };
  struct Head {
    Kind kind = Kind::share;
    std::uint64_t steps = 0;    ///< whose gradients are in it
    std::uint64_t version = 0;  ///< of the piece: updates that it had seen
  };

  explicit CentreMessage(std::size_t floats) : buffer_(head_floats + floats) {}
  Head head() const;
  void set_head(Head head);
  std::span<float> values() { return std::span(buffer_).subspan(head_floats); }
  std::span<const float> values() const { return std::span(buffer_).subspan(head_floats); }
  std::span<float> whole() { return buffer_; }

  static constexpr std::size_t head_floats = 6;
  static_assert(sizeof(Head) == head_floats * sizeof(float));

 private:
  std::vector<float> buffer_;
};

}  // namespace sagips::comm
