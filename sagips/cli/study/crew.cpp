#include "sagips/cli/study/crew.hpp"

#include <chrono>
#include <csignal>
#include <list>
#include <thread>

#include "sagips/core/error.hpp"

namespace sagips::cli {

namespace {

constexpr auto nap = std::chrono::milliseconds(20);

struct Running {
  std::size_t program;
  Child child;
};

/// The programs that run now.
class Crew {
 public:
  Crew(const std::vector<ChildProgram>& programs, const CrewWatch& watch)
      : programs_(programs), watch_(watch) {}

  std::size_t size() const { return running_.size(); }

  void begin(std::size_t program) {
    try {
      running_.push_back({program, Child(programs_[program])});
    } catch (const core::Error& error) {
      if (watch_.refused) watch_.refused(program, error.what());
      return;
    }
    if (watch_.begun) watch_.begun(program);
  }

  void signal(int number) const {
    for (const Running& one : running_) one.child.signal(number);
  }

  void collect() {
    for (auto one = running_.begin(); one != running_.end();) {
      const auto ending = one->child.ended();
      if (!ending) {
        ++one;
        continue;
      }
      const std::size_t program = one->program;
      one = running_.erase(one);
      if (watch_.ended) watch_.ended(program, *ending);
    }
  }

 private:
  const std::vector<ChildProgram>& programs_;
  const CrewWatch& watch_;
  std::list<Running> running_;
};

}  // namespace

bool run_side_by_side(const std::vector<ChildProgram>& programs, std::size_t at_once,
                      const CrewWatch& watch) {
  Crew crew(programs, watch);
  std::size_t next = 0;
  bool stopping = false;
  while (crew.size() > 0 || (!stopping && next < programs.size())) {
    if (!stopping && watch.interrupted && watch.interrupted()) {
      stopping = true;
      crew.signal(SIGTERM);
    }
    if (!stopping && watch.nudged && watch.nudged()) crew.signal(SIGUSR1);
    while (!stopping && crew.size() < at_once && next < programs.size()) crew.begin(next++);
    crew.collect();
    if (watch.waiting) watch.waiting();
    if (crew.size() > 0) std::this_thread::sleep_for(nap);
  }
  return !stopping;
}

}  // namespace sagips::cli
