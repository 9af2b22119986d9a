#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace sagips::record {

struct NamedNumber {
  std::string name;
  double value = 0;
};

/// One parameter as a run sees it at an evaluation; physical units.
struct ParameterState {
  std::string name, unit;
  std::optional<double> truth;  ///< when known (closure test)
  bool fixed = false;
  double value = 0;   ///< mean over noise vectors, eq. (7) of the SAGIPS paper with one network
  double spread = 0;  ///< standard deviation over noise vectors: not an error of the parameter
  std::optional<double> residual;  ///< eq. (6): (truth - value) / truth
};

struct RunStarted {
  std::string workload, folder;
  std::int64_t epochs = 0;  ///< 0: limited by time only
  double minutes = 0;       ///< 0: limited by epochs only
};
struct EpochDone {
  std::int64_t epoch = 0;        ///< counts from 1
  double time_s = 0;             ///< accumulated training time
  double events_per_second = 0;  ///< synthetic events analysed, eq. (9) with one rank
  std::vector<NamedNumber>
      losses;  ///< divided by their equilibrium value: 1 when both networks are even
};
struct Evaluated {
  std::int64_t epoch = 0;
  double time_s = 0;
  std::vector<ParameterState> parameters;
  std::vector<NamedNumber> distances;  ///< between held-out and synthetic events
};
struct Warning {
  std::int64_t epoch = 0;
  std::string message;
};
struct RunFinished {
  std::int64_t epochs = 0;
  double time_s = 0;
  std::string reason;    ///< "all epochs done", "time limit", "early stop: ...", "interrupted"
  bool complete = true;  ///< false: stopped early with a usable state
};

using Event = std::variant<RunStarted, EpochDone, Evaluated, Warning, RunFinished>;

/// Whoever wants to know what happens in a run: metrics, progress, early stop.
using Observer = std::function<void(const Event&)>;

}  // namespace sagips::record
