#include "sagips/run/lasting_metrics.hpp"

#include <utility>

#include "sagips/core/error.hpp"

namespace sagips::run {

namespace {
constexpr double epoch_period_s = 0.25;
}

void LastingMetrics::operator()(const record::Event& event) {
  if (lost_ && !std::holds_alternative<record::Evaluated>(event)) return;  // try now and then
  try {
    if (!writer_) writer_.emplace(path_, epoch_period_s, bytes_);
    (*writer_)(event);
    if (lost_) writer_->flush();
    bytes_ = writer_->bytes();
    lost_ = false;
  } catch (const core::Error& problem) {
    lose(problem.what());
  }
}

// Whoever is warned may come back here with the warning as an event.
void LastingMetrics::lose(const std::string& problem) {
  const bool is_first = !std::exchange(lost_, true);
  writer_.reset();
  if (is_first) warn_(problem);
}

void LastingMetrics::state(nn::StateList& list) {
  if (list.gives() && writer_) {
    try {
      writer_->flush();
    } catch (const core::StorageError& problem) {
      lose(problem.what());
    }
  }
  list.field("bytes", bytes_);
  if (!list.gives()) writer_.reset();  // the next event cuts the file there
}

}  // namespace sagips::run
