#include "sagips/cli/study/plan.hpp"

#include <algorithm>
#include <cstdio>
#include <set>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/run_files.hpp"

namespace sagips::cli {

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

// Keys that a study sets itself for each of its members.
void check_key(const std::string& key) {
  for (const char* own : {"run.name", "run.folder", "run.seed", "data.seed", "data.bootstrap_seed"})
    if (key == own)
      throw ConfigError("--grid",
                        text("'", key, "' is set for each member by the study (its point ",
                             "of the grid would be lost). Choose another key."));
  if (key.rfind("ensemble", 0) == 0)
    throw ConfigError("--grid", text("'", key,
                                     "' belongs to the study, not to its members. Choose "
                                     "a key of a training."));
}

GridAxis parse_axis(const std::string& list) {
  const auto equals = list.find('=');
  const std::string key = equals == std::string::npos ? "" : core::trim(list.substr(0, equals));
  if (key.empty())
    throw ConfigError("--grid", text("'", core::excerpt(list),
                                     "' is no list of values. Write key=value,value, e.g. "
                                     "generator.width=32,64."));
  check_key(key);
  GridAxis axis{key, split_values(list.substr(equals + 1))};
  for (const std::string& value : axis.values)
    if (value.empty())
      throw ConfigError(
          "--grid", text("'", core::excerpt(list), "' has an empty value. Write key=value,value."));
  return axis;
}

std::string numbered(const std::string& word, std::size_t number) {
  char digits[24];
  std::snprintf(digits, sizeof digits, "_%03zu", number);
  return word + digits;
}

/// Puts together the members of one variant after the other.
class Planner {
 public:
  explicit Planner(const Job& job) : job_(job), config_(job.settings.ensemble) {}

  void add_variant(StudyPlan& plan, std::size_t number) const {
    const auto count = static_cast<std::size_t>(config_.members);
    for (std::size_t m = 1; config_.vary != EnsembleConfig::Vary::bootstrap && m <= count; ++m)
      add(plan, number, "seed", "seeds", m,
          {text("run.seed=", job_.settings.run.seed + static_cast<std::int64_t>(m) - 1)});
    for (std::size_t m = 1; config_.vary != EnsembleConfig::Vary::seeds && m <= count; ++m)
      add(plan, number, "bootstrap", "bootstraps", m,
          {"data.bootstrap=true", text("data.bootstrap_seed=", m)});
  }

 private:
  void add(StudyPlan& plan, std::size_t variant, const std::string& word, const std::string& varied,
           std::size_t m, std::vector<std::string> own) const {
    const record::StudyVariant& point = plan.study.variants[variant];
    std::string name = numbered(word, m);
    if (plan.study.variants.size() > 1) name = numbered("variant", variant + 1) + "_" + name;
    const std::string folder =
        text(record::run_files::members.name, "/", job_.settings.workload, "/", name);
    plan.study.members.push_back({name, point.label, varied, folder});
    std::vector<std::string> all = point.assignments;
    all.push_back(text("data.seed=", data_seed()));
    for (std::string& assignment : own) all.push_back(std::move(assignment));
    all.push_back("run.name=" + name);
    all.push_back("run.figures=false");
    all.push_back("run.fit=false");
    plan.assignments.push_back(std::move(all));
  }

  std::int64_t data_seed() const {
    const std::int64_t own = job_.settings.data.data.seed;
    return own < 0 ? job_.settings.run.seed : own;
  }

  const Job& job_;
  const EnsembleConfig& config_;
};

}  // namespace

std::vector<record::StudyVariant> grid_variants(const std::vector<std::string>& grid) {
  std::vector<record::StudyVariant> variants(1);
  for (const std::string& list : grid) {
    const GridAxis axis = parse_axis(list);
    std::vector<record::StudyVariant> product;
    for (const record::StudyVariant& before : variants)
      for (const std::string& value : axis.values) {
        record::StudyVariant point = before;
        point.assignments.push_back(axis.key + "=" + value);
        product.push_back(std::move(point));
      }
    variants = std::move(product);
  }
  std::set<std::string> labels;
  for (record::StudyVariant& variant : variants) {
    variant.label = variant.assignments.empty() ? "all" : core::join(variant.assignments, ", ");
    if (!labels.insert(variant.label).second)
      throw ConfigError("--grid", text("'", variant.label, "' is there twice. Name a value once."));
  }
  return variants;
}

StudyPlan plan_ensemble(const Workloads& workloads, const std::string& source,
                        const std::vector<std::string>& assignments, const Job& job) {
  StudyPlan plan;
  plan.study.kind = "ensemble";
  plan.study.workload = job.settings.workload;
  plan.study.ranks = static_cast<int>(job.settings.ensemble.ranks);
  plan.study.variants = grid_variants(job.settings.ensemble.grid);
  const Planner planner(job);
  for (std::size_t v = 0; v < plan.study.variants.size(); ++v) {
    std::vector<std::string> of_variant = assignments;
    for (const std::string& one : plan.study.variants[v].assignments) of_variant.push_back(one);
    read_job(workloads, source, of_variant).settings.loop.check();
    planner.add_variant(plan, v);
  }
  return plan;
}

}  // namespace sagips::cli
