#pragma once
// For sources of this layer only: no public header shows the JSON library.
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "sagips/record/event.hpp"

namespace sagips::record {

using Json = nlohmann::ordered_json;  // keeps the order in which keys were added

/// JSON has no NaN: the library writes null for it.
inline double number(const Json& value) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

inline Json named_numbers_to_json(const std::vector<NamedNumber>& numbers) {
  Json object = Json::object();
  for (const NamedNumber& entry : numbers) object[entry.name] = entry.value;
  return object;
}

inline std::vector<NamedNumber> named_numbers_from_json(const Json& object) {
  std::vector<NamedNumber> numbers;
  for (const auto& [name, value] : object.items()) numbers.push_back({name, number(value)});
  return numbers;
}

}  // namespace sagips::record
