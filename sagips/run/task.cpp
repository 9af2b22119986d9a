#include "sagips/run/task.hpp"

#include <chrono>
#include <future>

#include "sagips/core/version.hpp"

namespace sagips::run {

bool Task::share_evaluations(const std::vector<int>&, bool) { return false; }

// Others may wait for this rank at every step, and these are much shorter than a piece.
void Task::evaluate_long(const std::function<void()>& evaluation) const {
  constexpr std::chrono::microseconds pause{50};
  if (!all_the_time_) return evaluation();
  std::future<void> evaluating = std::async(std::launch::async, evaluation);
  while (evaluating.wait_for(pause) != std::future_status::ready) meanwhile_();
  evaluating.get();
}

record::Results results_of(const Job& job, const Training& training, const record::Evaluated& end) {
  const record::RunFinished& finished = training.record.finished;
  record::Results results;
  results.workload = job.settings.workload;
  results.version = std::string(core::version());
  results.git_hash = std::string(core::git_hash());
  results.seed = job.settings.run.seed;
  results.finish_reason = finished.reason.text;
  results.complete = finished.complete;
  results.epochs = finished.epochs;
  results.time_s = finished.time_s;
  for (const auto& metric : training.record.first.metrics)
    results.numbers.push_back({metric.name + "_start", metric.value});
  for (const auto& metric : end.metrics)
    results.numbers.push_back({metric.name + "_end", metric.value});
  return results;
}

}  // namespace sagips::run
