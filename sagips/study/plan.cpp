#include "sagips/study/plan.hpp"

#include <cstdio>

#include "sagips/core/text.hpp"
#include "sagips/problem/loaded_data.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/run/learning_task.hpp"
#include "sagips/run/training_setup.hpp"
#include "sagips/study/grid.hpp"

namespace sagips::study {

namespace {

using core::text;

/// Puts together the members of one variant after the other.
class Planner {
 public:
  explicit Planner(const run::Job& job) : job_(job), config_(job.of<EnsembleConfig>()) {}

  void add_variant(StudyPlan& plan, std::size_t number) const {
    const auto count = static_cast<std::size_t>(config_.members);
    using Vary = EnsembleConfig::Vary;
    check_vary();
    for (std::size_t m = 1; config_.vary == Vary::folds && m <= count; ++m)
      add(plan, number, "fold", "folds", m, {text("data.fold=", m, "/", count)});
    if (config_.vary == Vary::folds) return;
    for (std::size_t m = 1; config_.vary != Vary::bootstrap && m <= count; ++m)
      add(plan, number, "seed", "seeds", m,
          {text("run.seed=", job_.settings.run.seed + static_cast<std::int64_t>(m) - 1)});
    for (std::size_t m = 1; config_.vary != Vary::seeds && m <= count; ++m)
      add(plan, number, "bootstrap", "bootstraps", m,
          {"data.bootstrap=true", text("data.bootstrap_seed=", m)});
  }

 private:
  void check_vary() const {
    using Vary = EnsembleConfig::Vary;
    const bool learning = job_.as<run::LearningProblem>();
    if (!learning && !job_.as<run::InverseProblem>())
      throw core::ConfigError(
          "command line", text("'", job_.settings.workload, "' is ", job_.problem->description(),
                               ", and ensembles are of networks that find parameters or learn "
                               "from rows. Start several trainings."));
    const bool fits = learning ? config_.vary == Vary::seeds || config_.vary == Vary::folds
                               : config_.vary != Vary::folds;
    if (!fits)
      throw core::ConfigError("ensemble.vary",
                              learning
                                  ? "rows of a learning problem are not drawn again. Choose seeds "
                                    "or folds."
                                  : "folds are parts of a learning problem's rows. Choose seeds, "
                                    "bootstrap or both.");
    if (config_.vary == Vary::folds && !job_.learning().split.fold.empty())
      throw core::ConfigError("data.fold",
                              "is what the members differ in. Take it out, or vary seeds.");
  }
  void add(StudyPlan& plan, std::size_t variant, const std::string& word, const std::string& varied,
           std::size_t m, std::vector<std::string> own) const {
    std::string name = numbered(word, m);
    if (plan.study.variants.size() > 1) name = numbered("variant", variant + 1) + "_" + name;
    add_member(plan, job_, variant, name, varied, std::move(own));
  }

  const run::Job& job_;
  const EnsembleConfig& config_;
};

run::Job job_of(const run::Workloads& workloads, const std::string& source,
                std::vector<std::string> assignments, const record::StudyVariant& variant) {
  for (const std::string& one : variant.assignments) assignments.push_back(one);
  return run::read_any_job(workloads, source, assignments);
}

}  // namespace

void EnsembleConfig::fields(core::FieldList& list) {
  list.add("members", members, "trainings of each variant, also --members",
           core::Range::between(2, 1e5));
  list.choice("vary", vary,
              {{"seeds", Vary::seeds},
               {"bootstrap", Vary::bootstrap},
               {"both", Vary::both},
               {"folds", Vary::folds}},
              "what differs between members, also --vary: run.seed with the data unchanged, data "
              "drawn again with replacement, as many members of either kind, or, of a learning "
              "problem, which of `members` parts of the rows is kept aside");
  list.add("grid", grid,
           "lists of values whose product are the variants: \"generator.width=32,64\"; "
           "also --grid");
  list.add("ranks", ranks, "ranks of each member, also --ranks", core::Range::between(1, 1e6));
  list.add(
      "launcher", launcher,
      "what starts a member of several ranks; {ranks} is their number. On Slurm: srun -n {ranks}");
  list.add("at_once", at_once, "members that train at the same time; 0: as the cores allow",
           core::Range::between(0, 1e5));
  list.add("draws", draws, "sub-ensembles drawn of each size; SAGIPS paper, Sec. VI-B: 300",
           core::Range::between(2, 1e6));
}

std::string numbered(const std::string& word, std::size_t number) {
  char digits[24];
  std::snprintf(digits, sizeof digits, "_%03zu", number);
  return word + digits;
}

void add_member(StudyPlan& plan, const run::Job& job, std::size_t variant, const std::string& name,
                const std::string& varied, std::vector<std::string> own) {
  const record::StudyVariant& point = plan.study.variants[variant];
  const std::string folder =
      text(record::run_files::members.name, "/", job.settings.workload, "/", name);
  plan.study.members.push_back({name, point.label, varied, folder});
  const bool learns = job.as<run::LearningProblem>() != nullptr;
  const std::int64_t data_seed = learns ? job.learning().split.seed : job.inverse().data.data.seed;
  std::vector<std::string> all;
  if (job.as<run::InverseProblem>()) {
    all.emplace_back("generator.finish=networks");
    all.emplace_back("run.fit=false");
  }
  all.insert(all.end(), point.assignments.begin(), point.assignments.end());
  all.push_back(text("data.seed=", data_seed < 0 ? job.settings.run.seed : data_seed));
  for (std::string& assignment : own) all.push_back(std::move(assignment));
  all.push_back("run.name=" + name);
  all.push_back("run.figures=false");
  all.push_back("run.tensorboard=false");
  plan.assignments.push_back(std::move(all));
}

std::vector<std::string> not_of_trainings(const run::Workloads& workloads) {
  std::vector<std::string> names = {"solve", "figures"};
  for (const run::SettingsGroup& group : workloads.groups) names.push_back(group.name);
  return names;
}

StudyPlan plan_ensemble(const run::Workloads& workloads, const std::string& source,
                        const std::vector<std::string>& assignments, const run::Job& job) {
  StudyPlan plan;
  plan.study.kind = "ensemble";
  plan.study.workload = job.settings.workload;
  plan.study.ranks = static_cast<int>(job.of<EnsembleConfig>().ranks);
  plan.study.variants = grid_variants(job.of<EnsembleConfig>().grid, not_of_trainings(workloads));
  const Planner planner(job);
  for (std::size_t v = 0; v < plan.study.variants.size(); ++v) {
    job_of(workloads, source, assignments, plan.study.variants[v]).settings.loop.check();
    planner.add_variant(plan, v);
  }
  return plan;
}

std::string try_variants(const run::Workloads& workloads, const std::string& source,
                         const std::vector<std::string>& assignments, const record::Study& study,
                         run::VariedKeys& varied) {
  std::string fingerprint;
  for (const record::StudyVariant& variant : study.variants) {
    run::Job job = job_of(workloads, source, assignments, variant);
    varied.look_at(workloads, job);
    if (job.as<run::LearningProblem>()) {
      const auto& config = job.of<EnsembleConfig>();
      if (config.vary == EnsembleConfig::Vary::folds)
        job.learning().split.fold = text("1/", config.members);
      const run::LearningRows rows = run::load_examples(job);
      run::make_learner(job, run::make_networks(job, *rows.sets.training), rows, {0, config.ranks});
      if (fingerprint.empty()) fingerprint = run::fingerprint_of(rows.sets);
      continue;
    }
    const auto data = problem::load_data(*job.inverse().workload, job.inverse().data, job.seed());
    const run::TrainingSetup setup(job, data.training(), job.seed());
    if (fingerprint.empty()) fingerprint = data.fingerprint();
  }
  return fingerprint;
}

}  // namespace sagips::study
