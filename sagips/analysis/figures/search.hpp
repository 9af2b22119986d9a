#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sagips/analysis/figure.hpp"

namespace sagips::analysis {

/// A setting that the trials of a search differ in.
struct SearchedKey {
  std::string name;
  bool log = false, whole = false;
  std::vector<std::string> values{};  ///< empty: numbers
  double importance = 0, error = 0;   ///< share of the metric's variance that is lost without it
};

/// A trial with a metric. settings: by key, the number or that of the value; NaN: it does not count
struct SearchedTrial {
  std::int64_t number = 0;
  double value = 0;
  bool ended_early = false;
  std::vector<double> settings{};
};

/// What a search over settings has tried.
struct SearchedSettings {
  std::string metric;
  bool maximise = false;
  std::vector<SearchedKey> keys{};
  std::vector<SearchedTrial> trials{};  ///< in their order
};

/// The metric of each trial, and the best so far.
Figure search_history(const SearchedSettings& search);
/// Which setting matters most.
struct LeadingSetting {
  std::string answer, reason;  ///< "20 trials do not settle it", and why; or the setting's name
  bool is_settled = false;  ///< its importance is above 0, and above the next one's, by two errors
};
/// For two settings or more.
LeadingSetting leading_setting(const SearchedSettings& search);
/// How much each setting matters, the most first.
Figure search_importance(const SearchedSettings& search);
/// The metric against each setting.
Figure search_slices(const SearchedSettings& search);
/// The trials by the settings that matter most, two and two; the best fifth in colour.
Figure search_pairs(const SearchedSettings& search);

}  // namespace sagips::analysis
