#pragma once
#include <cstddef>
#include <functional>
#include <vector>

#include "sagips/core/process/child_process.hpp"

namespace sagips::core {

/// Who watches programs that run side by side. What is empty is not called.
struct PoolWatch {
  std::function<void(std::size_t program)> begun{};
  std::function<void(std::size_t program, const Ending& ending)> ended{};
  /// Could not be started; the others go on.
  std::function<void(std::size_t program, const std::string& reason)> refused{};
  std::function<void()> waiting{};      ///< some times a second
  std::function<bool()> interrupted{};  ///< asked some times a second
  /// Asked some times a second; true once sends SIGUSR1 to all that run.
  std::function<bool()> usr1_requested{};
};

/// Runs programs, `at_once` at a time, in their order, until all have ended. When interrupted, all
/// that run get SIGTERM and are waited for, and no other one begins: false then.
bool run_side_by_side(const std::vector<ChildProgram>& programs, std::size_t at_once,
                      const PoolWatch& watch);

}  // namespace sagips::core
