#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sagips/comm/exchange.hpp"
#include "sagips/comm/exchanges/auto.hpp"
#include "sagips/comm/exchanges/averaged.hpp"
#include "sagips/comm/exchanges/compressed.hpp"
#include "sagips/comm/exchanges/double_tree.hpp"
#include "sagips/comm/exchanges/gossip.hpp"
#include "sagips/comm/exchanges/grouped.hpp"
#include "sagips/comm/exchanges/rma_ring.hpp"
#include "sagips/comm/exchanges/served.hpp"
#include "sagips/core/config/config.hpp"
#include "sagips/core/registry.hpp"

namespace sagips::comm {

/// The settings of all exchanges; a run uses those of the ones that it names.
struct ExchangesConfig {
  /// How the learning rate grows with the ranks whose gradients are one mean, and so with the batch.
  /// source: Goyal et al., arXiv 1706.02677 (linear); Krizhevsky, arXiv 1404.5997 (square root)
  enum class RateScaling { none, linear, square_root };
  RateScaling learning_rate_scaling = RateScaling::none;
  /// What batch norm's running means and variances are on several ranks: those of the rows that each sees, or
  /// their mean over ranks, taken at each update.
  enum class RunningStatistics { kept, averaged };
  RunningStatistics running_statistics = RunningStatistics::kept;
  /// Which rows a batch norm sees in training.
  enum class BatchNorm { each_rank, over_ranks };
  BatchNorm batch_norm = BatchNorm::each_rank;
  /// Where gradients that GPUs have computed are exchanged: in the memory of their machine, or between GPUs.
  enum class Memory { host, gpu };
  Memory memory = Memory::host;
  Compressed::Config compressed;
  DoubleTree::Config double_tree;
  RmaRing::Config rma_ring;
  Gossip::Config gossip;
  Grouped::Config grouped;
  Averaged::Config averaged;
  Served::Config served;
  Auto::Config automatic;

  void fields(core::FieldList& list);
  /// 1, the number of ranks, or its square root.
  double learning_rate_factor(int ranks) const;
};

/// An exchange as the program knows it.
struct ExchangeEntry {
  std::string composition;  ///< how the docs write it: "Grouped{Ring{node}, Ring{leaders}}"
  std::string summary;      ///< when to use it, one line
  /// Whether it can serve as a part of another (inner, outer, mean).
  enum class Part { yes, no } part = Part::yes;
  std::function<std::unique_ptr<Exchange>(const ExchangesConfig&, const Site&, std::vector<int>)>
      make;
  /// Whether all ranks hold the same mean of all gradients afterwards, as `Promise::exact` says.
  bool is_exact = false;
  /// Share of the events that each rank draws from, unless the config says another.
  double data_fraction = 0.5;
  /// Ranks that compute nothing; empty: all ranks do. nodes: of each rank
  std::function<std::vector<int>(const ExchangesConfig&, const std::vector<int>& nodes)>
      serving_ranks{};
  /// The name of the exchange that moves its gradients, where that is another; empty: its own.
  std::function<std::string(const ExchangesConfig&)> inner{};

  /// Whether the message library moves all of it in calls of its own, so that nobody knows its messages.
  bool is_of_library = false;

  /// Whether some ranks keep central weights for all.
  bool is_central() const { return serving_ranks != nullptr; }
};

/// Every exchange by name.
core::Registry<ExchangeEntry> known_exchanges();

/// Whether it does, by name; false where nothing is known by that name.
bool keeps_central_weights(const std::string& exchange);

/// An exchange over all ranks of the site. `where` is what an error points at: "exchange".
///
/// collective
/// throws: core::ConfigError for a name that is unknown or cannot be used here
std::unique_ptr<Exchange> make_exchange(const std::string& name, const ExchangesConfig& config,
                                        const Site& site, const std::string& where = "exchange");

}  // namespace sagips::comm
