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
  std::string folder{};               ///< of the YAML that sets it; empty: the current one

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
  /// The current value as YAML on one line. Paths inside the folder `beside` are relative to it, all
  /// others absolute; empty: all are.
  std::function<std::string(const std::string& beside)> write;
  std::function<Assignment(const ConfigValue& value, const std::string& key)> check;
  std::vector<Entry> members;  ///< of a group
  /// The present items of a list of groups or of groups by name: reading replaces them.
  std::function<std::vector<Entry>()> items;
  /// For the same: a group of all that an item may hold, under the name that stands for any.
  std::function<Entry()> any_item;
  bool is_group = false;
  /// What is missing for it to have an effect; empty: nothing. A remark on a list, no part of it.
  mutable std::string needs{};

  std::vector<Entry> members_now() const { return items ? items() : members; }
  std::vector<Entry> members_described() const {
    std::vector<Entry> all = members_now();
    if (any_item) all.push_back(any_item());
    return all;
  }
};

/// The one of that name; null: there is none.
const FieldList::Entry* find_entry(const std::vector<FieldList::Entry>& entries,
                                   const std::string& name);

/// Fills the fields from one group of a document, at once. throws: ConfigError
void fill_fields(const ConfigValue& group, FieldList& fields, const std::string& path);

}  // namespace sagips::core
