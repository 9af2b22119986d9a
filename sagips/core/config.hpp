#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sagips::core {

/// Which numbers a field accepts. Bounds are included unless `open_*` says otherwise; non-finite
/// numbers never pass.
struct Range {
  double lowest = -std::numeric_limits<double>::infinity();
  double highest = std::numeric_limits<double>::infinity();
  bool open_lowest = false;
  bool open_highest = false;
  std::string text() const;  ///< "> 0", "0 .. 1", empty when everything passes
  bool contains(double value) const;

  static Range positive() { return {0.0, std::numeric_limits<double>::infinity(), true, false}; }
  static Range at_least(double lowest) {
    return {lowest, std::numeric_limits<double>::infinity(), false, false};
  }
  static Range between(double lowest, double highest) { return {lowest, highest, false, false}; }
};

class FieldList;

/// A struct whose members are listed once, in `void fields(FieldList&)`: that list reads it, writes
/// it and explains it.
template <class T>
concept Described = requires(T value, FieldList& list) {
  value.fields(list);
};

/// The one list of a config struct's fields. Everything that handles configs walks it, so nothing
/// can be forgotten.
///
///   struct AdamConfig {
///     double learning_rate = 1e-4;
///     void fields(core::FieldList& list) {
///       list.add("learning_rate", learning_rate, "step size of Adam", core::Range::positive());
///     }
///   };
///
/// The help text says unit and source where there is one ("GeV", "SAGIPS paper, Sec. VI").
class FieldList {
 public:
  FieldList();
  ~FieldList();
  FieldList(FieldList&&) noexcept;
  FieldList& operator=(FieldList&&) noexcept;

  void add(std::string name, bool& value, std::string help);
  void add(std::string name, std::int64_t& value, std::string help, Range range = {});
  void add(std::string name, double& value, std::string help, Range range = {});
  void add(std::string name, std::string& value, std::string help);
  void add(std::string name, std::optional<double>& value, std::string help, Range range = {});
  void add(std::string name, std::vector<double>& value, std::string help, Range range = {});
  void add(std::string name, std::vector<std::int64_t>& value, std::string help, Range range = {});
  void add(std::string name, std::vector<std::string>& value, std::string help);
  void add(std::string name, std::map<std::string, double>& value, std::string help);

  /// One of a few words. `get` and `set` translate; see `choice` for enums.
  void add_choice(std::string name, std::vector<std::string> words,
                  std::function<std::string()> get, std::function<void(const std::string&)> set,
                  std::string help);

  template <class Enum>
  void choice(std::string name, Enum& value, std::vector<std::pair<std::string, Enum>> words,
              std::string help) {
    std::vector<std::string> names;
    names.reserve(words.size());
    for (const auto& word : words) names.push_back(word.first);
    std::function<std::string()> get = [&value, words] {
      for (const auto& word : words)
        if (word.second == value) return word.first;
      return std::string{};
    };
    std::function<void(const std::string&)> set = [&value, words](const std::string& chosen) {
      for (const auto& word : words)
        if (word.first == chosen) value = word.second;
    };
    add_choice(std::move(name), std::move(names), std::move(get), std::move(set), std::move(help));
  }

  /// A nested struct: its fields get the path "name.".
  template <Described T>
  void group(std::string name, T& nested, std::string help) {
    FieldList inner;
    nested.fields(inner);
    add_group(std::move(name), std::move(inner), std::move(help));
  }
  void add_group(std::string name, FieldList inner, std::string help);

  struct Entry;
  const std::vector<Entry>& entries() const;

 private:
  std::unique_ptr<std::vector<Entry>> entries_;
};

/// YAML text with the place of each value, and overrides laid over it.
///
/// Stricter than YAML where that hides mistakes: a key twice, aliases and several documents are
/// refused. Every function that reads throws ConfigError.
class ConfigDocument {
 public:
  ConfigDocument();  ///< empty: every field keeps its default
  static ConfigDocument from_file(const std::string& path);
  static ConfigDocument from_text(const std::string& yaml, const std::string& origin);
  ~ConfigDocument();
  ConfigDocument(ConfigDocument&&) noexcept;
  ConfigDocument& operator=(ConfigDocument&&) noexcept;
  ConfigDocument(const ConfigDocument&);
  ConfigDocument& operator=(const ConfigDocument&);

  /// Lays `a.b=value` over what is there; the value is YAML ("[1, 2]", "true", "1e-4"), and `a.b=`
  /// an empty text. Throws ConfigError when there is no '='.
  void override_with(const std::string& assignment);
  /// Lays all values of `upper` over this document, keeping their places for error messages. Groups
  /// are merged, lists replaced; a group over a single value is a ConfigError.
  void lay_over(const ConfigDocument& upper);
  /// The value of a top-level scalar such as `workload`, if it is there. Does not mark it as known.
  std::optional<std::string> scalar(const std::string& key) const;
  /// Where a key was set: "paper.yaml:12" or "command line"; empty when it was not.
  std::string where(const std::string& dotted_key) const;

 private:
  struct Content;
  std::unique_ptr<Content> content_;
  friend void read_fields(const ConfigDocument&, FieldList&);
};

/// Fills the fields from the document. An unknown key, a wrong type or a value out of range is a
/// ConfigError with the place, the dotted key, what is allowed, and for unknown keys the nearest
/// known one; then no field has changed. A list or map replaces its default as a whole.
void read_fields(const ConfigDocument& document, FieldList& fields);

/// The fields as YAML, in the order of the list, every value so that it reads back identically.
std::string write_fields(const FieldList& fields);

/// One line a field, and one of type "group" before each group's fields: dotted key, type and
/// range, current value, help. `prefix` limits it to a key or a group; unknown: ConfigError.
struct FieldDescription {
  std::string key, type, range, value, help;
};
std::vector<FieldDescription> describe_fields(const FieldList& fields,
                                              const std::string& prefix = {});

template <Described T>
T read_config(const ConfigDocument& document, T config) {
  FieldList list;
  config.fields(list);
  read_fields(document, list);
  return config;
}

template <Described T>
std::string write_config(T config) {
  FieldList list;
  config.fields(list);
  return write_fields(list);
}

}  // namespace sagips::core
