#include "sagips/study/grid.hpp"

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::study {

namespace {

using core::ConfigError;
using core::text;

std::vector<std::string> split_values(const std::string& list) {
  std::vector<std::string> values(1);
  int depth = 0;
  char quote = '\0';
  for (const char letter : list) {
    if (quote != '\0') {
      if (letter == quote) quote = '\0';
    } else if (letter == '"' || letter == '\'') {
      quote = letter;
    } else if (letter == '[' || letter == '{') {
      ++depth;
    } else if (letter == ']' || letter == '}') {
      --depth;
    } else if (letter == ',' && depth == 0) {
      values.emplace_back();
      continue;
    }
    values.back() += letter;
  }
  for (std::string& value : values) value = core::trim(value);
  return values;
}

struct GridAxis {
  std::string key;
  std::vector<std::string> values;
};

GridAxis parse_axis(const std::string& list, const std::vector<std::string>& not_of_trainings) {
  const auto equals = list.find('=');
  const std::string key = equals == std::string::npos ? "" : core::trim(list.substr(0, equals));
  if (key.empty())
    throw ConfigError("--grid", text("'", core::excerpt(list),
                                     "' is no list of values. Write key=value,value, e.g. "
                                     "generator.width=32,64."));
  check_varied_key("--grid", key, not_of_trainings);
  GridAxis axis{key, split_values(list.substr(equals + 1))};
  for (const std::string& value : axis.values)
    if (value.empty())
      throw ConfigError(
          "--grid", text("'", core::excerpt(list), "' has an empty value. Write key=value,value."));
  return axis;
}

}  // namespace

// Keys that a study sets itself for each of its members, and groups that no training reads: what
// seem to be variants would be one training many times.
void check_varied_key(const std::string& place, const std::string& key,
                      const std::vector<std::string>& not_of_trainings) {
  for (const char* name :
       {"run.name", "run.folder", "run.seed", "run.figures", "run.fit", "run.tensorboard",
        "data.seed", "data.bootstrap", "data.bootstrap_seed"}) {
    const std::string own = name;
    if (key == own)
      throw ConfigError(place, text("'", key, "' is set for each training by the study (what is ",
                                    "asked for would be lost). Choose another key."));
    if (own.rfind(text(key, "."), 0) == 0)
      throw ConfigError(place,
                        text("'", key, "' is a group of keys, of which the study sets '", own,
                             "'. Name the keys that are to differ, e.g. ", "data.fraction=0.5,1."));
  }
  if (key == "workload")
    throw ConfigError(place, "'workload' is the same for all of them. Choose a key of a training.");
  for (const std::string& group : not_of_trainings)
    if (key == group || key.rfind(text(group, "."), 0) == 0)
      throw ConfigError(place, text("'", key,
                                    "' belongs to another command or to the study (no training "
                                    "reads it). Choose a key of a training."));
}

std::vector<record::StudyVariant> grid_variants(const std::vector<std::string>& grid,
                                                const std::vector<std::string>& not_of_trainings) {
  std::vector<record::StudyVariant> variants(1);
  for (const std::string& list : grid) {
    const GridAxis axis = parse_axis(list, not_of_trainings);
    std::vector<record::StudyVariant> product;
    for (const record::StudyVariant& before : variants)
      for (const std::string& value : axis.values) {
        record::StudyVariant point = before;
        point.assignments.push_back(axis.key + "=" + value);
        product.push_back(std::move(point));
      }
    variants = std::move(product);
  }
  std::vector<std::string> labels;
  for (record::StudyVariant& variant : variants) {
    variant.label = variant.assignments.empty() ? "all" : core::join(variant.assignments, ", ");
    labels.push_back(variant.label);
  }
  check_named_once(labels, "--grid");
  return variants;
}

}  // namespace sagips::study
