#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sagips/optim/search/search_space.hpp"
#include "sagips/study/tune/tune_config.hpp"

namespace sagips::study {

/// Between points of the unit cube and settings of a training.
class SettingSpace {
 public:
  /// throws: ConfigError for keys twice, empty ranges, and conditions on what is not there, comes later
  /// or has no values
  explicit SettingSpace(const std::vector<TunedKey>& keys);

  const optim::SearchSpace& space() const { return space_; }
  const std::vector<std::string>& keys() const { return keys_; }
  /// "optimizer.learning_rate=0.001" of each key that counts.
  std::vector<std::string> settings(const optim::Point& point) const;
  /// The point of such settings. Nothing where a key that counts has no value in its range.
  std::optional<optim::Point> point(const std::vector<std::string>& settings) const;
  /// The value of one key, as it is written.
  std::string value(const optim::Point& point, std::size_t key) const;
  /// Settings that together have every value and the ends of every range, and a place between these,
  /// where they count.
  std::vector<std::vector<std::string>> examples() const;
  /// A change by population-based training: numbers multiplied or divided, a neighbour among values.
  /// up: which of both
  double changed(const optim::Point& point, std::size_t key, double factor, bool up) const;

 private:
  void add_condition(const TunedKey& key, const std::string& place,
                     const std::vector<optim::SearchDimension>& dimensions,
                     optim::SearchDimension& dimension) const;
  double number(double unit, const TunedKey& key) const;
  std::optional<double> unit(const std::string& value, const TunedKey& key) const;

  std::vector<TunedKey> tuned_;
  std::vector<std::string> keys_;
  optim::SearchSpace space_;
};

}  // namespace sagips::study
