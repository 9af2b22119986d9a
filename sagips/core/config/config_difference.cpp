#include "sagips/core/config/config_difference.hpp"

#include <algorithm>
#include <utility>

#include "sagips/core/config/config_value.hpp"
#include "sagips/core/config/config_yaml.hpp"
#include "sagips/core/text.hpp"

namespace sagips::core {
namespace {

using Kind = ConfigValue::Kind;
using Leaves = std::vector<std::pair<std::string, std::string>>;

std::string shown(const ConfigValue& value) {
  if (value.kind == Kind::scalar) return value.scalar.empty() ? "''" : value.scalar;
  std::vector<std::string> parts;
  for (const ConfigValue& item : value.items) parts.push_back(shown(item));
  for (const auto& [name, member] : value.members) parts.push_back(name + ": " + shown(member));
  if (value.kind == Kind::list) return text("[", join(parts, ", "), "]");
  return value.kind == Kind::group ? text("{", join(parts, ", "), "}") : "null";
}

void collect(const ConfigValue& value, const std::string& key, Leaves& leaves) {
  if (value.kind != Kind::group || value.members.empty()) {
    leaves.emplace_back(key, shown(value));
    return;
  }
  for (const auto& [name, member] : value.members)
    collect(member, key.empty() ? name : key + "." + name, leaves);
}

void collect_scalars(const ConfigValue& value, const std::string& key, Leaves& scalars) {
  if (value.kind == Kind::scalar) scalars.emplace_back(key, value.scalar);
  for (const ConfigValue& item : value.items) collect_scalars(item, key, scalars);
  for (const auto& [name, member] : value.members)
    collect_scalars(member, key.empty() ? name : key + "." + name, scalars);
}

Leaves leaves_of(const std::string& yaml, const std::string& origin) {
  Leaves leaves;
  collect(parse_yaml(yaml, origin, Places::with_lines), {}, leaves);
  return leaves;
}

const std::string* find(const Leaves& leaves, const std::string& key) {
  const auto found = std::find_if(leaves.begin(), leaves.end(),
                                  [&](const auto& leaf) { return leaf.first == key; });
  return found == leaves.end() ? nullptr : &found->second;
}

}  // namespace

std::vector<std::string> config_differences(const std::string& older, const std::string& newer,
                                            const std::string& older_origin,
                                            const std::vector<std::string>& ignored) {
  const Leaves before = leaves_of(older, older_origin), now = leaves_of(newer, "this command");
  const auto may_differ = [&](const std::string& key) {
    return std::any_of(ignored.begin(), ignored.end(), [&](const std::string& one) {
      return key == one || key.starts_with(one + ".");
    });
  };
  std::vector<std::string> differences;
  for (const auto& [key, value] : now) {
    const std::string* then = find(before, key);
    if (!may_differ(key) && (!then || *then != value))
      differences.push_back(text(key, ": ", then ? *then : "nothing", " -> ", value));
  }
  for (const auto& [key, value] : before)
    if (!may_differ(key) && !find(now, key))
      differences.push_back(text(key, ": ", value, " -> nothing"));
  return differences;
}

std::vector<std::pair<std::string, std::string>> config_scalars(const std::string& yaml,
                                                                const std::string& origin) {
  Leaves scalars;
  collect_scalars(parse_yaml(yaml, origin, Places::with_lines), {}, scalars);
  return scalars;
}

std::string config_scalar(const std::string& yaml, const std::string& origin,
                          const std::string& dotted_key) {
  const ConfigValue root = parse_yaml(yaml, origin, Places::with_lines);
  const ConfigValue* value = &root;
  for (const std::string& name : split(dotted_key, '.'))
    if (value) value = value->find(name);
  return value && value->kind == Kind::scalar ? value->scalar : std::string();
}

}  // namespace sagips::core
