#pragma once
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sagips/comm/exchange_driver.hpp"
#include "sagips/comm/exchanges.hpp"
#include "sagips/comm/rank_sum.hpp"
#include "sagips/comm/ranks.hpp"
#include "sagips/optim/learn/optimizer.hpp"
#include "sagips/problem/rank_place.hpp"
#include "sagips/record/event.hpp"
#include "sagips/train/gpu_mean.hpp"
#include "sagips/train/host_mirror.hpp"
#include "sagips/train/loop.hpp"

namespace sagips::train {

/// Which exchange carries which network's gradients.
struct ExchangeChoice {
  std::string primary =
      "arar_arar";  ///< of the optimizer's first step, whose network gives the answer
  /// Those of other steps, by network; "none" or nothing: each rank has its own network.
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

  /// Called before the first step, after a state was put back. collective
  void begin();
  /// tracer: of the rank, is told of copies from GPUs and to them
  ExchangeHooks hooks(core::Tracer* tracer = nullptr);
  /// What each exchange has cost so far, before a restart, too.
  std::vector<record::Exchanged> reports(std::int64_t epoch) const;
  /// The same of the step whose network gives the answer.
  comm::ExchangeTotals totals() const;
  /// Whether this rank ever waits for another one.
  bool waits() const;
  std::string description() const;
  /// Answers other ranks; called where this one waits for something else.
  void poll();
  /// Runs work between steps that may take however long: others do not miss this rank, though it says nothing.
  void between_steps(const std::function<void()>& work);
  /// Runs this with the central weights in place of this rank's own, where an exchange has some. So many
  /// ranks do that behind the same epoch, with the same weights.
  void with_central_weights(std::int64_t epoch, std::uint64_t readers,
                            const std::function<void()>& run);
  /// The ranks that may do that; none: there are no central weights.
  std::vector<int> readers() const;
  /// Gives every rank the last central weights; nothing follows. collective, after the hook `close`
  void settle();
  /// The step whose network gives the answer.
  const std::string& primary() const { return primary_; }

  void state(nn::StateList& list);
  /// Keeps, of a state that does not fit since it is of another number of ranks, the central weights at its
  /// end, which take the place of the networks' own by `take_kept`. prefix: of the names in it
  void keep_central(const nn::State& state, const std::string& prefix);
  void take_kept();

 private:
  struct Link {
    std::unique_ptr<comm::ExchangeDriver> driver;
    /// Carries what the network remembers of its rows to the owners of central weights. Null: nothing.
    std::unique_ptr<comm::ExchangeDriver> statistics;
    std::unique_ptr<HostMirror> mirror;
    bool is_copied = false;          ///< between the mirror and the replica
    std::string subject, name;       ///< the step; of the exchange
    comm::Step step{0};              ///< of the gradients under way, or the last ones
    comm::ExchangeTotals earlier{};  ///< of before a restart
    comm::ExchangeTotals
        not_counted{};  ///< of this process, before it went back to an earlier state
    std::vector<std::shared_ptr<optim::UpdateRule>> rules{};  ///< of pieces of central weights
    comm::ExchangeTotals totals() const;
    /// Copies, where the replica is elsewhere; running statistics, too, where ranks exchange them.
    void take(bool gradients, bool weights);
    void give(bool gradients, bool weights);
    bool uses_weights() const { return driver->exchange().promise().uses_weights; }
    std::string name_of(const comm::ExchangeDriver& one) const {
      return &one == statistics.get() ? subject + ".statistics" : subject;
    }
  };
  static comm::MakeUpdate updates_by(const optim::UpdateStep& step, Link& link);
  static void check_central(const optim::UpdateStep& step, const Link& link, bool all_compute);
  void add_statistics(optim::UpdateStep& step, Link& link, const ExchangeChoice& choice,
                      comm::Site site);
  bool norms_over_ranks(const ExchangeChoice& choice) const;
  void check_norms() const;
  bool stays_on_gpus(const ExchangeChoice& choice) const;
  std::unique_ptr<comm::Exchange> on_gpus(const optim::UpdateStep& step, const comm::Site& site);
  int next_index(const std::string& key);
  /// Each driver of the optimizer's steps, and what it carries.
  using UseDriver = std::function<void(Link&, comm::ExchangeDriver&, comm::ReplicaView)>;
  void each_driver(const UseDriver& use);
  static void use_drivers(Link& link, const UseDriver& use);
  static void give_central(const std::string& name, comm::ExchangeDriver& driver,
                           std::size_t floats, nn::StateList& list);
  void serve(std::int64_t step);
  void take_weights();  ///< into all mirrors
  void give_weights();

  comm::Ranks& ranks_;
  optim::Optimizer& optimizer_;
  std::string primary_;
  std::map<std::string, Link> links_;  ///< by step
  std::shared_ptr<GpuSums> gpu_sums_;  ///< of gradients that stay on GPUs; null: none does
  std::optional<comm::RankSum> sum_;   ///< of batch norms; none: each rank has its own
  int drivers_ = 0;
  std::map<const comm::ExchangeDriver*, std::vector<float>> kept_;  ///< central weights
};

/// How the learning rate of the primary network is to be scaled over that many ranks, and what share of
/// the events each rank draws.
struct ExchangeTraits {
  double learning_rate_factor = 1;
  double data_fraction = 1;
};
/// throws: ConfigError for an unknown exchange
ExchangeTraits traits_of(const ExchangeChoice& choice, int ranks);
/// This rank's place among those that compute; of one that does not: the first's. throws: as traits_of
problem::RankPlace place_of(const ExchangeChoice& choice, const comm::Communicator& communicator);

}  // namespace sagips::train
