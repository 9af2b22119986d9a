#include "sagips/study/tune/setting_space.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::study {

namespace {

using core::ConfigError;
using core::text;

constexpr double most_values = 64;               // whole numbers beyond are a continuous range
constexpr double most_whole = 9007199254740992;  // beyond, not every one is there
constexpr int fewest_digits = 4;                 // of a setting
constexpr double places = 1e3;                   // of a range, that can be told from each other

bool has_values(const TunedKey& key) { return !key.values.empty(); }

// Whether each whole number is a value of its own.
bool is_counted(const TunedKey& key) {
  return key.integer && !key.log && *key.high - *key.low < most_values;
}

void check_range(const TunedKey& key, const std::string& place) {
  if (has_values(key)) {
    if (key.low || key.high || key.log || key.integer)
      throw ConfigError(place, text("'", key.key, "' has values and a range. Keep one of them."));
    if (std::set<std::string>(key.values.begin(), key.values.end()).size() < key.values.size())
      throw ConfigError(place,
                        text("'", key.key, "' has a value that is there twice. Keep one of them."));
    return;
  }
  if (!key.low || !key.high)
    throw ConfigError(place, text("'", key.key, "' needs low and high, or values."));
  if (!(*key.low < *key.high))
    throw ConfigError(place, text("the range of '", key.key, "' is empty (", *key.low, " .. ",
                                  *key.high, "). Set low below high."));
  if (key.log && !(*key.low > 0))
    throw ConfigError(place, text("'", key.key, "' has no logarithm at ", *key.low,
                                  ". Begin above 0, or leave log out."));
  if (key.integer && std::max(std::abs(*key.low), std::abs(*key.high)) > most_whole)
    throw ConfigError(
        place, text("the whole numbers of '", key.key, "' go beyond 2^53. Narrow the range."));
  if (key.integer && (*key.low != std::floor(*key.low) || *key.high != std::floor(*key.high)))
    throw ConfigError(place, text("'", key.key,
                                  "' is of whole numbers, and its range does not "
                                  "begin and end with one. Round low and high."));
}

int digits_of(const TunedKey& key) {
  const double largest = std::max(std::abs(*key.low), std::abs(*key.high));
  const double step =
      key.log ? std::log(*key.high / *key.low) : (*key.high - *key.low) / largest;  // relative
  return std::max(fewest_digits, static_cast<int>(std::ceil(std::log10(places / step))));
}

std::string written(double number, const TunedKey& key) {
  if (key.integer) return text(static_cast<std::int64_t>(std::llround(number)));
  const double rounded = std::stod(core::significant(number, digits_of(key)));
  return core::round_trip(std::clamp(rounded, *key.low, *key.high));
}

// What a key of so many values may be, as words.
std::vector<std::string> values_of(const TunedKey& key, std::int64_t count) {
  if (has_values(key)) return key.values;
  std::vector<std::string> values;
  for (std::int64_t v = 0; v < count; ++v)
    values.push_back(text(static_cast<std::int64_t>(*key.low) + v));
  return values;
}

}  // namespace

// dimensions: of the keys before this one
void SettingSpace::add_condition(const TunedKey& key, const std::string& place,
                                 const std::vector<optim::SearchDimension>& dimensions,
                                 optim::SearchDimension& dimension) const {
  const auto equals = key.when.find('=');
  const std::string parent = core::trim(key.when.substr(0, equals));
  if (parent == key.key)
    throw ConfigError(place, text("'", key.key, "' depends on itself. Name another key."));
  const auto found = std::find(keys_.begin(), keys_.end(), parent);
  if (found == keys_.end() || equals == std::string::npos)
    throw ConfigError(place, text("when: '", core::excerpt(key.when),
                                  "' is no KEY=VALUE|VALUE of a key before this one",
                                  core::suggestion(parent, keys_)));
  const auto number = static_cast<std::size_t>(found - keys_.begin());
  dimension.parent = number;
  if (dimensions[number].values == 0)
    throw ConfigError(place, text("when: '", parent,
                                  "' is a range, of which no value can be "
                                  "named. Give it `values`."));
  const std::vector<std::string> known = values_of(tuned_[number], dimensions[number].values);
  for (const std::string& one : core::split(key.when.substr(equals + 1), '|')) {
    const std::string value = core::trim(one);
    const auto at = std::find(known.begin(), known.end(), value);
    if (at == known.end())
      throw ConfigError(place, text("when: '", parent, "' is never '", core::excerpt(value), "'",
                                    core::suggestion(value, known)));
    dimension.counts_at.push_back(at - known.begin());
  }
}

SettingSpace::SettingSpace(const std::vector<TunedKey>& keys) : tuned_(keys) {
  std::vector<optim::SearchDimension> dimensions;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const TunedKey& key = keys[i];
    const std::string place = text("tune.space.", i);
    if (key.key.empty()) throw ConfigError(place, "has no key. Name the key that it is about.");
    if (std::find(keys_.begin(), keys_.end(), key.key) != keys_.end())
      throw ConfigError(place, text("'", key.key, "' is there twice. Keep one of them."));
    check_range(key, place);
    optim::SearchDimension dimension;
    if (has_values(key)) {
      dimension.values = static_cast<std::int64_t>(key.values.size());
      dimension.ordered = key.ordered;
    } else if (is_counted(key)) {
      dimension.values = static_cast<std::int64_t>(*key.high - *key.low) + 1;
    }
    if (!key.when.empty()) add_condition(key, place, dimensions, dimension);
    keys_.push_back(key.key);
    dimensions.push_back(std::move(dimension));
  }
  space_ = optim::SearchSpace(std::move(dimensions));
}

double SettingSpace::number(double unit, const TunedKey& key) const {
  const double low = key.log ? std::log(*key.low) : *key.low;
  const double high = key.log ? std::log(*key.high) : *key.high;
  if (is_counted(key)) return low + std::floor(unit * (high - low + 1));
  const double at = low + unit * (high - low);
  return key.log ? std::exp(at) : at;
}

std::string SettingSpace::value(const optim::Point& point, std::size_t key) const {
  const TunedKey& tuned = tuned_[key];
  if (has_values(tuned)) return tuned.values[static_cast<std::size_t>(space_.value(point, key))];
  return written(number(point[key], tuned), tuned);
}

std::vector<std::string> SettingSpace::settings(const optim::Point& point) const {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < keys_.size(); ++i)
    if (space_.counts(point, i)) all.push_back(text(keys_[i], "=", value(point, i)));
  return all;
}

std::optional<double> SettingSpace::unit(const std::string& value, const TunedKey& key) const {
  if (has_values(key)) {
    const auto found = std::find(key.values.begin(), key.values.end(), value);
    if (found == key.values.end()) return {};
    return (static_cast<double>(found - key.values.begin()) + 0.5) /
           static_cast<double>(key.values.size());
  }
  double at = 0;
  constexpr double rounding = 1e-3;  // of a setting that was written
  if (!core::parse_number(value, at)) return {};
  const double slack = rounding * std::abs(at);
  if (at < *key.low - slack || at > *key.high + slack) return {};
  at = std::clamp(at, *key.low, *key.high);
  if (is_counted(key)) return (at - *key.low + 0.5) / (*key.high - *key.low + 1);
  const double share = key.log ? std::log(at / *key.low) / std::log(*key.high / *key.low)
                               : (at - *key.low) / (*key.high - *key.low);
  return std::clamp(share, 1e-6, 1 - 1e-6);
}

std::optional<optim::Point> SettingSpace::point(const std::vector<std::string>& settings) const {
  optim::Point point(keys_.size(), 0.5);
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    if (!space_.counts(point, i)) continue;
    std::optional<double> found;
    for (const std::string& setting : settings)
      if (setting.rfind(keys_[i] + "=", 0) == 0)
        found = unit(setting.substr(keys_[i].size() + 1), tuned_[i]);
    if (!found) return {};
    point[i] = *found;
  }
  return space_.placed(std::move(point));
}

std::vector<std::vector<std::string>> SettingSpace::examples() const {
  constexpr double end = 1e-9;
  std::vector<std::vector<std::string>> all;
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    std::vector<double> options = {end, 0.37, 1 - end};  // within, too: it may have to be whole
    const auto values = static_cast<double>(tuned_[i].values.size());
    if (values > 0) options.clear();
    for (std::size_t v = 0; v < tuned_[i].values.size(); ++v)
      options.push_back((static_cast<double>(v) + 0.5) / values);
    optim::Point point(keys_.size(), 0.5);
    for (std::size_t child = i; space_[child].parent; child = *space_[child].parent) {
      const std::size_t parent = *space_[child].parent;
      point[parent] = (static_cast<double>(space_[child].counts_at.front()) + 0.5) /
                      static_cast<double>(space_[parent].values);
    }
    for (const double option : options) {
      point[i] = option;
      all.push_back(settings(point));
    }
  }
  return all;
}

double SettingSpace::changed(const optim::Point& point, std::size_t key, double factor,
                             bool up) const {
  const TunedKey& tuned = tuned_[key];
  if (has_values(tuned) || is_counted(tuned)) {
    const double step = 1 / static_cast<double>(space_[key].values);
    return std::clamp(point[key] + (up ? step : -step), 0.5 * step, 1 - 0.5 * step);
  }
  const double at = number(point[key], tuned);
  return *unit(
      core::round_trip(std::clamp(up ? at * factor : at / factor, *tuned.low, *tuned.high)), tuned);
}

}  // namespace sagips::study
