#pragma once
#include <cstddef>
#include <optional>
#include <string>

#include "sagips/record/event.hpp"

namespace sagips::cli {

struct DisplayConfig {
  double live_period_s = 0.2;  ///< of the clock on the wall
  double plain_period_s = 5;   ///< of training time
  bool quiet = false;          ///< plain lines of warnings alone
};

/// Shows how a run goes on: an observer, passed to the loop with std::ref.
///
/// On a terminal a block that is redrawn in place: progress by whichever limit is nearer, losses
/// in units of their equilibrium, every parameter with its spread and, where the truth is known,
/// its residual, distances to held-out events. Warnings stay above the block. Colours unless
/// NO_COLOR is set; lines are cut at the terminal's width. The cursor comes back on destruction.
/// Elsewhere (file, pipe, TERM=dumb): plain lines for start, evaluations, warnings and end, and
/// between them at most one for each `plain_period_s`.
class Display {
 public:
  /// descriptor: an open file, usually STDOUT_FILENO; stays open
  Display(int descriptor, DisplayConfig config);
  ~Display();
  Display(const Display&) = delete;
  Display& operator=(const Display&) = delete;

  void operator()(const record::Event& event);

 private:
  void show_live(const record::Event& event);
  void show_plain(const record::Event& event);
  void redraw();
  void erase();
  void write(const std::string& text) const;

  int descriptor_;
  DisplayConfig config_;
  bool is_live_;
  bool has_colour_;
  record::RunStarted start_;
  std::optional<record::EpochDone> epoch_;
  std::optional<record::Evaluated> evaluation_;
  std::size_t lines_drawn_ = 0;
  std::optional<double> last_time_s_;  // when the last plain line or live block was shown
};

}  // namespace sagips::cli
