#include "sagips/record/trials.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/json_lines.hpp"
#include "sagips/record/run_status.hpp"

namespace sagips::record {

namespace {

constexpr std::array states = {"done", "ended early", "failed"};

// When a process began, in clock ticks since the start of the machine: numbers come again. A zombie
// has ended.
std::string beginning_of(std::int64_t process) {
  std::ifstream file(core::text("/proc/", process, "/stat"));
  std::string line;
  if (!std::getline(file, line)) return {};
  const auto after_name = line.rfind(") ");
  if (after_name == std::string::npos) return {};
  const std::vector<std::string> fields = core::split(line.substr(after_name + 2), ' ');
  return fields.size() < 20 || fields[0] == "Z" || fields[0] == "X" ? "" : fields[19];
}

std::string machine() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string boot;
  std::getline(file, boot);
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  return core::text(host.data(), "/", boot);
}

// "host/boot/process/beginning"
std::string this_worker() {
  return core::text(machine(), "/", ::getpid(), "/", beginning_of(::getpid()));
}

// On this machine; of others nothing is known.
bool is_known_to_be_gone(const std::string& worker) {
  const auto beginning = worker.rfind('/');
  const auto process = beginning == 0 || beginning == std::string::npos
                           ? std::string::npos
                           : worker.rfind('/', beginning - 1);
  if (process == std::string::npos || worker.substr(0, process) != machine()) return false;
  double number = 0;
  if (!core::parse_number(worker.substr(process + 1, beginning - process - 1), number))
    return false;
  return beginning_of(static_cast<std::int64_t>(number)) != worker.substr(beginning + 1);
}

double changed_s(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return 0;
  return static_cast<double>(found.st_mtim.tv_sec) +
         1e-9 * static_cast<double>(found.st_mtim.tv_nsec);
}

bool touch(const std::string& path) { return ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0) == 0; }

// A file that is there at once with all that it holds, for the one process that is first. A link
// is made by one alone also where several machines see the folder.
bool write_first(const std::string& path, const std::string& id, const std::string& content) {
  const std::string aside = core::text(path, ".", id, ".new");
  core::write_file(aside, content);
  const bool linked = ::link(aside.c_str(), path.c_str()) == 0;
  const int problem = errno;
  struct stat made {};  // file systems over a network may ask twice, and refuse the second time
  const bool first = linked || (::stat(aside.c_str(), &made) == 0 && made.st_nlink == 2);
  ::unlink(aside.c_str());
  errno = problem;
  if (!first && problem != EEXIST) refuse_to_write(path);
  return first;
}

std::string padded(std::int64_t number) {
  std::array<char, 24> digits{};
  std::snprintf(digits.data(), digits.size(), "%05lld", static_cast<long long>(number));
  return digits.data();
}

}  // namespace

void each_field(Either<TrialClaim> auto& claim, const auto& use) {
  use("trial", claim.number);
  use("attempt", claim.attempt);
  use("worker", claim.worker);
  use("time_s", claim.time_s);
  use("point", claim.point);
  use("settings", claim.settings);
  use("from", claim.from);
  use("member", claim.member);
  use.later("trainings", claim.trainings);
}

void each_field(Either<TrialReport> auto& report, const auto& use) {
  use("fold", report.fold);
  use("epochs", report.epochs);
  use("value", report.value);
  use("last", report.last);
  use.later("time_s", report.time_s);
}

void each_field(Either<TrialEnd> auto& end, const auto& use) {
  use("reason", end.reason);
  use("value", end.value);
  use("spread", end.spread);
  use("epochs", end.epochs);
  use("time_s", end.time_s);
  use("ended_s", end.ended_s);
}

std::string word_of(TrialEnd::State state) { return states.at(static_cast<std::size_t>(state)); }

std::string word_of(const TrialRecord& trial) {
  if (trial.end) return word_of(trial.end->state);
  return trial.waits() ? "waits" : "running";
}

void write_trial(const std::string& path, const TrialRecord& trial, const std::string& metric) {
  const Json object{{"trial", trial.claim.number},
                    {"metric", metric},
                    {"value", json_of(trial.end->value)},
                    {"settings", trial.claim.settings}};
  core::write_file(path, object.dump(2) + "\n");
}

double wall_clock_s() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

TrialStore::TrialStore(std::string folder, double lease_s)
    : folder_(std::move(folder)), id_(draw_run_id()), lease_s_(lease_s) {
  std::error_code problem;
  std::filesystem::create_directories(folder_, problem);
  if (problem)
    throw core::StorageError(folder_, core::text("cannot be made (", problem.message(),
                                                 "). Free space or give the right to write."));
}

std::string TrialStore::claim_file(std::int64_t number, std::int64_t attempt) const {
  return core::text(folder_, "/", padded(number), ".claim_", attempt, ".json");
}

std::string TrialStore::lines_file(std::int64_t number, std::int64_t training) const {
  const std::string name = core::text(folder_, "/", padded(number));
  return name + (training == 1 ? ".jsonl" : core::text(".training_", training, ".jsonl"));
}

void TrialStore::read_claim(std::int64_t number, std::int64_t attempt) {
  const std::string path = claim_file(number, attempt);
  try {
    TrialClaim claim;
    read_into(claim, Json::parse(core::read_file(path)));
    TrialRecord& trial = trials_[number];
    if (attempt == 1) trial.first_claimed_s = claim.time_s;
    trial.claim = std::move(claim);
  } catch (const Json::exception& problem) {
    throw core::DataError(
        path, 1, core::text("is no claim of a trial (", problem.what(), "). Remove the file."));
  }
}

void TrialStore::read_lines(std::int64_t number) {
  TrialRecord& trial = trials_[number];
  std::vector<std::string> paths;
  std::uintmax_t size = 0;
  for (std::int64_t training = 1; training <= trial.claim.trainings; ++training) {
    std::error_code missing;
    const std::string path = lines_file(number, training);
    const std::uintmax_t own = std::filesystem::file_size(path, missing);
    if (missing) continue;
    size += own;
    paths.push_back(path);
  }
  if (sizes_[number] == size) return;
  trial.reports.clear();
  trial.end.reset();
  trial.signals = trial.given_back = 0;
  const auto use = [&](const Json& line) {
    if (line.contains("given_back")) {
      const auto attempt = line["given_back"].get<std::int64_t>();
      trial.given_back = std::max(trial.given_back, attempt);
      trial.signals += line.contains("signal") ? 1 : 0;
    } else if (!line.contains("state")) {
      read_into(trial.reports.emplace_back(), line);
    } else if (!trial.end) {
      TrialEnd end;
      read_into(end, line);
      const auto word = line["state"].get<std::string>();
      for (std::size_t i = 0; i < states.size(); ++i)
        if (word == states[i]) end.state = static_cast<TrialEnd::State>(i);
      trial.end = std::move(end);
    }
  };
  for (const std::string& path : paths) read_json_lines(path, "line of a trial", use);
  sizes_[number] = size;
}

const std::map<std::int64_t, TrialRecord>& TrialStore::read() {
  for (auto& [number, trial] : trials_) {
    if (trial.end) continue;
    while (std::filesystem::exists(claim_file(number, trial.claim.attempt + 1)))
      read_claim(number, trial.claim.attempt + 1);
    read_lines(number);
  }
  for (std::int64_t number = static_cast<std::int64_t>(trials_.size()) + 1;
       std::filesystem::exists(claim_file(number, 1)); ++number) {
    for (std::int64_t attempt = 1; std::filesystem::exists(claim_file(number, attempt)); ++attempt)
      read_claim(number, attempt);
    read_lines(number);
  }
  return trials_;
}

bool TrialStore::claim(TrialClaim claim) {
  claim.worker = this_worker();
  claim.time_s = wall_clock_s();
  return write_first(claim_file(claim.number, claim.attempt), id_, json_of(claim).dump() + "\n");
}

bool TrialStore::is_free(const TrialRecord& trial) const {
  if (trial.end) return false;
  if (trial.waits() || is_known_to_be_gone(trial.claim.worker)) return true;
  // the clock of the file system, which may be another machine's
  const std::string clock = core::text(folder_, "/.clock_", id_);
  if (!touch(clock)) {
    core::write_file(clock, "");
    touch(clock);
  }
  const double now = changed_s(clock);
  ::unlink(clock.c_str());
  return now - changed_s(claim_file(trial.claim.number, trial.claim.attempt)) > lease_s_;
}

bool TrialStore::owns(std::int64_t number, std::int64_t attempt) const {
  return !std::filesystem::exists(claim_file(number, attempt + 1));
}

void TrialStore::beat(std::int64_t number, std::int64_t attempt) const {
  touch(claim_file(number, attempt));
}

void TrialStore::report(std::int64_t number, const TrialReport& report) const {
  append_json_line(lines_file(number, report.fold), json_of(report));
}

void TrialStore::end(std::int64_t number, TrialEnd end) const {
  end.ended_s = wall_clock_s();
  Json line{{"state", word_of(end.state)}};
  line.update(json_of(end));
  append_json_line(lines_file(number), line);
}

void TrialStore::give_back(std::int64_t number, std::int64_t attempt, int signal) const {
  Json line{{"given_back", attempt}};
  if (signal != 0) line["signal"] = signal;
  append_json_line(lines_file(number), line);
}

}  // namespace sagips::record
