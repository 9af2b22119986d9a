#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "sagips/core/config/config.hpp"

namespace sagips::core {

struct ConfigMember;

/// One node of a parsed config, with the place that a message can name. Independent of the YAML
/// library.
struct ConfigValue {
  enum class Kind { none, scalar, list, group };

  Kind kind = Kind::none;
  std::string where;                  ///< "paper.yaml:12", "command line"
  std::string scalar;                 ///< the text of a scalar
  bool quoted = false;                ///< a quoted scalar is text, never a number
  std::vector<ConfigValue> items;     ///< of a list
  std::vector<ConfigMember> members;  ///< of a group, in the file's order

  ConfigValue* find(const std::string& name);
  const ConfigValue* find(const std::string& name) const;
};

struct ConfigMember {
  std::string name;
  ConfigValue value;
};

struct ConfigDocument::Content {
  ConfigValue root{ConfigValue::Kind::group, {}, {}, false, {}, {}};
};

/// One field or group of a FieldList.
struct FieldList::Entry {
  /// Writes a checked value into the field. Checks run for all fields before the first of these.
  using Assignment = std::function<void()>;

  std::string name, type, range, help;
  std::function<std::string()> write;  ///< the current value as YAML on one line
  std::function<Assignment(const ConfigValue& value, const std::string& key)> check;
  std::vector<Entry> members;  ///< of a group
  /// Of a list of groups and of groups by name, as they are now: reading replaces them.
  std::function<std::vector<Entry>()> items;
  bool is_group = false;

  std::vector<Entry> members_now() const { return items ? items() : members; }
};

/// Fills the fields from one group of a document, at once. throws: ConfigError
void fill_fields(const ConfigValue& group, FieldList& fields, const std::string& path);

}  // namespace sagips::core
