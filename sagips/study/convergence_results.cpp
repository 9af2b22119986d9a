#include "sagips/study/convergence_results.hpp"

#include <algorithm>
#include <optional>

#include "sagips/analysis/convergence/tables.hpp"
#include "sagips/analysis/figures/convergence.hpp"
#include "sagips/analysis/lookup.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/results.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/record/snapshots.hpp"
#include "sagips/run/outcome.hpp"
#include "sagips/study/scaling/scaling_results.hpp"
#include "sagips/study/study_figure.hpp"

namespace sagips::study {

namespace {

namespace files = record::run_files;
using analysis::ConvergenceVariant;
using core::text;

/// What the members of a variant did; empty when none is done.
std::optional<ConvergenceVariant> seen(ConvergenceVariant variant, const std::string& folder,
                                       const record::Study& study,
                                       const std::vector<analysis::Target>& targets) {
  std::vector<analysis::MemberLearningCurve> members;
  for (const record::StudyMember* member : study.done(variant.label)) {
    const std::string run = text(folder, "/", member->folder, "/");
    const record::Results results = record::read_results_json(run + files::results.name);
    members.push_back(record::read_snapshots(run + files::snapshots.name));
    variant.time_s.push_back(results.time_s);
    const record::NamedNumber* rate = analysis::find_named(results.numbers, "analysis_rate");
    variant.events_per_second.push_back(rate ? rate->value : 0);
  }
  if (members.empty()) return std::nullopt;
  variant.curve = analysis::ensemble_learning_curve(members, targets);
  return variant;
}

/// Tables and figures of the variants that have members.
class Report {
 public:
  Report(std::vector<std::optional<ConvergenceVariant>> seen, Pictures& pictures)
      : seen_(std::move(seen)), pictures_(pictures) {}

  void compare(const ConvergencePlan::Group& group) {
    const std::vector<ConvergenceVariant> shown = of(group);
    if (shown.empty()) return;
    tell(analysis::convergence_table(shown));
    const analysis::Shown all = pointers(shown);
    pictures_.draw(analysis::distance_over_time(all), group.name + "_distance");
    pictures_.draw(analysis::ensemble_residuals_over_time(all), group.name + "_residuals");
    pictures_.draw(analysis::ensemble_spread_over_time(all), group.name + "_spread");
  }

  void scale(const std::vector<analysis::ScalingRow>& rows, const std::string& unit) {
    const auto gains = [](const analysis::ScalingRow& row) {
      return row.ranks > 1 && row.speed_up && !row.series.empty();
    };
    if (std::none_of(rows.begin(), rows.end(), gains)) return;
    tell(analysis::speed_tables(rows, unit));
    pictures_.draw(analysis::time_over_ranks(rows), "time_over_ranks");
    pictures_.draw(analysis::rate_over_ranks(rows), "rate_over_ranks");
    pictures_.draw(analysis::time_split(rows), "time_split");
  }

  void scale_batch(const run::Job& job, const ConvergencePlan::Group& group) {
    const std::vector<ConvergenceVariant> shown = of(group);
    if (shown.size() < 2) return;
    const analysis::SuggestedStop stop = analysis::suggested_stop(
        shown[1].curve, shown[0].curve,
        static_cast<std::size_t>(job.of<ConvergenceConfig>().redrawn), job.seed());
    tell(text(shown[1].label, " against ", shown[0].label, ": ", analysis::stop_text(stop), "\n"));
    const analysis::Shown all = pointers(shown);
    pictures_.draw(analysis::distance_over_time(all, stop), group.name + "_distance");
    pictures_.draw(analysis::ensemble_residuals_over_time(all), group.name + "_residuals");
    pictures_.draw(analysis::ensemble_spread_over_time(all), group.name + "_spread");
  }

  const std::string& told() const { return told_; }

 private:
  std::vector<ConvergenceVariant> of(const ConvergencePlan::Group& group) const {
    std::vector<ConvergenceVariant> shown;
    for (std::size_t i = 0; i < group.variants.size(); ++i)
      if (const auto& one = seen_[group.variants[i]]) {
        shown.push_back(*one);
        shown.back().label = group.labels[i];
      }
    return shown;
  }

  static analysis::Shown pointers(const std::vector<ConvergenceVariant>& variants) {
    analysis::Shown all;
    for (const ConvergenceVariant& one : variants) all.push_back(&one);
    return all;
  }

  void tell(const std::string& table) {
    if (!told_.empty()) told_ += '\n';
    told_ += table;
  }

  std::vector<std::optional<ConvergenceVariant>> seen_;
  Pictures& pictures_;
  std::string told_;
};

/// What the same members say of times, with how far their ensembles were from the truth.
std::vector<analysis::ScalingRow> scaling_rows(const run::Job& job, const ConvergencePlan& plan,
                                               const record::Study& study,
                                               const std::string& folder,
                                               const std::vector<ConvergenceVariant>& variants,
                                               core::Log& log) {
  std::vector<analysis::ScalingRow> rows = look_at_members(job, plan, study, folder, log).rows;
  analysis::compare_with_one_rank(rows, 0);
  for (analysis::ScalingRow& row : rows)
    for (const ConvergenceVariant& variant : variants)
      if (variant.label == row.variant) {
        row.distance = analysis::distances(variant.curve).back();
        row.spread = analysis::spreads(variant.curve).back();
      }
  return rows;
}

}  // namespace

std::vector<analysis::Target> convergence_targets(const run::Job& job,
                                                  const env::Environment& environment,
                                                  core::Log& log) {
  std::vector<analysis::Target> targets;
  std::vector<std::string> zero;
  for (const record::ParameterResult& row : run::known_results(job, environment, log).parameters) {
    if (row.fixed || !row.truth) continue;
    if (*row.truth == 0)
      zero.push_back(row.name);
    else
      targets.push_back({row.name, *row.truth, row.floor});
  }
  if (targets.empty())
    throw core::ConfigError(
        "data",
        "no parameter has a known truth other than 0 (residuals are relative to it). Use "
        "toy data; `sagips ensemble` compares trainings on measured ones.");
  if (!zero.empty())
    log.warning(
        "left-out",
        core::join(zero, ", ") +
            " is left out: a truth of 0 has no relative residual. Shift the parameter to see "
            "it.");
  return targets;
}

ConvergenceEnd write_convergence(const run::Job& job, const std::string& folder,
                                 const ConvergencePlan& plan, const record::Study& study,
                                 const std::vector<analysis::Target>& targets, core::Log& log) {
  std::vector<std::optional<ConvergenceVariant>> all;
  std::vector<ConvergenceVariant> there;
  for (const ConvergenceVariant& variant : plan.variants) {
    try {
      all.push_back(seen(variant, folder, study, targets));
    } catch (const core::Error& error) {  // other variants may still be compared
      log.warning("left-out", text(variant.label, " cannot be looked at: ", error.what()));
      all.emplace_back();
      continue;
    }
    if (all.back()) there.push_back(*all.back());  // the others are told of by their times
  }
  ConvergenceEnd end;
  if (there.empty()) return end;
  analysis::write_convergence_csv(text(folder, "/", files::convergence.name), there);
  const std::vector<analysis::ScalingRow> rows = scaling_rows(job, plan, study, folder, there, log);
  analysis::write_scaling_rows(text(folder, "/", files::scaling.name), rows);
  Pictures pictures(job, folder, log);
  Report report(std::move(all), pictures);
  for (const ConvergencePlan::Group& group : plan.comparisons) report.compare(group);
  report.scale(rows, job.problem->unit());
  for (const ConvergencePlan::Group& group : plan.batch_scalings) report.scale_batch(job, group);
  // a batch job's output may be lost
  core::write_file(text(folder, "/", files::tables.name), report.told());
  end.variants = std::move(there);
  end.tables = report.told();
  end.figures = pictures.place();
  return end;
}

}  // namespace sagips::study
