#include "sagips/optim/moments/simulations.hpp"

#include <optional>

namespace sagips::optim {

torch::Tensor Simulations::get(std::uint64_t key, const Make& make) {
  std::optional<std::future<torch::Tensor>> begun;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = begun_.find(key); found != begun_.end()) {
      begun = std::move(found->second);
      begun_.erase(found);
    }
  }
  return begun ? begun->get() : make();
}

void Simulations::expect(std::uint64_t key, Make make) {
  if (at_a_time_ < 2) return;
  const std::lock_guard lock(mutex_);
  if (begun_.count(key) > 0) return;
  begun_[key] = std::async(std::launch::async, [make = std::move(make)] {
    torch::NoGradGuard no_grad;  // of this thread
    return make();
  });
}

}  // namespace sagips::optim
