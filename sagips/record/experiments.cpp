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

void each_field(Either<ExperimentEstimate> auto& estimate, const auto& use) {
  use("errors_from", estimate.errors_from);
  use("values", estimate.values);
  use("errors", estimate.errors);
}

void each_field(Either<Experiment> auto& experiment, const auto& use) {
  use("experiment", experiment.number);
  use("time_s", experiment.time_s);
  use("core_s", experiment.core_s);
  use("failure", experiment.failure);
  use("estimates", experiment.estimates);
}

namespace {

void read_file_into(const std::string& path, std::map<std::int64_t, Experiment>& found) {
  const std::string content = core::read_file(path);
  std::size_t row = 0;
  for (std::size_t start = 0; start < content.size(); ++row) {
    const auto end = content.find('\n', start);
    if (end == std::string::npos) return;  // cut off
    try {
      Experiment one;
      read_into(one, Json::parse(content.substr(start, end - start)));
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
      json_of(experiment).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
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
