#pragma once
#include <string>
#include <vector>

#include "sagips/train/checkpoint/checkpoints.hpp"

namespace sagips::testing {

using Lines = std::vector<std::string>;

/// The checkpoints of a run of some ranks, and what is said about them.
struct Shelf {
  explicit Shelf(comm::Ranks& ranks, const std::string& folder)
      : store(folder, "run", 2),
        checkpoints(ranks, store,
                    {.info = [this](const std::string& line) { said.push_back(line); },
                     .warning = [this](const std::string& line) { warned.push_back(line); }}) {}

  Lines said, warned;
  record::CheckpointStore store;
  train::Checkpoints checkpoints;
};

}  // namespace sagips::testing
