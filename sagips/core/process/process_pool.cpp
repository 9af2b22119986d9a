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

void start(const NumberedProgram& next, Running& running, const PoolWatch& watch) {
  try {
    running.try_emplace(next.number, next.program);
  } catch (const Error& error) {
    if (watch.refused) watch.refused(next.number, error.what());
    return;
  }
  if (watch.begun) watch.begun(next.number);
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

bool run_side_by_side(std::size_t at_once, const PoolWatch& watch) {
  Running running;
  bool stopping = false;
  for (;;) {
    if (!stopping && watch.interrupted && watch.interrupted()) {
      stopping = true;
      tell(running, SIGTERM);
    }
    if (!stopping && watch.usr1_requested && watch.usr1_requested()) tell(running, SIGUSR1);
    while (!stopping && running.size() < at_once) {
      const auto next = watch.next();
      if (!next) break;
      start(*next, running, watch);
    }
    collect(running, watch);
    if (watch.waiting) watch.waiting();
    if (running.empty() && (stopping || watch.is_over())) return !stopping;
    std::this_thread::sleep_for(nap);
  }
}

bool run_side_by_side(const std::vector<ChildProgram>& programs, std::size_t at_once,
                      PoolWatch watch) {
  std::size_t given = 0;
  watch.next = [&]() -> std::optional<NumberedProgram> {
    if (given == programs.size()) return {};
    const std::size_t number = given++;
    return NumberedProgram{number, programs[number]};
  };
  watch.is_over = [&] { return given == programs.size(); };
  return run_side_by_side(at_once, watch);
}

}  // namespace sagips::core
