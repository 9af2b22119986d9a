#pragma once
#include <span>
#include <string>
#include <vector>

#include "sagips/comm/group.hpp"

namespace sagips::comm {

/// Adds up a few numbers of all ranks while others wait for them: each sends its own to all. What it sends counts
/// as the site's.
class RankSum {
 public:
  /// what: that a missing rank has not come to, for messages. collective
  RankSum(const Site& site, std::string what);

  /// The sum in place, in the order of the ranks: the same bits on all. collective
  /// throws: CommError when a rank does not come in time
  void operator()(std::span<double> numbers);

 private:
  Task add_up(std::span<double> numbers);

  Group group_;
  Timeout* timeout_;
  std::string what_;
  std::vector<double> all_;  ///< [ranks][numbers]
};

}  // namespace sagips::comm
