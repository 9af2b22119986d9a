#include "sagips/study/convergence_results.hpp"

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

/// Pictures of a study; the first that cannot be drawn is told, and no other one tried.
class Pictures {
 public:
  Pictures(const run::Job& job, const std::string& folder, core::Log& log)
      : folder_(folder), config_(job.settings.figures), log_(log), on_(job.settings.run.figures) {}

  void draw(const analysis::Figure& figure, const std::string& name) {
    if (!on_) return;
    on_ = !draw_figure(figure, config_, folder_, name, log_).empty();
    drawn_ = drawn_ || on_;
  }

  /// Where they are; empty without any.
  std::string place() const {
    return drawn_ ? text(folder_, "/", files::figures.name) : std::string();
  }

 private:
  std::string folder_;
  const analysis::FigureConfig& config_;
  core::Log& log_;
  bool on_, drawn_ = false;
};

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

  void scale(const std::vector<ConvergenceVariant>& all) {
    const auto series = analysis::scaling_series(all);
    if (series.empty()) return;
    tell(analysis::scaling_table(all));
    pictures_.draw(analysis::time_over_ranks(series), "time_over_ranks");
    pictures_.draw(analysis::rate_over_ranks(series), "rate_over_ranks");
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
    if (all.back())
      there.push_back(*all.back());
    else
      log.warning("left-out", text(variant.label, " is left out: none of its trainings is done"));
  }
  ConvergenceEnd end;
  if (there.empty()) return end;
  analysis::write_convergence_csv(text(folder, "/", files::convergence.name), there);
  analysis::write_scaling_csv(text(folder, "/", files::scaling.name), there);
  Pictures pictures(job, folder, log);
  Report report(std::move(all), pictures);
  for (const ConvergencePlan::Group& group : plan.comparisons) report.compare(group);
  report.scale(there);
  for (const ConvergencePlan::Group& group : plan.batch_scalings) report.scale_batch(job, group);
  // a batch job's output may be lost
  core::write_file(text(folder, "/", files::tables.name), report.told());
  end.variants = std::move(there);
  end.tables = report.told();
  end.figures = pictures.place();
  return end;
}

}  // namespace sagips::study
