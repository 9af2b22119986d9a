#include "sagips/run/task.hpp"

#include "sagips/run/inverse_task.hpp"
#include "sagips/run/learning_task.hpp"

namespace sagips::run {

std::unique_ptr<Task> make_task(const Job& job, comm::Ranks& ranks, core::Log& log) {
  if (job.examples) return std::make_unique<LearningTask>(job, ranks, log);
  return std::make_unique<InverseTask>(job, ranks, log);
}

bool Task::share_evaluations(const std::vector<int>&, bool) { return false; }

}  // namespace sagips::run
