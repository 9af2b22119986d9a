#include "sagips/record/experiments.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <filesystem>
#include <map>
#include <system_error>

#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/json.hpp"

namespace sagips::record {
namespace {

Json to_json(const Experiment& experiment) {
  Json estimates = Json::array();
  for (const ExperimentEstimate& one : experiment.estimates)
    estimates.push_back(
        {{"errors_from", one.errors_from}, {"values", one.values}, {"errors", one.errors}});
  return {{"experiment", experiment.number},
          {"time_s", experiment.time_s},
          {"core_s", experiment.core_s},
          {"failure", experiment.failure},
          {"estimates", std::move(estimates)}};
}

std::vector<double> numbers(const Json& list) {
  std::vector<double> values;
  for (const Json& one : list) values.push_back(number(one));
  return values;
}

Experiment experiment_from_json(const Json& object) {
  Experiment experiment;
  object.at("experiment").get_to(experiment.number);
  experiment.time_s = number(object.at("time_s"));
  experiment.core_s = number(object.at("core_s"));
  object.at("failure").get_to(experiment.failure);
  for (const Json& one : object.at("estimates"))
    experiment.estimates.push_back({one.at("errors_from").get<std::string>(),
                                    numbers(one.at("values")), numbers(one.at("errors"))});
  return experiment;
}

void read_file_into(const std::string& path, std::map<std::int64_t, Experiment>& found) {
  const std::string content = core::read_file(path);
  std::size_t row = 0;
  for (std::size_t start = 0; start < content.size(); ++row) {
    const auto end = content.find('\n', start);
    if (end == std::string::npos) return;  // cut off
    try {
      const Experiment one = experiment_from_json(Json::parse(content.substr(start, end - start)));
      const auto [before, is_new] = found.emplace(one.number, one);
      if (!is_new && !before->second.failure.empty()) before->second = one;
    } catch (const std::exception& error) {
      throw core::DataError(path, row + 1,
                            core::text("is no experiment (", error.what(), "). Remove the line."));
    }
    start = end + 1;
  }
}

[[noreturn]] void refuse(const std::string& path) {
  throw core::StorageError(path,
                           core::text("cannot be written (", std::system_category().message(errno),
                                      "). Free space or give the right to write."));
}

// Without the beginning of a line that a crash has cut off.
void begin_new_line(int file, const std::string& path) {
  const off_t size = ::lseek(file, 0, SEEK_END);
  char last = '\n';
  if (size > 0 && ::pread(file, &last, 1, size - 1) != 1) refuse(path);
  if (last == '\n') return;
  const std::string content = core::read_file(path);
  const auto kept = content.rfind('\n');
  if (::ftruncate(file, kept == std::string::npos ? 0 : static_cast<off_t>(kept + 1)) != 0)
    refuse(path);
  ::lseek(file, 0, SEEK_END);
}

}  // namespace

void append_experiment(const std::string& path, const Experiment& experiment) {
  const std::string line =
      to_json(experiment).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  const core::Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (file.number() < 0) refuse(path);
  begin_new_line(file.number(), path);
  if (!core::write_all(file.number(), line)) refuse(path);
}

std::vector<Experiment> read_experiments(const std::string& folder) {
  std::map<std::int64_t, Experiment> found;
  std::error_code missing;
  for (const auto& entry : std::filesystem::directory_iterator(folder, missing))
    if (entry.path().extension() == ".jsonl") read_file_into(entry.path().string(), found);
  std::vector<Experiment> experiments;
  for (auto& [number, one] : found) experiments.push_back(std::move(one));
  return experiments;
}

}  // namespace sagips::record
