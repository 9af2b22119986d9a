#include <algorithm>
#include <filesystem>
#include <span>

#include "sagips/core/config/config_value.hpp"
#include "sagips/core/config/config_yaml.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"

namespace sagips::core {
namespace {

using Kind = ConfigValue::Kind;

constexpr const char* command_line = "command line";

bool is_empty(const ConfigValue& value) {
  return value.kind == Kind::none || (value.kind == Kind::group && value.members.empty());
}

void lay_over_value(ConfigValue& lower, const ConfigValue& upper, const std::string& key);

// "pipeline.0.timeout_s=5": the names are numbers of items.
void lay_over_items(ConfigValue& list, const ConfigValue& upper, const std::string& key) {
  for (const auto& [name, value] : upper.members) {
    double number = -1;
    const bool is_item = parse_number(name, number) && number >= 0 &&
                         name == text(static_cast<std::size_t>(number)) &&
                         number < static_cast<double>(list.items.size());
    if (!is_item)
      throw ConfigError(value.where,
                        text("'", key, "' is a list of ", list.items.size(), " at ", list.where,
                             ", and '", name, "' is none of its items. They count from 0."));
    lay_over_value(list.items[static_cast<std::size_t>(number)], value, key + "." + name);
  }
}

void lay_over_value(ConfigValue& lower, const ConfigValue& upper, const std::string& key) {
  // "optimizer:" with nothing below it takes nothing away.
  if (upper.kind == Kind::none && lower.kind == Kind::group) return;
  if (upper.kind != Kind::group || lower.kind == Kind::none) {
    lower = upper;
    return;
  }
  if (lower.kind == Kind::list) return lay_over_items(lower, upper, key);
  // Replacing would hide the mistake that one of the two places is.
  if (lower.kind != Kind::group)
    throw ConfigError(upper.where, text("'", key, "' is a group here and a single value at ",
                                        lower.where, ". Correct one of them."));
  for (const auto& [name, value] : upper.members) {
    if (ConfigValue* below = lower.find(name))
      lay_over_value(*below, value, key.empty() ? name : key + "." + name);
    else
      lower.members.push_back({name, value});
  }
}

void set_folder(ConfigValue& value, const std::string& folder) {
  value.folder = folder;
  for (ConfigValue& item : value.items) set_folder(item, folder);
  for (auto& [name, member] : value.members) set_folder(member, folder);
}

void remove_below(ConfigValue& group, std::span<const std::string> names) {
  const auto fits = [&](const ConfigMember& member) {
    return names.front() == "*" || names.front() == member.name;
  };
  if (names.size() == 1) std::erase_if(group.members, fits);
  for (ConfigMember& member : group.members)
    if (fits(member)) remove_below(member.value, names.subspan(1));
}

}  // namespace

ConfigValue* ConfigValue::find(const std::string& name) {
  const auto found = std::find_if(members.begin(), members.end(),
                                  [&](const auto& member) { return member.name == name; });
  return found == members.end() ? nullptr : &found->value;
}

const ConfigValue* ConfigValue::find(const std::string& name) const {
  return const_cast<ConfigValue*>(this)->find(name);
}

ConfigDocument::ConfigDocument() : content_(std::make_unique<Content>()) {}
ConfigDocument::~ConfigDocument() = default;
ConfigDocument::ConfigDocument(ConfigDocument&&) noexcept = default;
ConfigDocument& ConfigDocument::operator=(ConfigDocument&&) noexcept = default;
ConfigDocument::ConfigDocument(const ConfigDocument& other)
    : content_(std::make_unique<Content>(*other.content_)) {}
ConfigDocument& ConfigDocument::operator=(const ConfigDocument& other) {
  content_ = std::make_unique<Content>(*other.content_);
  return *this;
}

ConfigDocument ConfigDocument::from_file(const std::string& path) {
  std::string yaml;
  try {
    yaml = read_file(path);
  } catch (const DataError& failure) {
    // A config that cannot be opened is the config's error; the text already names the path.
    throw ConfigError({}, failure.what());
  }
  ConfigDocument document = from_text(yaml, path);
  set_folder(document.content_->root, std::filesystem::path(path).parent_path().string());
  return document;
}

ConfigDocument ConfigDocument::from_text(const std::string& yaml, const std::string& origin) {
  ConfigDocument document;
  ConfigValue root = parse_yaml(yaml, origin, Places::with_lines);
  if (root.kind == Kind::none) return document;
  if (root.kind != Kind::group)
    throw ConfigError(root.where, "a config is a list of 'name: value' lines.");
  document.content_->root = std::move(root);
  return document;
}

void ConfigDocument::override_with(const std::string& assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string::npos)
    throw ConfigError(command_line, text("'", assignment, "' is no setting. Write key=value."));
  const std::string key = trim(std::string_view(assignment).substr(0, equals));
  const std::string yaml = assignment.substr(equals + 1);
  const std::string word = trim(yaml);
  // What is no list, group or quoted text is itself, whatever YAML would make of "-6:" or "*.h5".
  const bool is_word = !word.empty() &&
                       std::string_view("[{\"'").find(word[0]) == std::string::npos &&
                       word.find('\n') == std::string::npos &&
                       word.find(": ") == std::string::npos && word != "null" && word != "~";
  ConfigValue value =
      is_word ? ConfigValue{Kind::scalar, command_line, word, false, {}, {}}
              : parse_yaml(yaml, text(command_line, " '", assignment, "'"), Places::without_lines);
  value.where = command_line;
  // "key=" means an empty text; without one there is no way to type it in a shell.
  if (trim(yaml).empty()) value = {Kind::scalar, command_line, {}, true, {}, {}};
  std::vector<std::string> names = split(key, '.');
  for (; !names.empty(); names.pop_back()) {
    if (names.back().empty())
      throw ConfigError(command_line, text("'", assignment, "' names no key. Write key=value."));
    ConfigValue group{Kind::group, command_line, {}, false, {}, {}};
    group.members.push_back({names.back(), std::move(value)});
    value = std::move(group);
  }
  lay_over_value(content_->root, value, {});
}

void ConfigDocument::lay_over(const ConfigDocument& upper) {
  lay_over_value(content_->root, upper.content_->root, {});
}

void ConfigDocument::remove(const std::string& dotted_key) {
  const std::vector<std::string> names = split(dotted_key, '.');
  remove_below(content_->root, names);
}

std::optional<std::string> ConfigDocument::scalar(const std::string& key) const {
  const ConfigValue* value = content_->root.find(key);
  if (!value || is_empty(*value)) return std::nullopt;
  if (value->kind != Kind::scalar)
    throw ConfigError(value->where, text("'", key, "' must be a single value."));
  return value->scalar;
}

std::string ConfigDocument::where(const std::string& dotted_key) const {
  const ConfigValue* value = &content_->root;
  for (const std::string& name : split(dotted_key, '.')) {
    value = value->find(name);
    if (!value) return {};
  }
  return value->where;
}

}  // namespace sagips::core
