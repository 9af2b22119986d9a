#pragma once
#include <string>
#include <vector>

#include "sagips/comm/ranks.hpp"

namespace sagips::study {

/// Every rank's text on rank 0, empty elsewhere. Rank 0 waits for as long as the others live: they
/// may have hours of work left. collective
/// throws: CommError when a rank of this node has died
std::vector<std::string> collect_texts(comm::Ranks& ranks, const std::string& mine);

}  // namespace sagips::study
