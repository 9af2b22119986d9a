#pragma once
#include <vector>

#include "sagips/comm/exchange.hpp"

namespace sagips::bench {

/// What one rank needs for one exchange. Each exchange gets a seat of its own: the rank status tells
/// calls apart by their number, and exchanges measured side by side must not mix theirs.
class Seat {
 public:
  /// collective
  explicit Seat(comm::Communicator& communicator)
      : communicator_(communicator), status_(communicator), timeout_(communicator, status_, {}) {}

  comm::Site site(std::size_t floats) {
    comm::Site made;
    made.communicator = &communicator_;
    made.timeout = &timeout_;
    made.floats = floats;
    return made;
  }

 private:
  comm::Communicator& communicator_;
  comm::RankStatus status_;
  comm::Timeout timeout_;
};

/// Every rank's values, one rank after another. collective
inline std::vector<double> gather(comm::Communicator& communicator, std::span<const double> mine) {
  std::vector<double> all(mine.size() * static_cast<std::size_t>(communicator.size()));
  communicator.all_gather(std::as_bytes(mine), std::as_writable_bytes(std::span(all)));
  return all;
}

/// Rank 0's value on every rank. collective
inline double agree(comm::Communicator& communicator, double mine) {
  return gather(communicator, std::span(&mine, 1)).front();
}

}  // namespace sagips::bench
