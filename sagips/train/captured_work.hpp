#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include <c10/core/Stream.h>
#include <torch/types.h>

namespace sagips::train {

/// Work on a GPU that is the same in every step but for its numbers: the first times operation by operation, then as
/// a graph that is made of them once and costs the processor one call.
///
/// What the work does on the CPU happens once, when its graph is made; tensors that it makes then hold the numbers of
/// each replay.
class CapturedWork {
 public:
  /// is_alone: nothing else is under way on the GPU, which may be waited for
  CapturedWork(torch::Device device, bool is_alone);
  ~CapturedWork();
  CapturedWork(const CapturedWork&) = delete;
  CapturedWork& operator=(const CapturedWork&) = delete;

  /// The step whose random numbers the work draws.
  void begin_step(std::uint32_t step);
  /// key: which work this is, among all
  void run(std::size_t key, const std::function<void()>& work);
  /// Why work goes on operation by operation, since it cannot be a graph; empty: it can.
  const std::string& problem() const { return problem_; }

 private:
  struct Graph {
    void* graph = nullptr;
    int runs = 0;
  };
  bool make(Graph& piece, const std::function<void()>& work);
  void free_graphs();

  torch::Device device_;
  c10::Stream outer_;  ///< LibTorch's before; graphs cannot be made on its usual one
  bool is_alone_;
  std::uint32_t step_ = 0;
  torch::Tensor counter_;  ///< the step, on the GPU
  std::map<std::size_t, Graph> pieces_;
  std::string problem_;
};

}  // namespace sagips::train
