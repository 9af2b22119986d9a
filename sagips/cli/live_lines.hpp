#pragma once
#include <cstddef>
#include <mutex>
#include <string>

#include "sagips/core/log.hpp"

namespace sagips::cli {

/// Lines below those of the log on standard error, redrawn in place; none where that is no terminal, or
/// where the log is quiet. Threads may share one.
class LiveLines {
 public:
  /// log: outlives it, and has no others below its lines
  explicit LiveLines(core::Log& log);
  ~LiveLines();
  LiveLines(const LiveLines&) = delete;
  LiveLines& operator=(const LiveLines&) = delete;

  bool are_live() const { return are_live_; }
  /// Puts these lines in place of those that stand there; each is cut at the terminal's width.
  void show(const std::string& lines);

 private:
  void erase();
  void draw();

  core::Log& log_;
  bool are_live_;
  std::mutex mutex_;
  std::string lines_;
  std::size_t drawn_ = 0;  ///< lines that stand on the terminal
};

/// ", about 3 min left", where so many that are done took so long; empty: none is
std::string time_left(std::size_t done, std::size_t left, double passed_s);

}  // namespace sagips::cli
