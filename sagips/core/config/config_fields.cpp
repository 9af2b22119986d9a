#include <cmath>

#include "sagips/core/config/config_convert.hpp"
#include "sagips/core/config/config_value.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::core {
namespace {

using Assignment = FieldList::Entry::Assignment;

void append(std::vector<FieldList::Entry>& entries, FieldList::Entry entry) {
  for (const FieldList::Entry& earlier : entries)
    if (earlier.name == entry.name)
      throw Error(text("the config field '", entry.name, "' is listed twice. Rename one."));
  entries.push_back(std::move(entry));
}

template <class Value>
FieldList::Entry entry_for(std::string name, std::string type, Value& value, std::string help,
                           const Range& range = {}) {
  FieldList::Entry entry;
  entry.name = std::move(name);
  entry.type = std::move(type);
  entry.range = range.text();
  entry.help = std::move(help);
  entry.write = [&value] { return written(value); };
  entry.check = [&value, range](const ConfigValue& found, const std::string& key) -> Assignment {
    Value result{};
    read_value(found, key, range, result);
    return [&value, result] { value = result; };
  };
  return entry;
}

}  // namespace

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
void FieldList::add(std::string name, std::vector<std::string>& value, std::string help) {
  append(*entries_, entry_for(std::move(name), "list of texts", value, std::move(help)));
}
void FieldList::add(std::string name, std::map<std::string, double>& value, std::string help) {
  append(*entries_, entry_for(std::move(name), "named numbers", value, std::move(help)));
}

void FieldList::add_choice(std::string name, std::vector<std::string> words,
                           std::function<std::string()> get,
                           std::function<void(const std::string&)> set, std::string help) {
  Entry entry;
  entry.name = std::move(name);
  entry.type = "choice";
  entry.range = join(words, " | ");
  entry.help = std::move(help);
  entry.write = [get = std::move(get)] { return written(get()); };
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

}  // namespace sagips::core
