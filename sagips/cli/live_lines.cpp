#include "sagips/cli/live_lines.hpp"

#include <unistd.h>

#include <iostream>

#include "sagips/core/text.hpp"

namespace sagips::cli {

LiveLines::LiveLines(core::Log& log)
    : log_(log), are_live_(core::can_redraw(STDERR_FILENO) && !log.is_quiet()) {
  if (!are_live_) return;
  log.set_below(
      [this] {
        const std::lock_guard lock(mutex_);
        erase();
      },
      [this] {
        const std::lock_guard lock(mutex_);
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

}  // namespace sagips::cli
