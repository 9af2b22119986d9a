#include "sagips/comm/clocked_window.hpp"

#include <algorithm>
#include <utility>

namespace sagips::comm {

std::uint64_t tick(std::uint64_t clock, std::int64_t epoch) {
  return std::max(clock + 1, static_cast<std::uint64_t>(std::max<std::int64_t>(epoch, 0)));
}

bool is_fresh(std::uint64_t stamp, std::uint64_t now, std::int64_t max_age, Freshness& freshness) {
  if (stamp == 0) {
    ++freshness.missing;
    return false;
  }
  const std::uint64_t age = stamp >= now ? 0 : now - stamp;
  if (age > static_cast<std::uint64_t>(max_age)) {
    ++freshness.dropped;
    return false;
  }
  ++freshness.used;
  freshness.age_sum += static_cast<double>(age);
  freshness.age_maximum = std::max(freshness.age_maximum, static_cast<double>(age));
  return true;
}

ClockedWindow::ClockedWindow(Communicator& communicator, std::size_t floats, std::int64_t max_age)
    : window_(communicator, floats), max_age_(max_age) {}

void ClockedWindow::show(std::span<const float> values, std::int64_t epoch) {
  now_ = clock_ = tick(clock_, epoch);
  shown_ = window_.put(values, now_);
}

Window::View ClockedWindow::look(int rank) {
  Window::View view = window_.get(rank);
  clock_ = std::max(clock_, view.stamp());
  return is_fresh(view.stamp(), now_, max_age_, freshness_) ? std::move(view) : Window::View();
}

void ClockedWindow::settle() {
  if (shown_) window_.restamp(clock_);
}

void ClockedWindow::state(StateList& list, const std::string& name) { list.field(name, clock_); }

}  // namespace sagips::comm
