#pragma once
#include <span>
#include <string>
#include <vector>

#include "sagips/comm/group.hpp"
#include "sagips/comm/timeout.hpp"

namespace sagips::comm {

/// Adds up a few numbers of all ranks while others wait for them: each sends its own to all. What it sends counts
/// as the site's.
class RankSum {
 public:
  /// index: of its calls among those of the run's exchanges; what: that a missing rank has not come to, for
  /// messages. collective
  RankSum(const Site& site, int index, std::string what);

  /// The sum in place, in the order of the ranks: the same bits on all. collective
  /// throws: CommError when a rank does not come in time
  void operator()(std::span<double> numbers);
  /// For ranks of this node that had not yet begun the same call.
  double waited_s() const { return waited_s_; }

 private:
  Task add_up(std::span<double> numbers);

  Group group_;
  Timeout* timeout_;
  Timeout::Whom whom_;
  double waited_s_ = 0;
  std::vector<double> all_;  ///< [ranks][numbers]
};

}  // namespace sagips::comm
