#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sagips/analysis/figure.hpp"

namespace sagips::analysis {

/// An exchange on a simulated cluster, over numbers of ranks. Times in seconds, of an epoch.
struct SimulatedExchange {
  /// Which of them are drawn together.
  enum class Family {
    tensor_by_tensor,  ///< the paper's way
    exact,             ///< all ranks hold the same mean
    loose,             ///< groups, one-sided, gossip, none
    late,              ///< exact, completed one update late
  };
  struct Point {
    double ranks = 0;
    double exchange_s = 0;   ///< alone; 0: not simulated
    double predicted_s = 0;  ///< by cost(); 0: none
    double epoch_s = 0;      ///< with computation; 0: not simulated
    double events = 0;       ///< of all ranks, an epoch
  };
  std::string label;
  Family family = Family::exact;
  std::vector<Point> points;  ///< by ranks
};

/// A published curve of which only the gain is known: its epochs grow in a straight line.
struct PublishedLine {
  std::string label;
  std::vector<double> ranks, epoch_s;
};

struct SimulatedTraining {
  std::vector<SimulatedExchange> exchanges;
  std::vector<PublishedLine> published;
  double epochs = 0;  ///< of a whole training
  std::int64_t ranks_per_node = 1;
  std::string conditions;  ///< platform and computation: stands above each figure
};

/// Training time against ranks, with the nodes above. source: SAGIPS paper, Fig. 11
Figure simulated_time_over_ranks(const SimulatedTraining& training);

/// Events a second, eq. (9), with the ideal gain. source: SAGIPS paper, Fig. 12
Figure simulated_rate_over_ranks(const SimulatedTraining& training);

/// What an exchange takes alone, both axes logarithmic.
Figure exchange_time_over_ranks(const SimulatedTraining& training);

/// Simulated exchanges over what cost() predicts, with lines at equality and 20 % off.
Figure simulated_over_predicted(const SimulatedTraining& training);

/// One slow rank and what it leaves of the others' rates, relative to undisturbed.
struct StragglerRow {
  std::string exchange;
  std::int64_t ranks = 0;  ///< the slow one among them
  bool is_leader = true;   ///< the slow one
  double slow = 0;         ///< its own rate
  double median = 0, lowest = 0;
};
/// A panel for slow leaders and one for slow followers.
Figure straggler_rates(const std::vector<StragglerRow>& rows, const std::string& conditions);

}  // namespace sagips::analysis
