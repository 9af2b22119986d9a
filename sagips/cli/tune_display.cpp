#include "sagips/cli/tune_display.hpp"

#include <algorithm>
#include <string>

#include "sagips/comm/ranks.hpp"
#include "sagips/core/text.hpp"
#include "sagips/study/tune/trial_table.hpp"

namespace sagips::cli {

void TuneDisplay::show(const study::TrialRecords& trials, const study::TuneConfig& config) {
  constexpr std::int64_t draw_every_ns = 500'000'000;
  constexpr std::size_t best_shown = 5;
  const std::int64_t now_ns = comm::now_ns();
  if (!lines_.are_live() || (ended_before_ && now_ns - drawn_ns_ < draw_every_ns)) return;
  drawn_ns_ = now_ns;
  study::TrialRecords running, ended;
  for (const auto& [number, trial] : trials) (trial.end ? ended : running)[number] = trial;
  if (!ended_before_) {
    ended_before_ = ended.size();
    began_ns_ = now_ns;
  }
  std::string lines;
  if (!ended.empty()) lines += study::trial_table(ended, config, best_shown);
  if (!running.empty()) lines += study::trial_table(running, config, best_shown * 2);
  const auto all = static_cast<std::size_t>(config.all_trials());
  lines +=
      core::text(ended.size(), " of ", all, " trials have ended, ", running.size(), " running");
  lines += time_left(ended.size() - *ended_before_, all - std::min(all, ended.size()),
                     static_cast<double>(now_ns - began_ns_) * 1e-9);
  lines_.show(lines);
}

}  // namespace sagips::cli
