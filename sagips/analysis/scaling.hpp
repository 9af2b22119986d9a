#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sagips::analysis {

/// What the time of a rank goes into.
inline constexpr std::array<const char*, 6> time_part_names{"compute", "exchange", "idle",
                                                            "update",  "loading",  "other"};
/// In that order [s], or as shares.
using TimeParts = std::array<double, time_part_names.size()>;

/// One way of training on so many ranks, measured or simulated: a row of scaling.csv. What is not known is
/// empty. An epoch is a mean one without the first, where there are several.
struct ScalingRow {
  using Number = std::optional<double>;

  std::string study{};    ///< the folder of another study; empty: this one
  std::string variant{};  ///< "ring, 4 ranks"
  std::string series{};   ///< as other numbers of ranks: "ring"; empty: of no such series
  bool simulated = false;
  std::int64_t ranks = 1, batch = 0;    ///< batch: of a rank in a step
  std::string rates{};                  ///< how the learning rate follows the batch
  std::int64_t members = 0;             ///< trainings that differ by their seeds
  Number time_s{}, time_s_deviation{};  ///< of a whole training; over members
  Number events_per_second{}, events_per_second_deviation{};  ///< over a whole training
  Number epoch_s{}, epoch_s_deviation{}, first_epoch_s{};
  Number rows{}, rows_per_second{};  ///< events or rows of all ranks: an epoch, a second of it
  Number speed_up{}, speed_up_deviation{}, efficiency{};  ///< against one rank
  Number step_s{}, step_s_spread{},
      step_s_maximum{};                     ///< mean, deviation over steps, longest of all
  std::optional<TimeParts> parts_s{};       ///< of an epoch, mean over ranks; they add up to it
  Number memory_MB{}, memory_MB_maximum{};  ///< of a rank: mean and largest
  Number messages{}, megabytes{};           ///< sent by all ranks, an epoch
  Number metric{}, metric_deviation{};      ///< at the end
  Number target_s{}, target_epochs{};       ///< of the members that came to the target
  Number distance{}, spread{};              ///< to the truth at the end, of the ensemble of members
  std::int64_t at_target = 0;               ///< how many did
  Number cost{}, energy_Wh{};               ///< of a training

  /// Other than the simulated ones: what speed-up is relative to.
  bool is_one_rank() const { return !simulated && ranks == 1 && !series.empty(); }
};

/// Fills in rates, speed-up and efficiency against the row of one rank of the same study; empty where that is
/// missing. Simulated ranks are compared with one that computes as long as they do: compute_s.
void compare_with_one_rank(std::vector<ScalingRow>& rows, double compute_s);

/// What a row has lost of the efficiency to each part against one rank; the sum is 1 - efficiency. Negative: it
/// takes less there. Empty where the parts of either are not known.
std::optional<TimeParts> lost_parts(const ScalingRow& row, const std::vector<ScalingRow>& rows);

/// "ring, 4 ranks: speed-up 2.3 of 4; of the 43 % lost, 31 are exchange, 9 idle, 3 loading": a line for the most
/// ranks of each series, then what two studies differ by at equal ranks.
std::string losses_text(const std::vector<ScalingRow>& rows);

/// What tables and figures call things.
struct ScalingWords {
  std::string unit = "rows";
  std::string metric;  ///< "loss"
  bool higher_is_better = false;
  std::optional<double> target{};  ///< of the metric
};

/// Tables of speed and steps, the split of an epoch and the losses, one below the other.
std::string speed_tables(const std::vector<ScalingRow>& rows, const std::string& unit);

/// Those of accuracy, cost and the batch study, and the same.
std::string scaling_tables(const std::vector<ScalingRow>& rows, const ScalingWords& words);

void write_scaling_rows(const std::string& path, const std::vector<ScalingRow>& rows);
/// throws: DataError for a file that is none of these
std::vector<ScalingRow> read_scaling_rows(const std::string& path);

/// Efficiencies that others have published, relative to the first number of ranks that they measured.
struct PublishedScaling {
  std::string label;
  std::vector<double> ranks, efficiency;
};
/// Names of sets of these that `published_scaling` knows.
std::vector<std::string> known_published();
/// The curves of a set, or of a .csv file with columns label, ranks and efficiency.
/// throws: ConfigError for an unknown set, DataError for a file
std::vector<PublishedScaling> published_scaling(const std::string& name_or_file);

}  // namespace sagips::analysis
