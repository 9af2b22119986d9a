#include "sagips/core/config/effects.hpp"

#include "sagips/core/config/config_value.hpp"
#include "sagips/core/text.hpp"

namespace sagips::core {
namespace {

using Entries = std::vector<FieldList::Entry>;

// The members of a group as they usually are: items by names of the user's as new ones begin.
Entries usual_members(const FieldList::Entry& entry, const FieldList::Entry* usual) {
  Entries members = usual ? usual->members_now() : Entries();
  if (!entry.any_item) return members;
  for (const FieldList::Entry& item : entry.members_now()) {
    if (find_entry(members, item.name)) continue;
    members.push_back(entry.any_item());
    members.back().name = item.name;
  }
  return members;
}

void collect(const Entries& entries, const Entries& usual, const std::string& group,
             const std::string& missing, std::vector<KeyWithoutEffect>& keys) {
  for (const FieldList::Entry& entry : entries) {
    const std::string key = group.empty() ? entry.name : group + "." + entry.name;
    const std::string& lacks = missing.empty() ? entry.needs : missing;
    const FieldList::Entry* other = find_entry(usual, entry.name);
    const bool is_list = entry.write && entry.items;  // named as a whole where it has no effect
    if (!entry.write || (is_list && lacks.empty()))
      collect(entry.members_now(), usual_members(entry, other), key, lacks, keys);
    else if (!lacks.empty() && (!other || entry.write({}) != other->write({})))
      keys.push_back({key, lacks});
  }
}

}  // namespace

void needs(const FieldList& list, bool holds, const std::string& needs,
           const std::vector<std::string>& names) {
  if (holds) return;
  for (const std::string& name : names) {
    const Entries* level = &list.entries();
    const FieldList::Entry* found = nullptr;
    for (const std::string& word : split(name, '.')) {
      found = find_entry(*level, word);
      if (!found) break;
      level = &found->members;
    }
    if (found && found->needs.empty()) found->needs = needs;
  }
}

std::string needed_by(const FieldList& fields, const std::string& key) {
  Entries members = fields.entries();
  for (const std::string& word : split(key, '.')) {
    const FieldList::Entry* found = find_entry(members, word);
    if (!found) return {};
    if (!found->needs.empty()) return found->needs;
    members = found->members_now();
  }
  return {};
}

std::vector<KeyWithoutEffect> keys_without_effect(const FieldList& fields, const FieldList& usual) {
  std::vector<KeyWithoutEffect> keys;
  collect(fields.entries(), usual.entries(), {}, {}, keys);
  return keys;
}

}  // namespace sagips::core
