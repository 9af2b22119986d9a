#include "sagips/cli/live_lines.hpp"

#include <unistd.h>

#include <iostream>

#include "sagips/core/text.hpp"

namespace sagips::cli {

LiveLines::LiveLines(core::Log& log)
    : log_(log), are_live_(core::can_redraw(STDERR_FILENO) && !log.is_quiet()) {
  if (!are_live_) return;
  // held from one to the other, or another thread would draw where the log's line comes
  log.set_below(
      [this] {
        mutex_.lock();
        erase();
      },
      [this] {
        const std::lock_guard lock(mutex_, std::adopt_lock);
        draw();
      });
}

LiveLines::~LiveLines() {
  if (!are_live_) return;
  log_.set_below({}, {});
  erase();
}

void LiveLines::show(const std::string& lines) {
  const std::lock_guard lock(mutex_);
  if (!are_live_ || lines == lines_) return;
  erase();
  lines_ = lines;
  draw();
}

// The cursor stands behind the last line.
void LiveLines::erase() {
  if (drawn_ == 0) return;
  std::cerr << "\r\x1b[2K";
  for (; drawn_ > 1; --drawn_) std::cerr << "\x1b[1A\x1b[2K";
  drawn_ = 0;
  std::cerr << std::flush;
}

void LiveLines::draw() {
  const std::size_t width = core::terminal_size(STDERR_FILENO).columns;
  for (const std::string& line : core::split(core::trim(lines_), '\n')) {
    if (drawn_++ > 0) std::cerr << '\n';
    std::cerr << core::cut_to_width(line, width);  // one that wraps could not be taken back
  }
  std::cerr << std::flush;
}

std::string time_left(std::size_t done, std::size_t left, double passed_s) {
  if (done == 0) return {};
  const double one_s = passed_s / static_cast<double>(done);
  return core::text(", about ", core::duration(one_s * static_cast<double>(left)), " left");
}

}  // namespace sagips::cli
