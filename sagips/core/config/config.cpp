#include "sagips/core/config/config.hpp"

#include "sagips/core/config/config_convert.hpp"
#include "sagips/core/config/config_value.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::core {
namespace {

using Kind = ConfigValue::Kind;
using Entries = std::vector<FieldList::Entry>;

constexpr std::size_t most_suggested = 3;

std::string below(const std::string& group, const std::string& name) {
  return group.empty() ? name : group + "." + name;
}

std::string last_name(const std::string& key) { return key.substr(key.rfind('.') + 1); }

std::vector<std::string> names_of(const Entries& entries) {
  std::vector<std::string> names;
  for (const FieldList::Entry& entry : entries) names.push_back(entry.name);
  return names;
}

void collect_keys(const Entries& entries, const std::string& group,
                  std::vector<std::string>& keys) {
  for (const FieldList::Entry& entry : entries) {
    // a copy: growing `keys` moves what a reference into it would name
    const std::string key = below(group, entry.name);
    keys.push_back(key);
    collect_keys(entry.members_now(), key, keys);
  }
}

std::vector<std::string> all_keys(const FieldList& fields) {
  std::vector<std::string> keys;
  collect_keys(fields.entries(), {}, keys);
  return keys;
}

// Keys of the whole tree for a name that has no near one at its own level: first those that end in
// the same name (the group was forgotten), then the nearest last name.
std::string suggestion_in_tree(const std::string& name, const std::vector<std::string>& keys) {
  std::vector<std::string> same, last_names;
  for (const std::string& key : keys) {
    last_names.push_back(last_name(key));
    if (last_names.back() == name && same.size() < most_suggested) same.push_back(key);
  }
  if (!same.empty()) return text(", did you mean '", join(same, "' or '"), "'?");
  const std::string near = nearest(name, last_names);
  for (const std::string& key : keys)
    if (!near.empty() && last_name(key) == near) return text(", did you mean '", key, "'?");
  return {};
}

[[noreturn]] void refuse_unknown(const std::string& where, const std::string& key,
                                 const Entries& level, const std::vector<std::string>& keys) {
  const std::string name = last_name(key);
  const std::vector<std::string> here = names_of(level);
  std::string hint;
  if (nearest(name, here).empty()) hint = suggestion_in_tree(name, keys);
  if (hint.empty()) hint = suggestion(name, here);
  throw ConfigError(where, text("unknown key '", key, "'", hint));
}

bool is_number(const std::string& name) {
  return !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
}

/// Walks document and fields together; collects what to assign, so that a bad value changes
/// nothing.
class Matcher {
 public:
  explicit Matcher(const FieldList& fields) : keys_(all_keys(fields)) {}

  void match(const ConfigValue& group, const Entries& entries, const std::string& path) {
    for (const auto& [name, value] : group.members) {
      const std::string key = below(path, name);
      const FieldList::Entry* entry = find_entry(entries, name);
      if (!entry) refuse_unknown(value.where, key, entries, keys_);
      if (entry->check) {
        assignments_.push_back(entry->check(value, key));
        continue;
      }
      // the kind of a list's item, whose options stay as they are: {flatten: true}
      const bool is_kind = is_number(last_name(path)) && value.scalar == "true";
      if (value.kind != Kind::group && value.kind != Kind::none && !is_kind)
        throw ConfigError(value.where,
                          text(key, " is a group of keys (", join(names_of(entry->members), ", "),
                               "), not a value. Set one of them."));
      match(value, entry->members, key);
    }
  }
  void assign() const {
    for (const auto& assignment : assignments_) assignment();
  }

 private:
  std::vector<std::string> keys_;
  std::vector<FieldList::Entry::Assignment> assignments_;
};

void write_entries(const Entries& entries, const std::string& indent, const std::string& beside,
                   std::string& yaml) {
  for (const FieldList::Entry& entry : entries) {
    yaml += indent + written(entry.name) + ":";
    if (entry.write) {
      yaml += text(" ", entry.write(beside), "\n");
      continue;
    }
    const Entries members = entry.members_now();
    if (members.empty()) {
      yaml += " {}\n";
    } else {
      yaml += "\n";
      write_entries(members, indent + "  ", beside, yaml);
    }
  }
}

void write_changed(const Entries& entries, const Entries& usual, const std::string& indent,
                   const std::string& beside, std::string& yaml) {
  for (const FieldList::Entry& entry : entries) {
    if (!entry.needs.empty()) continue;
    const FieldList::Entry* other = find_entry(usual, entry.name);
    if (!other || (entry.write && entry.write(beside) != other->write(beside))) {
      write_entries({entry}, indent, beside, yaml);
    } else if (!entry.write) {
      std::string inner;
      write_changed(entry.members_now(), other->members_now(), indent + "  ", beside, inner);
      if (!inner.empty()) yaml += text(indent, written(entry.name), ":\n", inner);
    }
  }
}

void describe_entries(const Entries& entries, const std::string& group, const std::string& prefix,
                      std::vector<FieldDescription>& descriptions) {
  for (const FieldList::Entry& entry : entries) {
    const std::string key = below(group, entry.name);
    const bool wanted = prefix.empty() || key == prefix || key.starts_with(prefix + ".");
    if (wanted && !entry.type.empty())  // what stands for any item has none
      descriptions.push_back(
          {key, entry.type, entry.range, entry.write ? entry.write({}) : "", entry.help});
    Entries members = entry.members_now();
    if (entry.any_item) members.push_back(entry.any_item());
    // layers hold layers: those inside an item are as those around it
    const bool holds_itself = (group + ".").find(text(".", any_number, ".")) != std::string::npos;
    if (entry.any_item && holds_itself && members.back().name == any_number) members.pop_back();
    describe_entries(members, key, prefix, descriptions);
  }
}

[[noreturn]] void refuse_unknown_prefix(const FieldList& fields, const std::string& prefix) {
  std::vector<std::string> keys;
  for (const FieldDescription& field : describe_fields(fields)) keys.push_back(field.key);
  Entries level = fields.entries();
  std::string key;
  for (const std::string& name : split(prefix, '.')) {
    key = below(key, name);
    const FieldList::Entry* entry = find_entry(level, name);
    if (!entry) break;
    Entries below_it = entry->members_described();
    level = std::move(below_it);
  }
  refuse_unknown("command line", key, level, keys);
}

}  // namespace

const FieldList::Entry* find_entry(const Entries& entries, const std::string& name) {
  for (const FieldList::Entry& entry : entries)
    if (entry.name == name) return &entry;
  return nullptr;
}

void fill_fields(const ConfigValue& group, FieldList& fields, const std::string& path) {
  Matcher matcher(fields);
  matcher.match(group, fields.entries(), path);
  matcher.assign();
}

void read_fields(const ConfigDocument& document, FieldList& fields) {
  fill_fields(document.content_->root, fields, {});
}

std::string write_fields(const FieldList& fields) {
  std::string yaml;
  write_entries(fields.entries(), {}, {}, yaml);
  return yaml;
}

std::string write_changes(const FieldList& fields, const FieldList& usual,
                          const std::string& beside) {
  std::string yaml;
  write_changed(fields.entries(), usual.entries(), {}, beside, yaml);
  return yaml;
}

std::vector<FieldDescription> describe_fields(const FieldList& fields, const std::string& prefix) {
  std::vector<FieldDescription> descriptions;
  describe_entries(fields.entries(), {}, prefix, descriptions);
  if (!descriptions.empty() || prefix.empty()) return descriptions;
  refuse_unknown_prefix(fields, prefix);
}

}  // namespace sagips::core
