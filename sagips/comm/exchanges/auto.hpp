#pragma once
#include "sagips/comm/exchange.hpp"
#include "sagips/core/config/config.hpp"

namespace sagips::comm {

/// Measures the exact exchanges once, at the size of the run, and goes on with the fastest.
///
/// The slowest rank's median counts, and all ranks agree. Two runs may choose differently, since a
/// clock decides. The choice is part of the state, so a resumed run keeps it and goes on bit for bit.
///
/// cost:    the chosen one's
class Auto final : public Exchange {
 public:
  struct Config {
    std::int64_t repeats = 20;
    void fields(core::FieldList& list);
  };
  struct Candidate {
    std::string name;
    std::unique_ptr<Exchange> exchange;
  };
  /// collective; all candidates are exact
  Auto(const Config& config, const Site& site, std::vector<Candidate> candidates);

  Task gradients(ReplicaView replica, Step step) override;
  Cost cost(std::size_t floats, Step step) const override { return chosen().cost(floats, step); }
  Promise promise() const override {
    return {.exact = true, .waits = true, .repeats = false, .resumes = true};
  }
  std::vector<int> partners(Step step) const override { return chosen().partners(step); }
  std::string description() const override;
  void state(StateList& list) override;

  const std::string& choice() const { return candidates_[choice_].name; }

 private:
  Exchange& chosen() const { return *candidates_[choice_].exchange; }
  double median_time(const Site& site, Exchange& exchange) const;

  Config config_;
  std::vector<Candidate> candidates_;
  std::vector<double> times_s_;  ///< of the slowest rank, by candidate
  std::size_t choice_ = 0;
};

}  // namespace sagips::comm
