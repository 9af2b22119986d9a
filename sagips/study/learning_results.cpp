#include <cmath>
#include <vector>

#include "sagips/analysis/figures/learning.hpp"
#include "sagips/analysis/statistics.hpp"
#include "sagips/analysis/table.hpp"
#include "sagips/core/csv.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/run/outcome.hpp"
#include "sagips/study/ensemble_results.hpp"
#include "sagips/study/member_predictions.hpp"
#include "sagips/study/study_figure.hpp"

namespace sagips::study {

namespace {

namespace files = record::run_files;

/// A metric at the end of each member.
struct MetricOverMembers {
  std::string name;
  std::vector<double> values{};

  double mean() const { return analysis::mean(values); }
  double deviation() const { return analysis::standard_deviation(values); }
  double error_of_mean() const {
    return deviation() / std::sqrt(static_cast<double>(values.size()));
  }
};

std::vector<MetricOverMembers> metrics_of(const std::vector<record::Results>& members) {
  std::vector<MetricOverMembers> metrics;
  for (const record::MetricResult& metric : record::metrics_of(members.front()))
    metrics.push_back({metric.name});
  for (const record::Results& member : members)
    for (const record::MetricResult& found : record::metrics_of(member))
      for (MetricOverMembers& metric : metrics)
        if (metric.name == found.name) metric.values.push_back(found.end);
  return metrics;
}

std::string table_of(const std::vector<MetricOverMembers>& metrics) {
  std::vector<std::vector<std::string>> rows;
  for (const MetricOverMembers& metric : metrics)
    rows.push_back({metric.name, core::significant(metric.mean(), 4),
                    core::significant(metric.deviation(), 2),
                    core::significant(metric.error_of_mean(), 2)});
  return analysis::plain_table({"metric", "mean", "deviation", "of the mean"}, rows);
}

// The first variant's means stand for the study.
record::Results results_of(const record::Results& member,
                           const std::vector<MetricOverMembers>& metrics, std::size_t members,
                           std::int64_t seed) {
  record::Results results = member;
  results.numbers = {{"members", static_cast<double>(members)}};
  for (const MetricOverMembers& metric : metrics) {
    results.numbers.push_back({metric.name + "_end", metric.mean()});
    results.numbers.push_back({metric.name + "_deviation", metric.deviation()});
  }
  results.finish_reason = core::text(members, " members");
  results.seed = seed;
  return results;
}

}  // namespace

EnsembleEnd write_learning_ensemble(const run::Job& job, const std::string& folder,
                                    const record::Study& study, core::Log& log) {
  EnsembleEnd found;
  std::optional<record::Results>& results = found.results;
  std::vector<const record::StudyMember*> shown;
  std::string csv = "variant,metric,members,mean,deviation,error_of_mean\n";
  for (const record::StudyVariant& variant : study.variants) {
    std::vector<record::Results> members;
    for (const record::StudyMember* member : study.done(variant.label))
      members.push_back(record::read_results_json(
          core::text(folder, "/", member->folder, "/", files::results.name)));
    if (members.size() < 2) {
      log.warning("member-left-out", core::text("variant '", variant.label, "': ", members.size(),
                                                members.size() == 1 ? " member is" : " members are",
                                                " done (a spread takes two); it is left out"));
      continue;
    }
    const std::vector<MetricOverMembers> metrics = metrics_of(members);
    if (study.variants.size() > 1) found.tables += core::text("\n", variant.label, "\n");
    found.tables += core::text(table_of(metrics), members.size(), " members that vary ",
                               study.done(variant.label).front()->varied, "\n");
    for (const MetricOverMembers& metric : metrics)
      csv += core::csv_line(variant.label, metric.name, metric.values.size(), metric.mean(),
                            metric.deviation(), metric.error_of_mean());
    for (const record::StudyMember* member : study.done(variant.label)) shown.push_back(member);
    if (!results)
      results = results_of(members.front(), metrics, members.size(), job.settings.run.seed);
  }
  if (!results) return found;
  run::write_results(folder + "/" + files::results.name, *results, log);
  record::write_summary_csv(folder + "/" + files::summary.name, *results);
  core::write_file(folder + "/" + files::ensemble.name, csv);
  if (!job.settings.run.figures) return found;
  found.figure = draw_figure(analysis::member_curves(learning_curves_of(folder, shown, log)),
                             job.settings.figures, folder, "member_curves", log);
  return found;
}

}  // namespace sagips::study
