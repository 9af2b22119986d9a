#include <algorithm>
#include <iostream>
#include <map>

#include "sagips/cli/commands.hpp"
#include "sagips/core/text.hpp"

namespace sagips::cli {

namespace {

using Fields = std::vector<core::FieldDescription>;

// The workload whose problem is all in the config: where stages and channels are keys.
constexpr const char* custom = "custom";

// By the last name of a key of `custom`: what follows parameters and observables.
const std::map<std::string, std::string> examples = {
    {"pipeline",
     "pipeline:\n"
     "  - {script: my_stage.pt}\n"
     "  - {event_filter: {low: [0.5], high: [10]}}\n"},
    {"script", "pipeline: [{script: my_stage.pt}]\n"},
    {"plugin", "pipeline: [{plugin: build/my_stage.so, stage: my_stage}]\n"},
    {"process", "pipeline: [{process: \"python3 my_stage.py\", noise_dimensions: 1}]\n"},
    {"detector",
     "pipeline:\n"
     "  - {script: my_stage.pt}\n"
     "  - {detector: {smearing: [0.1], mixing: 0, random_mixing: 0}}\n"},
    {"event_filter",
     "pipeline:\n"
     "  - {script: my_stage.pt}\n"
     "  - {event_filter: {low: [0.5], high: [10], training: soft}}\n"},
    {"channels",
     "channels:\n"
     "  near: {pipeline: [{script: near.pt}], data: {file: near.npy}}\n"
     "  far: {pipeline: [{script: far.pt}], data: {file: far.npy}}\n"},
};

void show_example(const std::string& key) {
  const auto found = examples.find(key.substr(key.rfind('.') + 1));
  if (found == examples.end()) return;
  std::cout << "\nexample:\n"
            << "parameters: {lifetime: {low: 0.1, high: 5, toy: 2.2, unit: us}}\n"
               "observables: [t]\n"
            << found->second;
}

void show(const Fields& fields) {
  for (const core::FieldDescription& field : fields) {
    std::cout << field.key << (field.value.empty() ? "" : " = " + field.value) << "\n    "
              << field.help << "\n    " << field.type;
    if (!field.range.empty()) std::cout << ", " << field.range;
    std::cout << '\n';
  }
}

bool is_number(const std::string& word) {
  return !word.empty() && word.find_first_not_of("0123456789") == std::string::npos;
}

// Whether the words of a key are the field's from one of them on; "0" is one of its numbers, "near" of its
// names.
bool is_at(std::size_t first, const std::vector<std::string>& words,
           const std::vector<std::string>& of_field) {
  if (of_field.size() < first + words.size()) return false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& there = of_field[first + i];
    const bool fits = there == words[i] || there == core::any_name ||
                      (there == core::any_number && is_number(words[i]));
    if (!fits) return false;
  }
  return true;
}

// Where a workload has the key: as it is ("pipeline.0.process" is pipeline.N.process), or as a key of a
// list's items, for which it is short ("detector" is pipeline.N.detector). Empty where it has none.
std::string place_of(const std::string& key, const Fields& all) {
  const std::vector<std::string> words = core::split(key, '.');
  std::string shortest;
  for (const core::FieldDescription& field : all) {
    std::vector<std::string> of_field = core::split(field.key, '.');
    if (is_at(0, words, of_field)) {
      of_field.resize(words.size());
      return core::join(of_field, ".");
    }
    const std::size_t before = of_field.size() - std::min(words.size(), of_field.size());
    if (before > 0 && of_field[before - 1] == core::any_number && is_at(before, words, of_field) &&
        (shortest.empty() || field.key.size() < shortest.size()))
      shortest = field.key;
  }
  return shortest;
}

// The workload that is named; else all, the one whose problem is its config first.
std::vector<std::string> asked_workloads(const Workloads& workloads, const std::string& named) {
  if (!named.empty()) return {named};
  std::vector<std::string> names = workloads.names();
  std::stable_partition(names.begin(), names.end(),
                        [](const std::string& name) { return name == custom; });
  return names;
}

struct Holder {
  std::string workload, place;
};

// A parameter that some workload has by its name is not any parameter of another.
void keep_named(const std::string& key, std::vector<Holder>& holders) {
  const auto is_named = [&](const Holder& holder) { return holder.place == key; };
  const auto words = [](const std::string& text) { return core::split(text, '.').size(); };
  if (std::any_of(holders.begin(), holders.end(), is_named))
    std::erase_if(holders, [&](const Holder& holder) {
      return !is_named(holder) && words(holder.place) == words(key);
    });
}

std::string origin_text(const std::vector<Holder>& holders, std::size_t asked) {
  const std::string first = core::text("Values are those of `", holders.front().workload, "`");
  if (asked == 1) return first + ".";
  if (holders.size() == asked) return first + "; explain KEY workload=NAME shows another's.";
  std::vector<std::string> names;
  for (const Holder& holder : holders)
    names.push_back(holder.place == holders.front().place
                        ? holder.workload
                        : core::text(holder.workload, " (as ", holder.place, ")"));
  return core::text(first, ". Only some workloads have this key: ", core::join(names, ", "),
                    "; explain KEY workload=NAME shows another's.");
}

}  // namespace

core::ExitCode explain(const Workloads& workloads, const Arguments& arguments) {
  std::vector<std::string> assignments = arguments.assignments;
  std::string key = arguments.source;
  // without a key CLI11 hands the first assignment over as the key
  if (key.find('=') != std::string::npos) {
    assignments.push_back(key);
    key.clear();
  }
  const auto asked = asked_workloads(workloads, take_assignment(assignments, "workload"));
  std::vector<Holder> holders;
  for (const std::string& workload : asked) {
    Job job = run::read_any_job(workloads, workload, assignments);
    const Fields all = run::describe_job(workloads, job, {});
    const std::string place = key.empty() ? key : place_of(key, all);
    if (!place.empty() || key.empty()) holders.push_back({workload, place});
  }
  keep_named(key, holders);
  if (holders.empty()) {  // says which key is the nearest
    Job job = run::read_any_job(workloads, asked.front(), assignments);
    run::describe_job(workloads, job, key);
  }
  Job job = run::read_any_job(workloads, holders.front().workload, assignments);
  show(run::describe_job(workloads, job, holders.front().place));
  if (holders.front().workload == custom) show_example(holders.front().place);
  std::cout << '\n' << origin_text(holders, asked.size()) << std::endl;
  return core::ExitCode::done;
}

}  // namespace sagips::cli
