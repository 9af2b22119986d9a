#pragma once
#include <string>
#include <thread>
#include <vector>

#include "sagips/comm/ranks.hpp"

namespace sagips::study {

/// Shows the others that this process runs, as long as it lives, whatever work it is at: a suspended
/// process stops with all its threads.
class SignsOfLife {
 public:
  explicit SignsOfLife(comm::Ranks& ranks);

 private:
  std::jthread thread_;
};

/// Every rank's text on rank 0, empty elsewhere. Rank 0 waits for as long as the others show signs of
/// life: they may have hours of work left. collective
/// throws: CommError when a rank of this node has died or is suspended
std::vector<std::string> collect_texts(comm::Ranks& ranks, const std::string& mine);

}  // namespace sagips::study
