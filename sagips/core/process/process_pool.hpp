#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "sagips/core/process/child_process.hpp"

namespace sagips::core {

/// A program with the number that its watcher knows it by; one of a number runs at a time.
struct NumberedProgram {
  std::size_t number = 0;
  ChildProgram program{};
};

/// Who gives programs to run side by side, and watches them. What is empty is not called.
struct PoolWatch {
  /// The next one to start; nothing: none at this time.
  std::function<std::optional<NumberedProgram>()> next{};
  /// Asked while nothing runs: whether no other one comes.
  std::function<bool()> is_over{};
  std::function<void(std::size_t program)> begun{};
  std::function<void(std::size_t program, const Ending& ending)> ended{};
  /// Could not be started; the others go on, unless this throws: by `throw;` what the start threw.
  std::function<void(std::size_t program, const std::string& reason)> refused{};
  std::function<void()> waiting{};      ///< some times a second
  std::function<bool()> interrupted{};  ///< asked some times a second
  /// Asked some times a second; true once sends SIGUSR1 to all that run.
  std::function<bool()> usr1_requested{};
};

/// Runs programs, `at_once` at a time, as the watch gives them, until none runs and none comes. When
/// interrupted, all that run get SIGTERM and are waited for, and no other one begins: false then.
bool run_side_by_side(std::size_t at_once, const PoolWatch& watch);
/// The same with these programs in their order, by their places.
bool run_side_by_side(const std::vector<ChildProgram>& programs, std::size_t at_once,
                      PoolWatch watch);

}  // namespace sagips::core
