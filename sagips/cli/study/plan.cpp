#include "sagips/cli/study/plan.hpp"

#include <cstdio>

#include "sagips/cli/study/grid.hpp"
#include "sagips/core/text.hpp"
#include "sagips/nn/device.hpp"
#include "sagips/record/run_files.hpp"

namespace sagips::cli {

namespace {

using core::text;

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
    all.push_back("run.tensorboard=false");
    plan.assignments.push_back(std::move(all));
  }

  std::int64_t data_seed() const {
    const std::int64_t own = job_.settings.data.data.seed;
    return own < 0 ? job_.settings.run.seed : own;
  }

  const Job& job_;
  const EnsembleConfig& config_;
};

Job job_of(const Workloads& workloads, const std::string& source,
           std::vector<std::string> assignments, const record::StudyVariant& variant) {
  for (const std::string& one : variant.assignments) assignments.push_back(one);
  return read_job(workloads, source, assignments);
}

}  // namespace

StudyPlan plan_ensemble(const Workloads& workloads, const std::string& source,
                        const std::vector<std::string>& assignments, const Job& job) {
  StudyPlan plan;
  plan.study.kind = "ensemble";
  plan.study.workload = job.settings.workload;
  plan.study.ranks = static_cast<int>(job.settings.ensemble.ranks);
  plan.study.variants = grid_variants(job.settings.ensemble.grid);
  const Planner planner(job);
  for (std::size_t v = 0; v < plan.study.variants.size(); ++v) {
    job_of(workloads, source, assignments, plan.study.variants[v]).settings.loop.check();
    planner.add_variant(plan, v);
  }
  return plan;
}

std::string member_config(Job job) {
  job.settings.ensemble = {};
  job.settings.closure = {};
  job.settings.convergence = {};
  core::FieldList list;
  job.settings.fields(list);
  job.settings.data.channel_fields(list, *job.workload);
  job.workload->fields(list);
  return core::write_fields(list);
}

void try_variants(const Workloads& workloads, const std::string& source,
                  const std::vector<std::string>& assignments, const record::Study& study) {
  for (const record::StudyVariant& variant : study.variants) {
    const Job job = job_of(workloads, source, assignments, variant);
    const env::Environment environment = problem::make_environment(
        *job.workload, job.settings.data, problem::Split::held_out, job.seed());
    const optim::Gan gan(job.settings.gan, environment, job.seed(),
                         nn::device_from_name(job.settings.device));
  }
}

}  // namespace sagips::cli
