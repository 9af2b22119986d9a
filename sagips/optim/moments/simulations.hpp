#pragma once
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <mutex>

#include "sagips/data/torch.hpp"

namespace sagips::optim {

/// What a simulation gave, by its key: begun in the background before, or made now. Used by several
/// threads at a time.
class Simulations {
 public:
  using Make = std::function<torch::Tensor()>;
  /// at_a_time: simulations that a pipeline can do
  explicit Simulations(std::int64_t at_a_time) : at_a_time_(at_a_time) {}

  std::int64_t at_a_time() const { return at_a_time_; }
  torch::Tensor get(std::uint64_t key, const Make& make);
  /// Begins it in the background, where several can be made at a time.
  void expect(std::uint64_t key, Make make);

 private:
  std::int64_t at_a_time_;
  std::mutex mutex_;
  std::map<std::uint64_t, std::future<torch::Tensor>> begun_;
};

}  // namespace sagips::optim
