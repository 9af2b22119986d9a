#pragma once
#include <chrono>
#include <string>

#include "sagips/core/log.hpp"
#include "sagips/record/study.hpp"

namespace sagips::study {

/// Shows how far a study is: one line that is redrawn on a terminal, else plain lines of the log.
class StudyProgress {
 public:
  /// noun: "trainings"
  StudyProgress(core::Log& log, const std::string& noun);
  ~StudyProgress();
  StudyProgress(const StudyProgress&) = delete;
  StudyProgress& operator=(const StudyProgress&) = delete;

  struct Counts {
    std::size_t all = 0, done = 0, running = 0, failed = 0;
  };
  void show(const Counts& counts);
  /// A line for the log, with the counts on a terminal below it.
  void info(const std::string& line);
  void warning(const std::string& code, const std::string& line);

 private:
  void clear() const;

  core::Log& log_;
  std::string noun_, shown_;
  bool terminal_;
  std::size_t done_at_start_ = 0;
  bool begun_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace sagips::study
