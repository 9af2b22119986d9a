#include "sagips/core/process/process_pool.hpp"

#include <chrono>
#include <csignal>
#include <iterator>
#include <map>
#include <thread>

namespace sagips::core {

namespace {

constexpr auto nap = std::chrono::milliseconds(20);

using Running = std::map<std::size_t, ChildProcess>;  ///< by the program's place

void tell(const Running& running, int number) {
  for (const auto& [program, process] : running) process.signal(number);
}

void start(std::size_t program, const ChildProgram& what, Running& running,
           const PoolWatch& watch) {
  try {
    running.try_emplace(program, what);
  } catch (const Error& error) {
    if (watch.refused) watch.refused(program, error.what());
    return;
  }
  if (watch.begun) watch.begun(program);
}

void collect(Running& running, const PoolWatch& watch) {
  for (auto one = running.begin(); one != running.end();) {
    const std::size_t program = one->first;
    const auto ending = one->second.ended();
    one = ending ? running.erase(one) : std::next(one);
    if (ending && watch.ended) watch.ended(program, *ending);
  }
}

}  // namespace

bool run_side_by_side(const std::vector<ChildProgram>& programs, std::size_t at_once,
                      const PoolWatch& watch) {
  Running running;
  std::size_t next = 0;
  bool stopping = false;
  while (!running.empty() || (!stopping && next < programs.size())) {
    if (!stopping && watch.interrupted && watch.interrupted()) {
      stopping = true;
      tell(running, SIGTERM);
    }
    if (!stopping && watch.usr1_requested && watch.usr1_requested()) tell(running, SIGUSR1);
    for (; !stopping && running.size() < at_once && next < programs.size(); ++next)
      start(next, programs[next], running, watch);
    collect(running, watch);
    if (watch.waiting) watch.waiting();
    if (!running.empty()) std::this_thread::sleep_for(nap);
  }
  return !stopping;
}

}  // namespace sagips::core
