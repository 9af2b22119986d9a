#pragma once
// For sources of this layer only: no public header shows the JSON library.
#include <concepts>
#include <exception>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "sagips/core/error.hpp"
#include "sagips/core/log.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/event.hpp"

namespace sagips::record {

using Json = nlohmann::ordered_json;  // keeps the order in which keys were added

// A record lists its members once for both directions, in a template `each_field(record, use)` that
// stands in this namespace itself (in an unnamed one it would not be found). It calls
//   use(key, member)         for what every file holds
//   use.later(key, member)   for what older files lack
//   use.known(key, member)   for what is left out where it is empty
//   use.either(is_first, key, other, member)   for what is written by the one key or the other
//   use.named(name, rest, member)              for a key that begins with another member

/// A record to be read, or a constant one to be written.
template <class Given, class Record>
concept Either = std::same_as<std::remove_const_t<Given>, Record>;

void each_field(Either<TimeSplit> auto& split, const auto& use) {
  for (const TimePart& part : time_parts) use(part.name, split.*part.seconds);
}

/// JSON has no NaN: the library writes null for it.
inline double number(const Json& value) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

template <class Value>
Json json_of(const Value& value) {
  return value;
}

inline Json json_of(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

inline Json json_of(const std::vector<NamedNumber>& numbers) {
  Json object = Json::object();
  for (const NamedNumber& entry : numbers) object[entry.name] = entry.value;
  return object;
}

inline Json json_of(const std::vector<core::Warning>& warnings) {
  Json list = Json::array();
  for (const core::Warning& one : warnings)
    list.push_back({{"code", one.code}, {"text", one.text}});
  return list;
}

class FieldWriter {
 public:
  explicit FieldWriter(Json& object) : object_(object) {}
  template <class Value>
  void operator()(const char* key, const Value& value) const {
    object_[key] = json_of(value);
  }
  template <class Value>
  void later(const char* key, const Value& value) const {
    object_[key] = json_of(value);
  }
  template <class Value>
  void known(const char* key, const Value& value) const {
    if (const Json json = json_of(value); !json.empty()) object_[key] = json;
  }
  template <class Value>
  void either(bool is_first, const char* key, const char* other, const Value& value) const {
    (*this)(is_first ? key : other, value);
  }
  template <class Value>
  void named(const std::string& name, const char* rest, const Value& value) const {
    object_[name + rest] = json_of(value);
  }

 private:
  Json& object_;
};

template <class Record>
concept Described = requires(const Record& record, const FieldWriter& use) {
  each_field(record, use);
};

template <Described Record>
Json json_of(const Record& record) {
  Json object = Json::object();
  each_field(record, FieldWriter(object));
  return object;
}

template <Described Record>
Json json_of(const std::optional<Record>& record) {
  return record ? json_of(*record) : Json(nullptr);
}

template <Described Record>
Json json_of(const std::vector<Record>& records) {
  Json list = Json::array();
  for (const Record& record : records) list.push_back(json_of(record));
  return list;
}

template <class Value>
void read_into(Value& value, const Json& json) {
  json.get_to(value);
}

inline void read_into(double& value, const Json& json) { value = number(json); }

inline void read_into(std::optional<double>& value, const Json& json) {
  if (!json.is_null()) value = json.get<double>();
}

inline void read_into(std::vector<double>& values, const Json& list) {
  for (const Json& one : list) values.push_back(number(one));
}

inline void read_into(std::vector<NamedNumber>& numbers, const Json& object) {
  for (const auto& [name, value] : object.items()) numbers.push_back({name, number(value)});
}

inline void read_into(std::vector<core::Warning>& warnings, const Json& list) {
  for (const Json& one : list)
    if (one.is_object())
      warnings.push_back({one.at("code"), one.at("text")});
    else  // older files hold the text alone
      warnings.push_back({"", one});
}

class FieldReader {
 public:
  explicit FieldReader(const Json& object) : object_(object) {}
  template <class Value>
  void operator()(const char* key, Value& value) const {
    read_into(value, object_.at(key));
  }
  template <class Value>
  void later(const char* key, Value& value) const {
    if (object_.contains(key)) read_into(value, object_.at(key));
  }
  template <class Value>
  void known(const char* key, Value& value) const {
    later(key, value);
  }
  void known(const char* key, std::optional<double>& value) const {
    if (object_.contains(key)) value = number(object_.at(key));
  }
  template <class Value>
  void either(bool, const char* key, const char* other, Value& value) const {
    (*this)(object_.contains(key) ? key : other, value);
  }
  template <class Value>
  void named(std::string& name, const std::string& rest, Value& value) const {
    for (const auto& [key, content] : object_.items())
      if (key.ends_with(rest)) {
        name = key.substr(0, key.size() - rest.size());
        return read_into(value, content);
      }
    (*this)((name + rest).c_str(), value);  // which says that it is missing
  }

 private:
  const Json& object_;
};

template <Described Record>
void read_into(Record& record, const Json& object) {
  each_field(record, FieldReader(object));
}

template <Described Record>
void read_into(std::optional<Record>& record, const Json& object) {
  if (!object.is_null()) read_into(record.emplace(), object);
}

template <Described Record>
void read_into(std::vector<Record>& records, const Json& list) {
  for (const Json& one : list) read_into(records.emplace_back(), one);
}

/// The text of a file. Bytes that are no UTF-8 are replaced, not refused: messages may carry some.
inline std::string file_text(const Json& json, int indentation) {
  return json.dump(indentation, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// Reads a record from the text of a file. what: "is no study"; remedy: a sentence. throws: DataError
template <Described Record>
Record parse_record(const std::string& content, const std::string& path, const std::string& what,
                    const std::string& remedy) {
  try {
    Record record;
    read_into(record, Json::parse(content));
    return record;
  } catch (const std::exception& problem) {
    throw core::DataError(path, core::text(what, " (", problem.what(), "). ", remedy));
  }
}

}  // namespace sagips::record
