#pragma once
#include <memory>
#include <string>
#include <vector>

#include "sagips/comm/exchanges.hpp"

namespace sagips::bench {

/// A way to average an array over all ranks, as `exchange_bench` measures it.
class Candidate {
 public:
  explicit Candidate(std::string name) : name_(std::move(name)) {}
  virtual ~Candidate() = default;
  const std::string& name() const { return name_; }

  /// Does it once, from start to end. collective
  virtual void call() = 0;
  /// After as many calls everything has happened that ever does.
  virtual std::int64_t period() const { return 1; }
  virtual comm::Promise promise() const { return {.exact = true, .waits = true, .repeats = true}; }
  /// Seconds inside the calls so far by the exchange's own books, exposed and waiting; negative
  /// when it keeps none.
  virtual double inside_s() const { return -1; }

 private:
  std::string name_;
};

/// Settings under which exchanges are compared: those of the program, but groups of two ranks and
/// outer epochs and averages of weights every five epochs, so that a period stays short.
comm::ExchangesConfig bench_config();

constexpr const char* peer_name = "MPI_Allreduce";

/// The peer, then the named exchanges. collective
std::vector<std::unique_ptr<Candidate>> make_candidates(comm::Communicator& communicator,
                                                        const std::vector<std::string>& exchanges,
                                                        std::size_t floats);

}  // namespace sagips::bench
