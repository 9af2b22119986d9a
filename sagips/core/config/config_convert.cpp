#include "sagips/core/config/config_convert.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::core {
namespace {

using Kind = ConfigValue::Kind;

[[noreturn]] void refuse(const ConfigValue& found, const std::string& key,
                         const std::string& wanted) {
  const std::string quote = found.quoted ? "'" : "";
  std::string problem;
  switch (found.kind) {
    case Kind::none:
      problem = " has no value, it must be ";
      break;
    case Kind::list:
      problem = " is a list, it must be ";
      break;
    case Kind::group:
      problem = " is a group of keys, it must be ";
      break;
    case Kind::scalar:
      problem = text(" = ", quote, excerpt(found.scalar), quote, " is not ");
      break;
  }
  throw ConfigError(found.where, text(key, problem, wanted, "."));
}

// A quoted scalar is a text, whatever stands between the quotes.
bool is_word(const ConfigValue& found) { return found.kind == Kind::scalar && !found.quoted; }

void check_range(const ConfigValue& found, const std::string& key, double number,
                 const Range& range) {
  if (range.contains(number)) return;
  const std::string allowed = range.text();
  throw ConfigError(found.where, text(key, " = ", found.scalar, " is out of range (",
                                      allowed.empty() ? "a finite number" : allowed, ")"));
}

// "100000" and "1e5" alike; beyond 2^53 only the first form is exact.
bool parse_whole(std::string_view word, std::int64_t& result) {
  if (word.starts_with('+')) word.remove_prefix(1);
  const auto end = std::from_chars(word.data(), word.data() + word.size(), result);
  if (end.ec == std::errc{} && end.ptr == word.data() + word.size()) return true;
  constexpr double exact_below = 9007199254740992.0;
  double number = 0.0;
  if (!parse_number(word, number) || number != std::floor(number)) return false;
  if (!(std::abs(number) <= exact_below)) return false;
  result = static_cast<std::int64_t>(number);
  return true;
}

template <class Item>
void read_items(const ConfigValue& found, const std::string& key, const Range& range,
                std::vector<Item>& result) {
  if (found.kind == Kind::scalar && !found.scalar.empty()) {  // a list of one
    result.resize(1);
    return read_value(found, key, range, result[0]);
  }
  if (found.kind != Kind::list) refuse(found, key, "a list, such as [a, b]");
  result.clear();
  for (const ConfigValue& item : found.items) {
    Item value{};
    read_value(item, text(key, "[", result.size(), "]"), range, value);
    result.push_back(std::move(value));
  }
}

bool needs_no_quotes(const std::string& value) {
  const auto is_safe = [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || letter == '_' || letter == '/' || letter == '.';
  };
  // The spellings of null are the only plain words that do not come back as text; "..." ends a
  // document.
  std::string lower = value;
  for (char& letter : lower)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  return !value.empty() && lower != "null" && !value.starts_with('.') &&
         std::all_of(value.begin(), value.end(), is_safe);
}

template <class Item>
std::string written_items(const std::vector<Item>& values) {
  std::vector<std::string> items;
  items.reserve(values.size());
  for (const Item& value : values) items.push_back(written(value));
  return text("[", join(items, ", "), "]");
}

}  // namespace

void read_value(const ConfigValue& found, const std::string& key, const Range&, bool& result) {
  if (!is_word(found) || (found.scalar != "true" && found.scalar != "false"))
    refuse(found, key, "true or false");
  result = found.scalar == "true";
}

void read_value(const ConfigValue& found, const std::string& key, const Range& range,
                double& result) {
  if (!is_word(found) || !parse_number(found.scalar, result)) refuse(found, key, "a number");
  check_range(found, key, result, range);
}

void read_value(const ConfigValue& found, const std::string& key, const Range& range,
                std::int64_t& result) {
  if (!is_word(found) || !parse_whole(found.scalar, result)) refuse(found, key, "a whole number");
  check_range(found, key, static_cast<double>(result), range);
}

void read_value(const ConfigValue& found, const std::string& key, const Range&,
                std::string& result) {
  if (found.kind == Kind::none) refuse(found, key, "a text ('' for an empty one)");
  if (found.kind != Kind::scalar) refuse(found, key, "a text");
  result = found.scalar;
}

void read_value(const ConfigValue& found, const std::string& key, const Range& range,
                std::optional<double>& result) {
  if (found.kind == Kind::none) return result.reset();
  double number = 0.0;
  if (!is_word(found) || !parse_number(found.scalar, number))
    refuse(found, key, "a number or null");
  check_range(found, key, number, range);
  result = number;
}

void read_value(const ConfigValue& found, const std::string& key, const Range& range,
                std::vector<double>& result) {
  read_items(found, key, range, result);
}

void read_value(const ConfigValue& found, const std::string& key, const Range& range,
                std::vector<std::int64_t>& result) {
  read_items(found, key, range, result);
}

void read_value(const ConfigValue& found, const std::string& key, const Range& range,
                std::vector<std::string>& result) {
  read_items(found, key, range, result);
}

void read_value(const ConfigValue& found, const std::string& key, const Range& range,
                std::map<std::string, double>& result) {
  if (found.kind != Kind::group && found.kind != Kind::none)
    refuse(found, key, "a group of named numbers");
  result.clear();
  for (const auto& [name, item] : found.members)
    read_value(item, text(key, ".", name), range, result[name]);
}

std::string read_choice(const ConfigValue& found, const std::string& key,
                        const std::vector<std::string>& words) {
  const bool known = found.kind == Kind::scalar &&
                     std::find(words.begin(), words.end(), found.scalar) != words.end();
  if (!known) refuse(found, key, text("one of ", join(words, ", ")));
  return found.scalar;
}

std::string written(const std::string& value) {
  if (needs_no_quotes(value)) return value;
  constexpr const char* digits = "0123456789abcdef";
  std::string quoted = "\"";
  for (const char letter : value) {
    const auto code = static_cast<unsigned char>(letter);
    if (letter == '"' || letter == '\\') quoted += '\\';
    if (code < 0x20 || code == 0x7f)
      quoted += text("\\x", digits[code >> 4], digits[code & 15]);
    else
      quoted += letter;
  }
  return quoted + "\"";
}

std::string written(bool value) { return value ? "true" : "false"; }
std::string written(std::int64_t value) { return std::to_string(value); }
std::string written(double value) { return round_trip(value); }
std::string written(const std::optional<double>& value) { return value ? written(*value) : "null"; }
std::string written(const std::vector<double>& values) { return written_items(values); }
std::string written(const std::vector<std::int64_t>& values) { return written_items(values); }
std::string written(const std::vector<std::string>& values) { return written_items(values); }

std::string written(const std::map<std::string, double>& values) {
  std::vector<std::string> items;
  items.reserve(values.size());
  for (const auto& [name, value] : values) items.push_back(written(name) + ": " + written(value));
  return text("{", join(items, ", "), "}");
}

}  // namespace sagips::core
