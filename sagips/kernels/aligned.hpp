#pragma once
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

namespace sagips::kernels {

/// Floats that begin at a cache line.
class AlignedFloats {
 public:
  AlignedFloats() = default;
  explicit AlignedFloats(std::size_t count) { grow(count); }

  /// Makes room for at least that many floats; their content is lost when there were fewer.
  void grow(std::size_t count) {
    if (count <= count_) return;
    const std::size_t bytes = (count * sizeof(float) + line - 1) / line * line;
    floats_.reset(static_cast<float*>(std::aligned_alloc(line, bytes)));
    if (!floats_) throw std::bad_alloc();
    count_ = count;
  }
  float* data() { return floats_.get(); }
  const float* data() const { return floats_.get(); }

 private:
  static constexpr std::size_t line = 64;
  struct Free {
    void operator()(float* floats) const { std::free(floats); }
  };
  std::unique_ptr<float, Free> floats_;
  std::size_t count_ = 0;
};

}  // namespace sagips::kernels
