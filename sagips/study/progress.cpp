#include "sagips/study/progress.hpp"

#include <unistd.h>

#include <iostream>

#include "sagips/core/text.hpp"

namespace sagips::study {

StudyProgress::StudyProgress(core::Log& log, const std::string& noun)
    : log_(log), noun_(noun), terminal_(core::can_redraw(STDERR_FILENO) && !log.is_quiet()) {}

StudyProgress::~StudyProgress() { clear(); }

void StudyProgress::show(const Counts& counts) {
  if (!begun_) done_at_start_ = counts.done;
  begun_ = true;
  if (!terminal_) return;
  std::string line = core::text(counts.done, " of ", counts.all, " ", noun_, " done, ",
                                counts.running, " running");
  if (counts.failed > 0) line += core::text(", ", counts.failed, " failed");
  const std::size_t done_now = counts.done - done_at_start_;
  if (done_now > 0) {
    const double passed_s =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    const double left = static_cast<double>(counts.all - counts.done - counts.failed);
    line += core::text(", about ", core::duration(passed_s * left / static_cast<double>(done_now)),
                       " left");
  }
  if (line == shown_) return;
  shown_ = line;
  std::cerr << "\r\x1b[K" << line << std::flush;
}

void StudyProgress::info(const std::string& line) {
  clear();
  log_.info(line);
  if (terminal_) std::cerr << shown_ << std::flush;
}

void StudyProgress::warning(const std::string& code, const std::string& line) {
  clear();
  log_.warning(code, line);
  if (terminal_) std::cerr << shown_ << std::flush;
}

void StudyProgress::clear() const {
  if (terminal_ && !shown_.empty()) std::cerr << "\r\x1b[K" << std::flush;
}

}  // namespace sagips::study
