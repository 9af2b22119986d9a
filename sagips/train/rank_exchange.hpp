#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sagips/comm/exchange_driver.hpp"
#include "sagips/comm/exchanges.hpp"
#include "sagips/comm/ranks.hpp"
#include "sagips/optim/learn/optimizer.hpp"
#include "sagips/record/event.hpp"
#include "sagips/train/loop.hpp"

namespace sagips::train {

/// Which exchange carries which network's gradients.
struct ExchangeChoice {
  std::string primary =
      "arar_arar";  ///< of the optimizer's first step, whose network gives the answer
  /// Of other steps, by network; "none" or nothing: each rank has its own network.
  std::map<std::string, std::string> others{};
  comm::ExchangesConfig config{};
};

/// The exchanges of a run, attached to its loop: one for each step whose network is shared.
///
/// collective: made on every rank, after all of them have equal optimizers
class RankExchange {
 public:
  /// throws: ConfigError for an exchange that is unknown or does not fit
  RankExchange(comm::Ranks& ranks, optim::Optimizer& optimizer, const ExchangeChoice& choice,
               std::uint64_t seed);

  ExchangeHooks hooks();
  /// What each exchange has cost so far, before a restart, too.
  std::vector<record::Exchanged> reports(std::int64_t epoch) const;
  /// Whether this rank ever waits for another one.
  bool waits() const;
  std::string description() const;
  /// The step whose network gives the answer.
  const std::string& primary() const { return primary_; }

  void state(nn::StateList& list);

 private:
  struct Link {
    std::unique_ptr<comm::ExchangeDriver> driver;
    std::string name;
    comm::Step step{0};             ///< of the gradients under way, or the last ones
    std::vector<double> earlier{};  ///< what was counted before a restart; empty: nothing
  };
  static comm::ReplicaView view(optim::UpdateStep& step);

  comm::Ranks& ranks_;
  std::string primary_;
  std::map<std::string, Link> links_;  ///< by step
};

/// How the learning rate of the primary network is to be scaled over that many ranks, and what share of
/// the events each rank draws.
struct ExchangeTraits {
  double learning_rate_factor = 1;
  double data_fraction = 1;
};
/// throws: ConfigError for an unknown exchange
ExchangeTraits traits_of(const ExchangeChoice& choice, int ranks);

}  // namespace sagips::train
