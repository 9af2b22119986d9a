#include "sagips/study/ensemble_results.hpp"

#include <cmath>
#include <optional>

#include "sagips/analysis/figures/ensemble.hpp"
#include "sagips/analysis/table.hpp"
#include "sagips/core/csv.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"
#include "sagips/problem/loaded_data.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/run/outcome.hpp"
#include "sagips/study/member_predictions.hpp"
#include "sagips/study/plan.hpp"
#include "sagips/study/study_figure.hpp"

namespace sagips::study {

namespace {

namespace files = record::run_files;
using analysis::EnsembleParameter;

/// Members of a variant that differ in the same way.
struct Kind {
  analysis::Ensemble ensemble;
  std::vector<EnsembleParameter> parameters;
};

struct VariantView {
  std::string label;
  record::Results known;  ///< of this variant's data: truth and floors
  std::optional<Kind> seeds, bootstraps;

  /// What the ensemble's value is the mean of.
  const Kind& main() const { return seeds ? *seeds : *bootstraps; }
  double value(std::size_t p) const { return main().parameters[p].value; }
  double error_of_mean(std::size_t p) const {
    return main().parameters[p].deviation /
           std::sqrt(static_cast<double>(main().ensemble.members.size()));
  }
  /// The error of the value, from bootstraps: the data's fluctuations, and what is left of the
  /// scatter over seeds.
  std::optional<double> error(std::size_t p) const {
    if (!bootstraps) return std::nullopt;
    const double data = bootstraps->parameters[p].deviation;
    return seeds ? std::hypot(data, error_of_mean(p)) : data;
  }
};

std::optional<Kind> kind_of(const std::string& folder, const record::Study& study,
                            const std::string& label, const std::string& varied,
                            const std::vector<record::ParameterResult>& parameters,
                            core::Log& log) {
  const auto members = study.done(label, varied);
  if (members.size() < 2) {
    if (!members.empty())
      log.warning("member-left-out",
                  core::text("variant '", label, "': only one of its members that vary ", varied,
                             " is done (a spread takes two); it is left out"));
    return std::nullopt;
  }
  Kind kind;
  kind.ensemble = predictions_of(folder, members, parameters);
  kind.parameters = analysis::summarise(kind.ensemble);
  return kind;
}

env::Environment environment_of(const run::Job& job) {
  return problem::load_data(*job.inverse().workload, job.inverse().data, job.seed()).all();
}

using JobOfVariant = std::function<run::Job(const record::StudyVariant&)>;

std::vector<VariantView> look_at(const std::string& folder, const record::Study& study,
                                 const JobOfVariant& job_of_variant, core::Log& log) {
  std::vector<VariantView> views;
  for (const record::StudyVariant& variant : study.variants) {
    const run::Job job = job_of_variant(variant);
    record::Results known = run::known_results(job, environment_of(job), log);
    const std::vector<record::ParameterResult>& parameters = known.parameters;
    VariantView view{variant.label, known,
                     kind_of(folder, study, variant.label, "seeds", parameters, log),
                     kind_of(folder, study, variant.label, "bootstraps", parameters, log)};
    if (view.seeds || view.bootstraps)
      views.push_back(std::move(view));
    else if (study.done(variant.label).empty())
      log.warning("member-left-out",
                  core::text("variant '", variant.label,
                             "': none of its members is done, so there is nothing to say"));
  }
  return views;
}

std::string cell(const std::optional<double>& number, int digits = 3) {
  return number ? core::significant(*number, digits) : std::string();
}

std::optional<double> deviation_of(const std::optional<Kind>& kind, std::size_t p) {
  return kind ? std::optional(kind->parameters[p].deviation) : std::nullopt;
}

// The front variant's rows are those of the results, which are judged; another's its own.
std::string table_of(const VariantView& view,
                     const std::vector<record::ParameterResult>& parameters, bool judged) {
  std::vector<std::vector<std::string>> rows;
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const record::ParameterResult& known = parameters[p];
    if (known.fixed) continue;
    const std::optional<double> error = judged ? known.error : view.error(p);
    rows.push_back({analysis::name_text(known), cell(known.truth, 5),
                    analysis::value_with_digits_of(error, view.value(p)), cell(error, 2),
                    cell(deviation_of(view.seeds, p)), cell(deviation_of(view.bootstraps, p)),
                    cell(view.error_of_mean(p)),
                    analysis::percent(view.main().parameters[p].residual),
                    analysis::percent(known.floor)});
  }
  std::string text = analysis::plain_table({"parameter", "true", "ensemble", "error", "seeds",
                                            "bootstraps", "of the mean", "residual", "floor"},
                                           rows);
  if (const auto all = analysis::quality(view.main().ensemble))
    text += core::text("RMS residual ", core::rounded(100 * all->residual, 2), " %, spread ",
                       core::rounded(100 * all->spread, 2), " % over ",
                       view.main().ensemble.members.size(), " members\n");
  return text;
}

std::string csv_of(const std::vector<VariantView>& views) {
  std::string content =
      "variant,parameter,unit,truth,value,error,seeds,seed_spread,seed_deviation,bootstraps,"
      "bootstrap_spread,bootstrap_deviation,error_of_mean,residual,floor\n";
  const auto count = [](const std::optional<Kind>& kind) {
    return kind ? kind->ensemble.members.size() : 0;
  };
  const auto spread = [&](const std::optional<Kind>& kind, std::size_t p) {
    return kind ? std::optional(kind->parameters[p].spread) : std::nullopt;
  };
  for (const VariantView& view : views)
    for (std::size_t p = 0; p < view.known.parameters.size(); ++p) {
      const record::ParameterResult& known = view.known.parameters[p];
      if (known.fixed) continue;
      content += core::csv_line(
          view.label, known.name, known.unit, known.truth, view.value(p), view.error(p),
          count(view.seeds), spread(view.seeds, p), deviation_of(view.seeds, p),
          count(view.bootstraps), spread(view.bootstraps, p), deviation_of(view.bootstraps, p),
          view.error_of_mean(p), view.main().parameters[p].residual, known.floor);
    }
  return content;
}

std::vector<analysis::SizeCurve> size_curves(const run::Job& job,
                                             const std::vector<VariantView>& views) {
  std::vector<analysis::SizeCurve> curves;
  for (const VariantView& view : views) {
    const analysis::Ensemble& ensemble = view.main().ensemble;
    const auto sizes = analysis::sampled_sizes(ensemble.members.size());
    auto found = analysis::over_sizes(
        ensemble, sizes, static_cast<std::size_t>(job.of<EnsembleConfig>().draws), job.seed());
    if (!found.empty()) curves.push_back({view.label, std::move(found)});
  }
  return curves;
}

std::string csv_of(const std::vector<analysis::SizeCurve>& curves) {
  std::string content = "variant,members,residual,residual_deviation,spread,spread_deviation\n";
  for (const analysis::SizeCurve& curve : curves)
    for (const analysis::EnsembleSize& size : curve.sizes)
      content += core::csv_line(curve.label, size.members, size.residual, size.residual_deviation,
                                size.spread, size.spread_deviation);
  return content;
}

// Returns the path of the picture to look at first; empty: there is none.
std::string draw(const std::vector<analysis::SizeCurve>& curves,
                 const std::vector<VariantView>& views, const analysis::FigureConfig& config,
                 const std::string& folder, core::Log& log) {
  if (curves.empty()) return {};  // no truth: neither residual nor relative spread
  std::string shown =
      draw_figure(analysis::ensemble_sizes(curves), config, folder, "ensemble_size", log);
  if (views.size() > 1) {
    std::vector<analysis::VariantQuality> points;
    for (const VariantView& view : views)
      if (const auto all = analysis::quality(view.main().ensemble))
        points.push_back({view.label, *all, analysis::quality_errors(view.main().ensemble)});
    shown =
        draw_figure(analysis::ensemble_variants(points), config, folder, "ensemble_variants", log);
  }
  return shown;
}

const record::StudyVariant& variant_of(const record::Study& study, const std::string& label) {
  return *std::find_if(study.variants.begin(), study.variants.end(),
                       [&](const record::StudyVariant& one) { return one.label == label; });
}

void fill(record::Results& results, const VariantView& view, const record::Study& study) {
  const std::size_t members = view.main().ensemble.members.size();
  const std::vector<double> contracted = contraction(view.main().ensemble);
  results.finish_reason = core::text(members, " members");
  for (std::size_t p = 0; p < results.parameters.size(); ++p) {
    record::ParameterResult& row = results.parameters[p];
    row.recovered = view.value(p);
    row.spread = contracted[p];
    if (row.fixed) continue;
    row.residual_end = view.main().parameters[p].residual;
    row.seed_error = deviation_of(view.seeds, p);
    row.bootstrap_error = deviation_of(view.bootstraps, p);
  }
  results.numbers.push_back({"members", static_cast<double>(members)});
  results.numbers.push_back({"ranks", static_cast<double>(study.ranks)});
}

void set_errors(record::Results& results, const VariantView& view) {
  if (!view.bootstraps) return;
  results.errors_from = view.seeds ? "spread over bootstraps, and that over seeds / sqrt(members)"
                                   : "spread over bootstraps";
  for (std::size_t p = 0; p < results.parameters.size(); ++p)
    if (!results.parameters[p].fixed && !results.parameters[p].open)
      results.parameters[p].error = view.error(p);
}

// The front variant's are those of the study. job: of that variant
record::Results results_of(const run::Job& job, const std::vector<VariantView>& views,
                           const record::Study& study, core::Log& log) {
  const VariantView& front = views.front();
  record::Results results = front.known;
  fill(results, front, study);
  const bool has_errors = run::judge_training(job, environment_of(job), results, log);
  if (front.label != study.variants.front().label)
    log.warning("member-left-out",
                core::text("results.json holds the variant '", front.label,
                           "': the first one has too few members that are done"));
  if (has_errors) set_errors(results, front);
  results.method = core::text("ensemble of ", front.main().ensemble.members.size(), " gans");
  for (const VariantView& view : views)
    if (const auto all = analysis::quality(view.main().ensemble)) {
      const std::string suffix = views.size() > 1 ? " " + view.label : "";
      results.numbers.push_back({"rms_residual" + suffix, all->residual});
      results.numbers.push_back({"rms_spread" + suffix, all->spread});
    }
  return results;
}

std::string tables_of(const std::vector<VariantView>& views, const record::Results& results) {
  std::string tables;
  for (const VariantView& view : views) {
    if (views.size() > 1) tables += core::text("\n", view.label, "\n");
    const bool judged = &view == &views.front();
    tables += table_of(view, judged ? results.parameters : view.known.parameters, judged);
  }
  if (!results.errors_from.empty())
    tables += core::text(views.size() > 1 ? views.front().label + ": " : "",
                         "errors: ", results.errors_from, "\n");
  return tables + run::goodness_lines(results.goodness);
}

}  // namespace

EnsembleEnd write_ensemble(const run::Job& job, const JobOfVariant& job_of_variant,
                           const std::string& folder, const record::Study& study, core::Log& log) {
  const std::vector<VariantView> views = look_at(folder, study, job_of_variant, log);
  if (views.empty()) return {};
  const run::Job shown = job_of_variant(variant_of(study, views.front().label));
  EnsembleEnd found;
  found.results = results_of(shown, views, study, log);
  const record::Results& results = *found.results;
  const auto file = [&](const record::RunFile& one) { return folder + "/" + one.name; };
  run::write_results(file(files::results), results, log);
  record::write_summary_csv(file(files::summary), results);
  core::write_file(file(files::ensemble), csv_of(views));
  const auto curves = size_curves(job, views);
  core::write_file(file(files::ensemble_size), csv_of(curves));
  found.tables = tables_of(views, results);
  if (!job.settings.run.figures) return found;
  std::vector<analysis::RunLearningCurve> members =
      learning_curves_of(folder, study.done(views.front().label), log);
  if (members.size() > analysis::curve_colours)
    for (analysis::RunLearningCurve& member : members)
      member.name.clear();  // no key has room for them
  draw_figure(analysis::runs_over_time(members, results.parameters), job.settings.figures, folder,
              "member_curves", log);
  found.figure = draw(curves, views, job.settings.figures, folder, log);
  run::write_results(file(files::results), results, log);  // with the warnings of pictures
  return found;
}

}  // namespace sagips::study
