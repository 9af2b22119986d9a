#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "sagips/nn/state.hpp"
#include "sagips/record/metrics.hpp"

namespace sagips::run {

/// Metrics that a full disk interrupts without ending the run: one warning, and they go on when there
/// is space again. Its state is where the file goes on after a restart.
class LastingMetrics {
 public:
  LastingMetrics(std::string path, std::function<void(const std::string&)> warn)
      : path_(std::move(path)), warn_(std::move(warn)) {}

  void operator()(const record::Event& event);
  void state(nn::StateList& list);

 private:
  void lose(const std::string& problem);

  std::string path_;
  std::function<void(const std::string&)> warn_;
  std::optional<record::MetricsWriter> writer_;  ///< opened by the first event
  std::int64_t bytes_ = 0;                       ///< that the file has
  bool lost_ = false;
};

}  // namespace sagips::run
