#include "sagips/record/run_status.hpp"

#include <array>
#include <cstdio>
#include <random>
#include <utility>

#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/record/json.hpp"
#include "sagips/record/run_files.hpp"

namespace sagips::record {
namespace {

constexpr std::array words{
    std::pair{RunStatus::unfinished, "unfinished"}, std::pair{RunStatus::stopped, "stopped"},
    std::pair{RunStatus::finished, "finished"}, std::pair{RunStatus::failed, "failed"}};

std::string to_word(RunStatus status) {
  for (const auto& [known, word] : words)
    if (known == status) return word;
  return {};
}

std::string path_in(const std::string& folder) { return folder + "/" + run_files::status.name; }

}  // namespace

std::string draw_run_id() {
  std::random_device entropy;
  char digits[17];
  std::snprintf(digits, sizeof(digits), "%08x%08x", entropy(), entropy());
  return digits;
}

void write_run_record(const std::string& folder, const RunRecord& record) {
  const Json object{{"command", record.command},     {"status", to_word(record.status)},
                    {"started_s", record.started_s}, {"id", record.id},
                    {"data", record.data},           {"epochs_left", record.epochs_left}};
  core::write_file(path_in(folder), object.dump(2) + "\n");
}

void write_run_status(const std::string& folder, RunStatus status, bool epochs_left) {
  RunRecord record = read_run_record(folder).value_or(RunRecord{});
  record.status = status;
  record.epochs_left = epochs_left;
  write_run_record(folder, record);
}

std::optional<RunRecord> read_run_record(const std::string& folder) {
  try {
    const Json object = Json::parse(core::read_file(path_in(folder)));
    const auto word = object.at("status").get<std::string>();
    for (const auto& [status, known] : words)
      if (word == known)
        return RunRecord{
            object.at("command").get<std::string>(), status,
            object.at("started_s").get<double>(),    object.at("id").get<std::string>(),
            object.value("data", std::string()),     object.value("epochs_left", false)};
  } catch (const core::DataError&) {
  } catch (const Json::exception&) {
  }
  return {};
}

}  // namespace sagips::record
