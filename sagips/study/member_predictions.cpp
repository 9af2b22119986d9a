#include "sagips/study/member_predictions.hpp"

#include <algorithm>
#include <cmath>

#include "sagips/analysis/residuals.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/npy.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/metrics.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/record/snapshots.hpp"

namespace sagips::study {

namespace {

namespace files = record::run_files;
constexpr std::size_t most_rows = 500;  // noise vectors; spreads over 500 are known to 3 %

std::vector<float> from_npy(const std::string& path, std::size_t columns) {
  const core::NpyArray array = core::read_npy(path);
  if (array.shape.size() != 2 || array.shape[1] != columns)
    throw core::DataError(path, core::text("has no column for each of ", columns,
                                           " parameters (it belongs to another run). Remove the "
                                           "member's folder to have it trained again."));
  return {array.values.begin(), array.values.end()};
}

std::vector<float> answer_of(const record::Results& results) {
  std::vector<float> values;
  for (const record::ParameterResult& parameter : results.parameters)
    values.push_back(static_cast<float>(parameter.recovered));
  return values;
}

std::vector<float> predictions_of_member(const std::string& folder, std::size_t columns) {
  const record::Results results =
      record::read_results_json(core::text(folder, "/", files::results.name));
  if (results.method == "gan, finished by moments") return answer_of(results);
  const auto snapshots = record::read_snapshots(core::text(folder, "/", files::snapshots.name));
  if (!snapshots.empty() && snapshots.back().epoch == results.epochs &&
      snapshots.back().parameters.size() == columns)
    return snapshots.back().predictions;
  return from_npy(core::text(folder, "/", files::generator_samples.name), columns);
}

}  // namespace

analysis::Ensemble predictions_of(const std::string& study_folder,
                                  const std::vector<const record::StudyMember*>& members,
                                  const std::vector<record::ParameterResult>& parameters) {
  analysis::Ensemble ensemble;
  for (const record::ParameterResult& parameter : parameters) {
    ensemble.parameters.push_back(parameter.name);
    ensemble.truth.push_back(parameter.fixed ? std::nullopt : parameter.truth);
  }
  const std::size_t columns = parameters.size();
  std::size_t fewest = most_rows;
  for (const record::StudyMember* member : members) {
    ensemble.members.push_back(predictions_of_member(study_folder + "/" + member->folder, columns));
    fewest = std::min(fewest, ensemble.members.back().size() / columns);
  }
  for (auto& member : ensemble.members) member.resize(fewest * columns);
  for (std::size_t p = 0; p < columns && fewest > 0; ++p) {
    if (!parameters[p].period) continue;
    const double period = *parameters[p].period,
                 first = parameters[p].truth.value_or(ensemble.members[0][p]);
    for (auto& member : ensemble.members)
      for (std::size_t i = p; i < member.size(); i += columns)
        member[i] -= static_cast<float>(std::round((member[i] - first) / period) * period);
  }
  return ensemble;
}

std::vector<analysis::RunLearningCurve> learning_curves_of(
    const std::string& study_folder, const std::vector<const record::StudyMember*>& members,
    core::Log& log) {
  std::vector<analysis::RunLearningCurve> curves;
  for (const record::StudyMember* member : members) try {
      curves.push_back({member->name,
                        record::read_metrics(core::text(study_folder, "/", member->folder, "/",
                                                        files::metrics.name)),
                        member->variant});
    } catch (const core::Error& problem) {
      log.warning("member-left-out",
                  core::text(problem.what(), " The picture of all members is drawn without ",
                             member->name, "."));
    }
  return curves;
}

std::vector<double> contraction(const analysis::Ensemble& ensemble) {
  const std::size_t columns = ensemble.parameters.size();
  std::vector<double> spreads(columns, 0.0);
  for (const auto& member : ensemble.members) {
    const auto predictions = analysis::predict(member, columns);
    for (std::size_t p = 0; p < columns; ++p)
      spreads[p] += predictions[p].spread / static_cast<double>(ensemble.members.size());
  }
  return spreads;
}

}  // namespace sagips::study
