#include "sagips/core/config/config_convert.hpp"
#include "sagips/core/config/config_value.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::core {
namespace {

using Kind = ConfigValue::Kind;
using Entry = FieldList::Entry;

GivenItem given_item(const ConfigValue& value, const std::string& name, const std::string& key) {
  if (value.kind != Kind::group && value.kind != Kind::none)
    throw ConfigError(value.where, text(key, " must be a group of keys, such as {key: value}."));
  GivenItem item;
  item.name = name;
  item.key = key;
  item.where = value.where;
  for (const auto& [member, inner] : value.members) {
    item.keys.push_back(member);
    if (inner.kind == Kind::scalar) item.scalars[member] = inner.scalar;
  }
  item.fill = [&value, key](FieldList& fields) { fill_fields(value, fields, key); };
  return item;
}

std::string written_group(const std::vector<Entry>& entries) {
  std::vector<std::string> members;
  for (const Entry& entry : entries)
    members.push_back(text(written(entry.name), ": ",
                           entry.write ? entry.write() : written_group(entry.members_now())));
  return text("{", join(members, ", "), "}");
}

void append_entry(std::vector<Entry>& entries, Entry entry) {
  for (const Entry& earlier : entries)
    if (earlier.name == entry.name)
      throw Error(text("the config field '", entry.name, "' is listed twice. Rename one."));
  entries.push_back(std::move(entry));
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

}  // namespace

void FieldList::add_list(std::string name, Items items, std::string help) {
  Entry entry;
  entry.name = std::move(name);
  entry.type = "list of groups";
  entry.help = std::move(help);
  entry.items = items_of(std::move(items.now));
  entry.write = [groups = entry.items] {
    std::vector<std::string> written;
    for (const Entry& member : groups()) written.push_back(written_group(member.members));
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
  append_entry(*entries_, std::move(entry));
}

void FieldList::add_named_groups(std::string name, Items items, std::string help) {
  Entry entry;
  entry.name = std::move(name);
  entry.type = "groups by name";
  entry.help = std::move(help);
  entry.is_group = true;
  entry.items = items_of(std::move(items.now));
  entry.check = [read = std::move(items.read)](const ConfigValue& found, const std::string& key) {
    if (found.kind != Kind::group && found.kind != Kind::none)
      throw ConfigError(found.where,
                        text(key, " must hold groups by name, such as {NAME: {key: value}}."));
    std::vector<GivenItem> given;
    for (const auto& [member, value] : found.members)
      given.push_back(given_item(value, member, text(key, ".", member)));
    return read(given);
  };
  append_entry(*entries_, std::move(entry));
}

}  // namespace sagips::core
