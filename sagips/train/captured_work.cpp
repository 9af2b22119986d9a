#include "sagips/train/captured_work.hpp"

#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <algorithm>
#include <utility>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/nn/device.hpp"
#include "sagips/nn/device_library.hpp"
#include "sagips/nn/script.hpp"

namespace sagips::train {

namespace {

constexpr int runs_before = 2;  // LibTorch's libraries choose and take memory in the first ones

const c10::impl::DeviceGuardImplInterface& guard_of(const torch::Device& device) {
  return *c10::impl::getDeviceGuardImpl(device.type());
}

}  // namespace

CapturedWork::CapturedWork(torch::Device device, bool is_alone)
    : device_(device),
      outer_(guard_of(device).exchangeStream(guard_of(device).getStreamFromGlobalPool(device))),
      is_alone_(is_alone),
      counter_(torch::zeros({1}, torch::dtype(torch::kInt32).device(device))) {
  guard_of(device).synchronizeDevice(device.index());  // what was begun on the other stream
}

// A GPU that has failed says so again: who is told of it already goes on.
CapturedWork::~CapturedWork() {
  try {
    free_graphs();
    guard_of(device_).exchangeStream(outer_);
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
  }
}

void CapturedWork::free_graphs() {
  nn::wait_for(device_);
  for (auto& [key, piece] : pieces_)
    if (void* const graph = std::exchange(piece.graph, nullptr); graph != nullptr)
      nn::device_library(device_)->graph_free(graph);
}

void CapturedWork::begin_step(std::uint32_t step) {
  step_ = step;
  counter_.fill_(static_cast<std::int64_t>(step));
}

void CapturedWork::run(std::size_t key, const std::function<void()>& work) {
  Graph& piece = pieces_[key];
  if (!problem_.empty() || piece.runs++ < runs_before || !(piece.graph || make(piece, work)))
    return work();
  const nn::DeviceLibrary& library = *nn::device_library(device_);
  if (library.graph_replay(piece.graph) != 0)
    throw core::Error(core::text("the GPU refuses a graph: ", library.graph_error()));
}

// False: it cannot be one. Nothing has been computed then, and the memory of those before it is free.
bool CapturedWork::make(Graph& piece, const std::function<void()>& work) {
  const nn::DeviceLibrary& library = *nn::device_library(device_);
  const nn::StepFromGpu counted(step_, counter_);
  // Graphs take memory of their own, and what the first runs have left is no longer needed.
  if (is_alone_) c10::getDeviceAllocator(device_.type())->emptyCache();
  // A step's pieces follow each other, so that they can share it.
  const auto beside =
      std::ranges::find_if(pieces_, [](const auto& one) { return one.second.graph != nullptr; });
  void* graph = nullptr;
  if (library.graph_begin(&graph, beside != pieces_.end() ? beside->second.graph : nullptr) != 0) {
    problem_ = library.graph_error();
    free_graphs();
    return false;
  }
  try {
    work();
  } catch (const std::exception& error) {
    problem_ = nn::first_line(error);
  }
  if (library.graph_end(graph) != 0 && problem_.empty()) problem_ = library.graph_error();
  piece.graph = graph;
  if (!problem_.empty()) free_graphs();
  return problem_.empty();
}

}  // namespace sagips::train
