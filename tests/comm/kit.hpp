#pragma once
#include <functional>

#include "sagips/comm/exchanges.hpp"
#include "tests/comm/thread_communicator.hpp"

namespace sagips::comm::testing {

/// What one rank of a test needs.
struct Kit {
  explicit Kit(Communicator& chosen, Timeout::Config config = {.timeout_s = 60, .alarmed = {}})
      : communicator(chosen), status(chosen), timeout(chosen, status, std::move(config)) {}

  Site site(std::size_t floats, std::uint64_t seed = 1) {
    Site made;
    made.communicator = &communicator;
    made.timeout = &timeout;
    made.floats = floats;
    made.seed = seed;
    made.next_tag = next_tag;
    return made;
  }
  /// collective
  void barrier() {
    std::vector<char> all(static_cast<std::size_t>(communicator.size()));
    const char mine = 1;
    communicator.all_gather(std::as_bytes(std::span(&mine, 1)),
                            std::as_writable_bytes(std::span(all)));
  }
  /// Every rank's value. collective
  std::vector<std::uint64_t> gather(std::uint64_t mine) {
    std::vector<std::uint64_t> all(static_cast<std::size_t>(communicator.size()));
    communicator.all_gather(std::as_bytes(std::span(&mine, 1)),
                            std::as_writable_bytes(std::span(all)));
    return all;
  }

  Communicator& communicator;
  RankStatus status;
  Timeout timeout;
  std::shared_ptr<int> next_tag = std::make_shared<int>(1);
};

/// Runs `body` on ranks that are threads.
inline void on_threads(const ThreadTeamConfig& config, const std::function<void(Kit&)>& body) {
  run_ranks(config, [&](Communicator& communicator) {
    Kit kit(communicator);
    body(kit);
    kit.barrier();  // nobody's memory goes while others look
  });
}

}  // namespace sagips::comm::testing
