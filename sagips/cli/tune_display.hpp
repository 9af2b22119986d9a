#pragma once
#include <cstdint>
#include <optional>

#include "sagips/cli/live_lines.hpp"
#include "sagips/study/tune/tune.hpp"

namespace sagips::cli {

/// Shows a search while it runs: on a terminal a table of the best trials and of those at work.
class TuneDisplay {
 public:
  explicit TuneDisplay(LiveLines& lines) : lines_(lines) {}
  void show(const study::TrialRecords& trials, const study::TuneConfig& config);

 private:
  LiveLines& lines_;
  std::int64_t began_ns_ = 0, drawn_ns_ = 0;
  std::optional<std::size_t> ended_before_;  ///< the first look
};

}  // namespace sagips::cli
