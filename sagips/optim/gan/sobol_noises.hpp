#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "sagips/env/environment.hpp"
#include "sagips/env/noise/noise.hpp"

namespace sagips::optim {

/// The Sobol points of a training: another scramble for every epoch, step and channel, made when a
/// tile first asks and shared by the epoch's other tiles. May be asked from several threads.
class SobolNoises {
 public:
  /// events: of each parameter sample. Plays a small batch to learn how many numbers an event
  /// takes.
  /// throws: what Pipeline::check throws
  SobolNoises(const env::Environment& environment, std::int64_t events, std::uint64_t seed);

  std::shared_ptr<const env::NoiseSource> operator()(const std::string& step, std::size_t channel,
                                                     std::uint32_t epoch);

 private:
  struct Made {
    std::uint32_t epoch = 0;  // epochs count from 1
    std::shared_ptr<const env::NoiseSource> source;
  };
  std::vector<std::string> channels_;
  std::vector<std::int64_t> dimensions_;
  std::int64_t events_;
  std::uint64_t seed_;
  std::mutex mutex_;
  std::map<std::pair<std::string, std::size_t>, Made> made_;
};

}  // namespace sagips::optim
