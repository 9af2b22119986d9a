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
  std::string generator = "arar_arar";
  std::string discriminator = "none";
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

  void state(nn::StateList& list);

 private:
  struct Link {
    std::unique_ptr<comm::ExchangeDriver> driver;
    std::string name;
    comm::Step step;                ///< of the gradients under way
    std::vector<double> earlier{};  ///< what was counted before a restart; empty: nothing
  };
  static comm::ReplicaView view(optim::UpdateStep& step);

  comm::Ranks& ranks_;
  std::map<std::string, Link> links_;  ///< by step
};

/// How the learning rate of the generator is to be scaled over that many ranks, and what share of
/// the events each rank draws.
struct ExchangeTraits {
  double learning_rate_factor = 1;
  double data_fraction = 1;
};
/// throws: ConfigError for an unknown exchange
ExchangeTraits traits_of(const ExchangeChoice& choice, int ranks);

}  // namespace sagips::train
