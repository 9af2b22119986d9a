#include "sagips/run/task.hpp"

#include <chrono>
#include <future>

#include "sagips/run/inverse_task.hpp"
#include "sagips/run/learning_task.hpp"

namespace sagips::run {

std::unique_ptr<Task> make_task(const Job& job, comm::Ranks& ranks, core::Log& log) {
  if (job.examples) return std::make_unique<LearningTask>(job, ranks, log);
  return std::make_unique<InverseTask>(job, ranks, log);
}

bool Task::share_evaluations(const std::vector<int>&, bool) { return false; }

// Others may wait for this rank at every step, and these are much shorter than a piece.
void Task::evaluate_long(const std::function<void()>& evaluation) const {
  constexpr std::chrono::microseconds pause{50};
  if (!all_the_time_) return evaluation();
  std::future<void> evaluating = std::async(std::launch::async, evaluation);
  while (evaluating.wait_for(pause) != std::future_status::ready) meanwhile_();
  evaluating.get();
}

}  // namespace sagips::run
