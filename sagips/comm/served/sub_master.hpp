#pragma once
#include <cstdint>

#include "sagips/comm/served/served_plan.hpp"
#include "sagips/comm/served/weight_client.hpp"

namespace sagips::comm {

/// A server that is a worker of its parent, rank 0: what its weights have gone through is what it brings.
class SubMaster {
 public:
  /// parents: two tags between sub-masters and their parent; siblings: all sub-masters; own: this rank's
  /// server of all weights. Workers of `own` are let go when the parent has answered for the last time.
  SubMaster(const Group& parents, std::size_t floats, const ServedConfig& config,
            std::size_t siblings, WeightServer& own);
  SubMaster(const SubMaster&) = delete;  // the server calls it
  SubMaster& operator=(const SubMaster&) = delete;

  /// Takes what the parent has answered, and reports where it is time.
  void report();
  WeightClient& client() { return client_; }
  void state(StateList& list);

 private:
  enum class Leaving { no, asked, done };
  void leave(bool has_heard);

  const ServedConfig& config_;
  double alpha_;
  WeightServer& own_;
  WeightClient client_;
  std::uint64_t reported_version_ = 0, reported_steps_ = 0;
  Leaving leaving_ = Leaving::no;
};

}  // namespace sagips::comm
