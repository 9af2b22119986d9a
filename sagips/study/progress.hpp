#pragma once
#include <cstddef>
#include <functional>

namespace sagips::study {

/// How far a study is, in trainings, experiments or simulations.
struct StudyProgress {
  std::size_t all = 0, done = 0, running = 0, failed = 0;
};
/// Called often while a study works; empty: nobody looks.
using ShowProgress = std::function<void(const StudyProgress&)>;

}  // namespace sagips::study
