#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sagips/comm/exchange_driver.hpp"
#include "sagips/comm/ranks.hpp"
#include "sagips/simulate/replay.hpp"

namespace sagips::simulate {

/// A rank's gradients of one network, exchanged as one array or tensor by tensor.
class ExchangedArrays {
 public:
  /// collective. throws: ConfigError for an exchange that cannot run there
  ExchangedArrays(const ReplayConfig& config, comm::Ranks& ranks);

  struct Part {
    std::size_t first, size;
    std::unique_ptr<comm::ExchangeDriver> driver;
    std::uint64_t times = 1;  ///< tensors that it stands for
  };
  std::span<const Part> parts() const { return parts_; }
  std::span<float> gradients() { return gradients_; }
  double bytes() const { return static_cast<double>(gradients_.size() * sizeof(float)); }
  const comm::Exchange& exchange() const { return parts_.front().driver->exchange(); }

  // The paper's ring carries one tensor after another.
  void start(const Part& part, comm::Step step) { part.driver->start(view(part), step); }
  void progress();
  void complete(const Part& part, comm::Step step);
  /// False: this rank serves the others, in place of an epoch.
  bool computes() const;
  void serve(comm::Step step);
  comm::ReplicaView view(const Part& part);
  void close();  ///< nothing is under way any more; collective

  comm::Cost cost(comm::Step step) const;  ///< what the exchange says of itself
  comm::Cost sent() const;                 ///< what was sent so far
  double in_exchange_s() const;            ///< so far, or waiting for others
  /// What this rank's pieces of central weights have gone through so far; all 0 where it owns none.
  comm::Freshness served();
  std::uint64_t updates_served();

 private:
  void add_tensor(const ReplayConfig& config, comm::Ranks& ranks, std::size_t size);
  void add_part(const ReplayConfig& config, comm::Ranks& ranks, std::size_t size);

  std::vector<float> gradients_, weights_;
  std::vector<Part> parts_;
};

}  // namespace sagips::simulate
