#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
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

/// Memory of a thread that lasts, for one that works at a time; its content is that of whoever asked last.
/// which: 0 or 1
inline float* scratch(std::size_t which, std::int64_t floats) {
  thread_local std::array<AlignedFloats, 2> kept;
  kept[which].grow(static_cast<std::size_t>(floats));
  return kept[which].data();
}

}  // namespace sagips::kernels
