#include <algorithm>
#include <cmath>
#include <filesystem>

#include "sagips/core/config/config_convert.hpp"
#include "sagips/core/config/config_value.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::core {
namespace {

using Kind = ConfigValue::Kind;
using Entry = FieldList::Entry;
using Assignment = Entry::Assignment;

void append(std::vector<Entry>& entries, Entry entry) {
  for (const Entry& earlier : entries)
    if (earlier.name == entry.name)
      throw Error(text("the config field '", entry.name, "' is listed twice. Rename one."));
  entries.push_back(std::move(entry));
}

template <class Value>
Entry entry_for(std::string name, std::string type, Value& value, std::string help,
                const Range& range = {}) {
  Entry entry;
  entry.name = std::move(name);
  entry.type = std::move(type);
  entry.range = range.text();
  entry.help = std::move(help);
  entry.write = [&value](const std::string&) { return written(value); };
  entry.check = [&value, range](const ConfigValue& found, const std::string& key) -> Assignment {
    Value result{};
    read_value(found, key, range, result);
    return [&value, result] { value = result; };
  };
  return entry;
}

GivenItem given_item(const ConfigValue& value, const std::string& name, const std::string& key) {
  if (value.kind != Kind::group && value.kind != Kind::none)
    throw ConfigError(value.where, text(key, " must be a group of keys, such as {key: value}."));
  GivenItem item;
  item.name = name;
  item.key = key;
  item.where = value.where;
  for (const auto& [member, inner] : value.members) {
    item.keys.push_back(member);
    if (inner.kind != Kind::scalar) continue;
    item.scalars[member] = inner.scalar;
    item.folders[member] = inner.folder;
  }
  item.fill = [&value, key](FieldList& fields) { fill_fields(value, fields, key); };
  return item;
}

// Without the dot or slash that normalising leaves at the end of a folder.
std::filesystem::path absolute(const std::string& path) {
  const auto whole = std::filesystem::absolute(path).lexically_normal();
  return whole.has_filename() ? whole : whole.parent_path();
}

std::string written_path(const std::string& value, const std::string& beside) {
  if (is_remote(value)) return written(value);
  const std::filesystem::path path = absolute(value);
  if (beside.empty()) return written(path.string());
  const auto inside = path.lexically_relative(absolute(beside));
  return written((inside.empty() || *inside.begin() == ".." ? path : inside).string());
}

std::string written_group(const std::vector<Entry>& entries, const std::string& beside) {
  std::vector<std::string> members;
  for (const Entry& entry : entries)
    members.push_back(
        text(written(entry.name), ": ",
             entry.write ? entry.write(beside) : written_group(entry.members_now(), beside)));
  return text("{", join(members, ", "), "}");
}

// The groups of a list or a map, taken from what is there when somebody asks.
std::function<std::vector<Entry>()> items_of(
    std::function<std::vector<FieldList::NamedFields>()> now) {
  return [now = std::move(now)] {
    std::vector<Entry> groups;
    for (const FieldList::NamedFields& item : now()) {
      Entry& group = groups.emplace_back();
      group.name = item.name;
      group.type = "group";
      group.is_group = true;
      group.members = item.fields.entries();
    }
    return groups;
  };
}

// Fields that several kinds share are there once.
std::function<Entry()> any_of(std::function<std::vector<FieldList::NamedFields>()> kinds,
                              const char* name) {
  return [kinds = std::move(kinds), name] {
    Entry any;
    any.name = name;
    any.is_group = true;
    for (const FieldList::NamedFields& kind : kinds())
      for (const Entry& member : kind.fields.entries())
        if (std::none_of(any.members.begin(), any.members.end(),
                         [&](const Entry& known) { return known.name == member.name; }))
          any.members.push_back(member);
    return any;
  };
}

}  // namespace

bool is_remote(const std::string& path) { return path.find("://") != std::string::npos; }

std::string path_from(const std::string& folder, const std::string& path) {
  if (folder.empty() || path.empty() || is_remote(path)) return path;
  return (std::filesystem::path(folder) / path).lexically_normal().string();
}

std::string Range::text() const {
  const bool has_lowest = std::isfinite(lowest), has_highest = std::isfinite(highest);
  std::string above = core::text(open_lowest ? "> " : ">= ", round_trip(lowest));
  std::string below = core::text(open_highest ? "< " : "<= ", round_trip(highest));
  if (!has_lowest && !has_highest) return {};
  if (!has_highest) return above;
  if (!has_lowest) return below;
  if (open_lowest || open_highest) return above + ", " + below;
  return round_trip(lowest) + " .. " + round_trip(highest);
}

bool Range::contains(double value) const {
  if (!std::isfinite(value)) return false;
  const bool high_enough = open_lowest ? value > lowest : value >= lowest;
  const bool low_enough = open_highest ? value < highest : value <= highest;
  return high_enough && low_enough;
}

FieldList::FieldList() : entries_(std::make_unique<std::vector<Entry>>()) {}
FieldList::~FieldList() = default;
FieldList::FieldList(FieldList&&) noexcept = default;
FieldList& FieldList::operator=(FieldList&&) noexcept = default;

const std::vector<FieldList::Entry>& FieldList::entries() const { return *entries_; }

void FieldList::add(std::string name, bool& value, std::string help) {
  append(*entries_, entry_for(std::move(name), "true or false", value, std::move(help)));
}
void FieldList::add(std::string name, std::int64_t& value, std::string help, Range range) {
  append(*entries_, entry_for(std::move(name), "whole number", value, std::move(help), range));
}
void FieldList::add(std::string name, double& value, std::string help, Range range) {
  append(*entries_, entry_for(std::move(name), "number", value, std::move(help), range));
}
void FieldList::add(std::string name, std::string& value, std::string help) {
  append(*entries_, entry_for(std::move(name), "text", value, std::move(help)));
}
void FieldList::add(std::string name, std::optional<double>& value, std::string help, Range range) {
  append(*entries_, entry_for(std::move(name), "number or null", value, std::move(help), range));
}
void FieldList::add(std::string name, std::vector<double>& value, std::string help, Range range) {
  append(*entries_, entry_for(std::move(name), "list of numbers", value, std::move(help), range));
}
void FieldList::add(std::string name, std::vector<std::int64_t>& value, std::string help,
                    Range range) {
  append(*entries_,
         entry_for(std::move(name), "list of whole numbers", value, std::move(help), range));
}
void FieldList::add_numbers_or(std::string name, const std::string& word,
                               std::vector<std::int64_t>& value, std::string help, Range range) {
  Entry entry = entry_for(std::move(name), text("list of whole numbers, or ", word), value,
                          std::move(help), range);
  entry.write = [&value, word](const std::string&) {
    return value.empty() ? written(word) : written(value);
  };
  entry.check = [&value, word, range](const ConfigValue& found,
                                      const std::string& key) -> Assignment {
    std::vector<std::int64_t> result;
    if (found.kind != Kind::scalar || found.scalar != word) {
      read_value(found, key, range, result);
      if (result.empty())
        throw ConfigError(found.where, text(key, " is empty. Give a number, or ", word, "."));
    }
    return [&value, result] { value = result; };
  };
  append(*entries_, std::move(entry));
}
void FieldList::add(std::string name, std::vector<std::string>& value, std::string help) {
  append(*entries_, entry_for(std::move(name), "list of texts", value, std::move(help)));
}
void FieldList::add(std::string name, std::map<std::string, double>& value, std::string help) {
  append(*entries_, entry_for(std::move(name), "named numbers", value, std::move(help)));
}

void FieldList::add_path(std::string name, std::string& value, std::string help,
                         std::vector<std::string> words) {
  Entry entry = entry_for(std::move(name), "path", value, std::move(help));
  const auto is_path = [words = std::move(words)](const std::string& one) {
    return !one.empty() && std::find(words.begin(), words.end(), one) == words.end();
  };
  entry.write = [&value, is_path](const std::string& beside) {
    return is_path(value) ? written_path(value, beside) : written(value);
  };
  entry.check = [&value, is_path](const ConfigValue& found, const std::string& key) -> Assignment {
    std::string result;
    read_value(found, key, {}, result);
    if (is_path(result)) result = path_from(found.folder, result);
    return [&value, result] { value = result; };
  };
  append(*entries_, std::move(entry));
}

void FieldList::add_paths(std::string name, std::vector<std::string>& value, std::string help) {
  Entry entry = entry_for(std::move(name), "path or paths", value, std::move(help));
  entry.write = [&value](const std::string& beside) {
    std::vector<std::string> paths;
    for (const std::string& one : value) paths.push_back(written_path(one, beside));
    if (paths.empty()) return written(std::string());
    return paths.size() == 1 ? paths[0] : core::text("[", join(paths, ", "), "]");
  };
  entry.check = [&value](const ConfigValue& found, const std::string& key) -> Assignment {
    std::vector<std::string> result(1);
    if (found.kind == Kind::list)
      read_value(found, key, {}, result);
    else
      read_value(found, key, {}, result[0]);
    std::erase(result, "");
    for (std::string& one : result) one = path_from(found.folder, one);
    return [&value, result] { value = result; };
  };
  append(*entries_, std::move(entry));
}

void FieldList::add_choice(std::string name, std::vector<std::string> words,
                           std::function<std::string()> get,
                           std::function<void(const std::string&)> set, std::string help) {
  Entry entry;
  entry.name = std::move(name);
  entry.type = "choice";
  entry.range = join(words, " | ");
  entry.help = std::move(help);
  entry.write = [get = std::move(get)](const std::string&) { return written(get()); };
  entry.check = [words = std::move(words), set = std::move(set)](
                    const ConfigValue& found, const std::string& key) -> Assignment {
    const std::string chosen = read_choice(found, key, words);
    return [set, chosen] { set(chosen); };
  };
  append(*entries_, std::move(entry));
}

void FieldList::add_group(std::string name, FieldList inner, std::string help) {
  Entry entry;
  entry.name = std::move(name);
  entry.type = "group";
  entry.help = std::move(help);
  entry.is_group = true;
  entry.members = std::move(*inner.entries_);
  append(*entries_, std::move(entry));
}

void FieldList::add_list(std::string name, Items items, std::string help) {
  Entry entry;
  entry.name = std::move(name);
  entry.type = "list of groups";
  entry.help = std::move(help);
  entry.items = items_of(std::move(items.now));
  entry.any_item = any_of(std::move(items.kinds), any_number);
  entry.write = [groups = entry.items](const std::string& beside) {
    std::vector<std::string> written;
    for (const Entry& member : groups()) written.push_back(written_group(member.members, beside));
    return text("[", join(written, ", "), "]");
  };
  entry.check = [read = std::move(items.read)](const ConfigValue& found, const std::string& key) {
    if (found.kind != Kind::list)
      throw ConfigError(found.where,
                        text(key, " must be a list of groups, such as [{key: value}]."));
    std::vector<GivenItem> given;
    for (const ConfigValue& item : found.items)
      given.push_back(given_item(item, text(given.size()), text(key, ".", given.size())));
    return read(given);
  };
  append(*entries_, std::move(entry));
}

void FieldList::add_named_groups(std::string name, Items items, std::string help) {
  Entry entry;
  entry.name = std::move(name);
  entry.type = "groups by name";
  entry.help = std::move(help);
  entry.is_group = true;
  entry.items = items_of(std::move(items.now));
  entry.any_item = any_of(std::move(items.kinds), any_name);
  entry.check = [read = std::move(items.read)](const ConfigValue& found, const std::string& key) {
    if (found.kind != Kind::group && found.kind != Kind::none)
      throw ConfigError(found.where,
                        text(key, " must hold groups by name, such as {NAME: {key: value}}."));
    std::vector<GivenItem> given;
    for (const auto& [member, value] : found.members)
      given.push_back(given_item(value, member, text(key, ".", member)));
    return read(given);
  };
  append(*entries_, std::move(entry));
}

}  // namespace sagips::core
