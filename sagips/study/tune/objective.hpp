#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sagips/core/config/config_convert.hpp"

namespace sagips::study {

/// What a search may try in place of trainings: a problem that is one, too, is called where it would be trained, once
/// for each seed of a trial. What its trials differ in are names of its own and no keys of a config: it reads them as
/// a list of texts, `settings: ["rate=0.1"]`.
class Objective {
 public:
  struct Call {
    std::uint64_t seed;
    std::string folder;  ///< its own, there and empty, or as an interrupted call has left it
    /// Tells how good it is on the way. false: it is to end.
    std::function<bool(double value, double epoch)> report;
    /// Whether it is to end without a value, so that it is called again later; to be asked often, by any thread.
    std::function<bool()> stop;
  };
  Objective() = default;
  Objective(const Objective&) = delete;
  Objective& operator=(const Objective&) = delete;
  virtual ~Objective() = default;
  /// Returns its value; nothing where it has ended because it was to. throws: what it throws
  virtual std::optional<double> operator()(const Call& call) = 0;
};

/// What lays the settings of a trial over a config.
inline std::vector<std::string> assignments_of(bool is_objective,
                                               const std::vector<std::string>& settings) {
  if (!is_objective) return settings;
  return {"settings=" + core::written(settings)};
}

}  // namespace sagips::study
