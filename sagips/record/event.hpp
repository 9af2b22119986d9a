#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace sagips::record {

struct NamedNumber {
  std::string name;
  double value = 0;
};

/// Where a rank's time went since the run began [s].
struct TimeSplit {
  double total_s = 0;       ///< training: the sum of the six below
  double compute_s = 0;     ///< losses and gradients
  double exchange_s = 0;    ///< in the exchange's calls, waiting left out
  double idle_s = 0;        ///< waiting for ranks that had not begun the same call
  double update_s = 0;      ///< update rules, and what follows from new weights
  double loading_s = 0;     ///< rows, batches, noise
  double other_s = 0;       ///< what is left of the steps
  double evaluation_s = 0;  ///< beside the training: evaluations, checkpoints, records
};
struct TimePart {
  const char *name, *words;  ///< in files; for people
  double TimeSplit::*seconds;
};
/// All of them, in the order of files.
inline constexpr std::array time_parts{
    TimePart{"total_s", "training", &TimeSplit::total_s},
    TimePart{"compute_s", "computing", &TimeSplit::compute_s},
    TimePart{"exchange_s", "exchange", &TimeSplit::exchange_s},
    TimePart{"idle_s", "waiting for other ranks", &TimeSplit::idle_s},
    TimePart{"update_s", "updates", &TimeSplit::update_s},
    TimePart{"loading_s", "loading", &TimeSplit::loading_s},
    TimePart{"other_s", "other", &TimeSplit::other_s},
    TimePart{"evaluation_s", "evaluations, checkpoints and records", &TimeSplit::evaluation_s}};

/// How long the steps of a rank took. Where there are more epochs than one, all but `first_epoch_s` are
/// without the first.
struct StepTimes {
  std::int64_t count = 0;
  double mean_s = 0, spread_s = 0, maximum_s = 0;  ///< spread: standard deviation
  double first_epoch_s = 0;                        ///< its steps together
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
  double events_per_second = 0;  ///< synthetic events analysed, eq. (9) with one rank, or rows
  std::vector<NamedNumber>
      losses;  ///< divided by their equilibrium value: 1 when both networks are even
  std::vector<NamedNumber> learning_rates{};  ///< of this rank's last updates, by network
  std::string unit = "events";                ///< what is learned from: "events", "rows"
};
struct Evaluated {
  std::int64_t epoch = 0;
  double time_s = 0;
  std::vector<ParameterState> parameters;
  /// Distances between held-out and synthetic events, where there are parameters; else whatever the networks
  /// are judged by, on rows kept aside.
  std::vector<NamedNumber> metrics;
  /// With several ranks: `consensus_distance` (mean squared distance of the ranks' shared weights to
  /// their mean), `rank_spread <parameter>` (standard deviation of the prediction over ranks, mean
  /// over noise vectors; eq. (8) for an ensemble), `ranks_heard`, `oldest_report_epochs`. None of
  /// them is an error of a parameter.
  std::vector<NamedNumber> ranks{};
};
/// What an exchange has cost this rank since the run began.
struct Exchanged {
  std::int64_t epoch = 0;
  std::string subject;                              ///< whose gradients: "generator"
  std::string exchange;                             ///< what carries them
  std::int64_t calls = 0, messages = 0, bytes = 0;  ///< sent, or fetched one-sided
  double exposed_s = 0;                             ///< in its calls, less waiting
  double waiting_s = 0;                             ///< for ranks that had not begun the same call
  double hidden_s = 0;                              ///< under way while the rank computed
  double copying_s = 0;                             ///< from a GPU's memory and back to it
  std::int64_t used = 0, dropped = 0, missing = 0;  ///< one-sided contributions
  /// Age of the used ones [epochs]; of central weights [their updates], whose missing ones come later.
  double age_mean = 0, age_maximum = 0;
};
/// Where this rank's time went.
struct TimeSpent {
  std::int64_t epoch = 0;
  TimeSplit split{};
};
/// What this rank's process and its machine were busy with, in the mean since the last time that it was told.
struct MachineUse {
  std::int64_t epoch = 0;
  double cores = 0;                                 ///< processors that the process had
  double memory_mb = 0;                             ///< resident, of the process
  double received_mb_per_s = 0, sent_mb_per_s = 0;  ///< of the machine, loopback left out
  /// Of the machine: the mean over its GPUs, and of all together. Empty: there is none that can be asked.
  std::optional<double> gpu_percent{}, gpu_memory_mb{};
};
struct Warning {
  std::int64_t epoch = 0;
  std::string message;
};
/// Why a run ends. Files have the text alone.
struct StopReason {
  enum class Kind {
    none,  ///< it goes on, or was read from a file
    all_epochs,
    time_limit,
    early_stop,
    caller,  ///< whoever started it has asked for an end after an evaluation
    interrupted,
    failed
  };
  Kind kind = Kind::none;
  std::string text{};  ///< for people

  /// all_epochs, time_limit or interrupted, which have the same text each time.
  explicit StopReason(Kind of)
      : kind(of),
        text(of == Kind::all_epochs   ? "all epochs done"
             : of == Kind::time_limit ? "time limit"
                                      : "interrupted") {}
  /// Nothing is a reason without a text.
  StopReason(Kind of, std::string why)
      : kind(why.empty() ? Kind::none : of), text(std::move(why)) {}
  StopReason() = default;
  explicit operator bool() const { return kind != Kind::none; }
};
struct RunFinished {
  std::int64_t epochs = 0;
  double time_s = 0;
  StopReason reason{};
  bool complete = true;  ///< false: stopped early with a usable state
};

using Event = std::variant<RunStarted, EpochDone, Evaluated, Exchanged, Warning, RunFinished,
                           TimeSpent, MachineUse>;

/// Whoever wants to know what happens in a run: metrics, progress, early stop.
using Observer = std::function<void(const Event&)>;

}  // namespace sagips::record
