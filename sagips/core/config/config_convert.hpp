#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sagips/core/config/config.hpp"
#include "sagips/core/config/config_value.hpp"

namespace sagips::core {

// Values of fields from a config. Each overload throws a ConfigError with place, dotted key and
// what is allowed, or leaves in `result` a value that may be assigned. `range` holds for each
// number.
void read_value(const ConfigValue& found, const std::string& key, const Range&, bool& result);
void read_value(const ConfigValue& found, const std::string& key, const Range&, double& result);
void read_value(const ConfigValue& found, const std::string& key, const Range&,
                std::int64_t& result);
void read_value(const ConfigValue& found, const std::string& key, const Range&,
                std::string& result);
void read_value(const ConfigValue& found, const std::string& key, const Range&,
                std::optional<double>& result);
void read_value(const ConfigValue& found, const std::string& key, const Range&,
                std::vector<double>& result);
void read_value(const ConfigValue& found, const std::string& key, const Range&,
                std::vector<std::int64_t>& result);
void read_value(const ConfigValue& found, const std::string& key, const Range&,
                std::vector<std::string>& result);
void read_value(const ConfigValue& found, const std::string& key, const Range&,
                std::map<std::string, double>& result);

/// The word, if it is one of `words`; else a ConfigError that lists them.
std::string read_choice(const ConfigValue& found, const std::string& key,
                        const std::vector<std::string>& words);

// Values as YAML on one line; read_value gives back the same value.
std::string written(bool value);
std::string written(double value);
std::string written(std::int64_t value);
std::string written(const std::string& value);
std::string written(const std::optional<double>& value);
std::string written(const std::vector<double>& values);
std::string written(const std::vector<std::int64_t>& values);
std::string written(const std::vector<std::string>& values);
std::string written(const std::map<std::string, double>& values);

}  // namespace sagips::core
