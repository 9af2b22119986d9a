#pragma once
#include <cstdint>
#include <variant>
#include <vector>

#include "sagips/record/event.hpp"
#include "sagips/train/loop.hpp"

namespace sagips::testing {

using train::Loop;
using train::LoopConfig;

inline LoopConfig epochs(std::int64_t count, std::int64_t evaluate_every = 0) {
  LoopConfig config;
  config.epochs = count;
  config.evaluate_every = evaluate_every;
  return config;
}

/// Writes down what a loop tells its observers.
struct Diary {
  std::vector<record::EpochDone> epochs;
  std::vector<record::Evaluated> evaluations;
  std::vector<record::Warning> warnings;
  std::vector<record::RunFinished> finished;

  record::Observer observer() {
    return [this](const record::Event& event) {
      if (const auto* done = std::get_if<record::EpochDone>(&event)) epochs.push_back(*done);
      if (const auto* seen = std::get_if<record::Evaluated>(&event)) evaluations.push_back(*seen);
      if (const auto* warning = std::get_if<record::Warning>(&event)) warnings.push_back(*warning);
      if (const auto* end = std::get_if<record::RunFinished>(&event)) finished.push_back(*end);
    };
  }
  std::vector<std::int64_t> evaluated_epochs() const {
    std::vector<std::int64_t> all;
    for (const auto& seen : evaluations) all.push_back(seen.epoch);
    return all;
  }
};

inline Loop::Callbacks noted_in(Diary& diary) {
  Loop::Callbacks callbacks;
  callbacks.observers = {diary.observer()};
  callbacks.evaluate = [] { return record::Evaluated{}; };
  return callbacks;
}

}  // namespace sagips::testing
