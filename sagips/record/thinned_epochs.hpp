#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "sagips/record/event.hpp"

namespace sagips::record {

/// Epochs of which so many are left out that a curve looks as before: those that follow the one before by
/// less than a thousandth of the epochs, and by less than `period_s` or a two-thousandth of the training
/// time. The first two thousand stand, and the last.
class ThinnedEpochs {
 public:
  explicit ThinnedEpochs(double period_s) : period_s_(period_s) {}

  /// The epoch where it is to be written now; one that is left out is held back.
  std::optional<EpochDone> next(const EpochDone& epoch) {
    const double period_s = std::max(period_s_, epoch.time_s / points_over_time);
    const bool is_close = epoch.epoch - last_epoch_ < last_epoch_ / points_over_epochs;
    held_back_ = epoch;
    if (is_close && last_time_s_ && epoch.time_s - *last_time_s_ < period_s) return {};
    last_time_s_ = epoch.time_s;
    last_epoch_ = epoch.epoch;
    return take_held_back();
  }
  std::optional<EpochDone> take_held_back() { return std::exchange(held_back_, {}); }

 private:
  static constexpr std::int64_t points_over_epochs = 1000;
  static constexpr double points_over_time = 2000;  // a day of training stays below 20 MB
  double period_s_;
  std::optional<double> last_time_s_{};
  std::int64_t last_epoch_ = 0;
  std::optional<EpochDone> held_back_{};
};

}  // namespace sagips::record
