#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sagips/core/config/config.hpp"
#include "sagips/optim/search/searchers.hpp"

namespace sagips::study {

/// A config key that trials differ in, and what it may be: a range or a list of values.
struct TunedKey {
  std::string key;
  std::optional<double> low{}, high{};
  bool log = false;      ///< even on a logarithmic scale
  bool integer = false;  ///< whole numbers
  std::vector<std::string> values{};
  bool ordered = false;  ///< values that are neighbours are alike
  std::string when{};    ///< "network.kind=a|b": counts only where another key has such a value
  void fields(core::FieldList& list);
};

/// Which trials end before their time.
struct EarlyEndConfig {
  enum class Rule { none, halving, brackets, median };
  Rule rule = Rule::none;
  double first = 1;         ///< epochs before the first look
  std::int64_t factor = 3;  ///< one of so many goes on, for so many times the epochs
  std::int64_t brackets = 3;
  std::int64_t trials = 5;  ///< that the median is of, at least
  void fields(core::FieldList& list);
};

/// Population-based training.
struct PopulationConfig {
  std::int64_t members = 0;  ///< 0: none
  std::int64_t legs = 10;    ///< parts of a training, between which members are compared
  double share = 0.25;       ///< of the members, that give way to as many of the best
  double change = 1.2;       ///< what numbers are multiplied with or divided by
  double anew = 0.1;         ///< chance that a setting is drawn anew
  void fields(core::FieldList& list);
};

/// How `sagips tune` looks for settings.
struct TuneConfig {
  std::vector<TunedKey> space;
  std::string minimise, maximise;  ///< the metric; one of them
  std::int64_t trials = 50;
  double minutes = 0;  ///< 0: no limit
  std::optional<double> target{};
  std::int64_t folds = 1;
  std::int64_t seeds = 1;
  std::int64_t side_by_side = 1;
  std::string searcher = "auto";
  optim::SettingSearcherConfigs searchers;
  std::vector<std::string> points{};  ///< "a=1, b=2": tried first
  std::string warm_start{};           ///< folder of an earlier study
  EarlyEndConfig early_end;
  PopulationConfig population;
  std::int64_t ranks = 1;
  std::string launcher = "mpirun -n {ranks}";
  std::int64_t at_once = 0;
  double lease_s = 60;
  void fields(core::FieldList& list);

  const std::string& metric() const { return maximise.empty() ? minimise : maximise; }
  /// Smaller where it is better.
  double score(double value) const { return maximise.empty() ? value : -value; }
  /// Trainings of a trial: folds or seeds.
  std::int64_t trainings() const { return folds > 1 ? folds : seeds; }
  std::int64_t ranks_of_training() const { return ranks / side_by_side; }
  std::int64_t all_trials() const {
    return population.members > 0 ? population.members * population.legs : trials;
  }
  /// throws: ConfigError for what contradicts itself
  void check() const;

 private:
  void searcher_fields(core::FieldList& list);
};

}  // namespace sagips::study
