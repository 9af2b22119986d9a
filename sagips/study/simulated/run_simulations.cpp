#include "sagips/study/simulated/run_simulations.hpp"

#include <unistd.h>

#include <cstring>
#include <exception>
#include <filesystem>
#include <numeric>

#include "sagips/comm/mpi_communicator.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/process/process_pool.hpp"
#include "sagips/core/text.hpp"
#include "sagips/core/version.hpp"
#include "sagips/record/run_files.hpp"

namespace sagips::study {

namespace {

namespace fs = std::filesystem;
using core::text;

constexpr const char* job_ending = ".yaml";
constexpr const char* result_ending = ".result.yaml";
constexpr double worth_a_line_s = 10;  // of a simulation; most take less than one
constexpr std::size_t room = 65536;    // bytes; a result of a thousand ranks takes a third

std::string stem(const std::string& folder, const Simulation& one) {
  return text(folder, "/", record::run_files::simulations.name, "/", one.name);
}

// The build stands in it: exchanges change with the program.
std::string job_text(const Simulation& one) {
  return text("# sagips ", core::version(), " (", core::git_hash(), ")\n",
              core::write_config(one.job));
}

// The last line that a program printed: why it ended.
std::string last_words(const std::string& log) {
  std::string last;
  try {
    for (const std::string& line : core::split(core::read_file(log), '\n'))
      if (!core::trim(line).empty()) last = core::trim(line);
  } catch (const core::Error&) {
  }
  const auto mark = last.find("error: ");
  return mark == std::string::npos ? last : last.substr(mark + 7);
}

// What is missing in a file reads like a default, and says something else then.
bool answers(const simulate::ReplayResult& result, const Simulation& one) {
  const simulate::ReplayConfig& job = one.job;
  const auto floats = std::accumulate(job.tensors.begin(), job.tensors.end(), std::int64_t{0});
  return result.exchange == job.exchange && result.ranks == job.ranks && result.floats == floats &&
         result.fused == job.fused && result.epochs == job.epochs &&
         (!job.alone || result.promised == one.way.facts.exact) &&
         (job.epochs == 0 || result.epochs_per_s.size() == static_cast<std::size_t>(job.ranks));
}

void read_result(const std::string& path, Simulation& one) {
  const auto found =
      core::read_config(core::ConfigDocument::from_file(path), simulate::ReplayResult{});
  if (!answers(found, one)) throw core::Error(text("its result does not fit its job; see ", path));
  one.result = found;
  simulate::ReplayResult& result = *one.result;
  if (one.computation_s > 0) {
    result.epoch_s = one.computation_s + result.exchange_s;
    result.exposed_s = result.exchange_s;
    result.epochs_per_s.assign(static_cast<std::size_t>(result.ranks), 1 / result.epoch_s);
  }
  if (!result.promised || result.exact) return;
  one.failure = text("it promises the exact mean, and the ranks did not hold it (largest error ",
                     core::significant(one.result->largest_error, 2), ")");
  one.result.reset();
}

/// The simulations that are still to run, and what becomes of them.
class Runs {
 public:
  Runs(std::string folder, std::vector<Simulation>& all, const StudyOptions& options,
       core::Log& log)
      : folder_(std::move(folder)), all_(all), options_(options), log_(log) {
    const std::string simulator = simulator_program(options.program);
    for (std::size_t i = 0; i < all.size(); ++i) {
      Simulation& one = all[i];
      const std::string job = job_text(one), place = stem(folder_, one);
      const std::string answer = place + result_ending;
      if (file_holds(place + job_ending, job) && fs::exists(answer)) try {
          read_result(answer, one);
        } catch (const core::Error&) {  // half a result of a killed one
        }
      if (one.result) continue;
      std::error_code ignored;
      fs::remove(answer, ignored);
      fs::remove(place + ".txt", ignored);
      core::write_file(place + job_ending, job);
      one.failure.clear();
      pending_.push_back(i);
      programs_.push_back({{simulator, "replay", place + job_ending, answer},
                           {{"OMP_NUM_THREADS", "1"}},
                           place + ".txt",
                           comm::launcher_variables()});
    }
  }

  bool run(std::size_t at_once) {
    core::PoolWatch watch;
    watch.begun = [&](std::size_t) { ++running_; };
    watch.ended = [&](std::size_t i, const core::Ending& ending) {
      --running_;
      note_end(i, ending);
    };
    watch.refused = [&](std::size_t i, const std::string& reason) {
      fail(all_[pending_[i]], reason);
    };
    watch.waiting = [&] { show(); };
    watch.interrupted = [&] { return options_.requests.stop() || no_room_; };
    const bool finished = core::run_side_by_side(programs_, at_once, watch);
    if (no_room_) std::rethrow_exception(no_room_);
    return finished;
  }

 private:
  void fail(Simulation& one, const std::string& reason) {
    one.failure = reason;
    try {
      require_room(text(folder_, "/", record::run_files::simulations.name));
      log_.warning("member-failed", text(one.name, " failed: ", reason));
    } catch (const core::StorageError&) {
      no_room_ = std::current_exception();
    }
  }

  void note_end(std::size_t i, const core::Ending& ending) {
    Simulation& one = all_[pending_[i]];
    const std::string place = stem(folder_, one);
    if ((options_.requests.stop() || no_room_) && (ending.signal != 0 || ending.exit_code != 0))
      return;
    if (ending.signal != 0)
      return fail(one,
                  text("ended by signal ", ending.signal, " (", strsignal(ending.signal), ")"));
    if (ending.exit_code != 0) {
      const std::string reason = last_words(place + ".txt");
      return fail(one, reason.empty()
                           ? text("exit code ", ending.exit_code, "; see ", place, ".txt")
                           : reason);
    }
    try {
      read_result(place + result_ending, one);
    } catch (const core::Error& error) {
      one.failure = error.what();
    }
    if (!one.failure.empty()) return fail(one, one.failure);
    if (one.result->host_s >= worth_a_line_s)
      log_.info(text(one.name, ": done after ", core::duration(one.result->host_s)));
  }

  void show() {
    StudyProgress counts{all_.size(), 0, running_, 0};
    for (const Simulation& one : all_) {
      counts.done += one.result ? 1 : 0;
      counts.failed += one.failure.empty() ? 0 : 1;
    }
    if (options_.progress) options_.progress(counts);
    // a plain log gets a line a quarter
    const std::size_t quarter = 4 * counts.done / std::max<std::size_t>(1, counts.all);
    if (shown_ && quarter > *shown_ && quarter < 4)
      log_.info(text(counts.done, " of ", counts.all, " simulations done"));
    shown_ = quarter;
  }

  std::string folder_;
  std::vector<Simulation>& all_;
  const StudyOptions& options_;
  core::Log& log_;
  std::vector<std::size_t> pending_;
  std::vector<core::ChildProgram> programs_;
  std::size_t running_ = 0;
  std::optional<std::size_t> shown_;
  std::exception_ptr no_room_;
};

}  // namespace

bool file_holds(const std::string& path, const std::string& content) {
  try {
    return core::read_file(path) == content;
  } catch (const core::Error&) {
    return false;
  }
}

std::string simulator_program(const std::vector<std::string>& program, const std::string& name) {
  if (program.empty())
    throw core::ConfigError(
        "sagips simulate",
        "needs programs of their own, which lie beside that of SAGIPS. Name it.");
  std::string path;
  for (const std::string& beside : {program.front(), core::own_image()}) {
    path = fs::path(beside).parent_path().string() + "/" + name;
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  throw core::ConfigError("sagips simulate",
                          "this SAGIPS was built without SimGrid (" + path +
                              " is not there). Install SimGrid (Debian, Ubuntu: apt-get install "
                              "libsimgrid-dev) and build again.");
}

void require_room(const std::string& folder) {
  const std::string path = folder + "/room.txt";
  core::write_file(path, std::string(room, '\n'));
  std::error_code ignored;
  fs::remove(path, ignored);
}

bool run_simulations(const std::string& folder, std::size_t at_once, std::vector<Simulation>& all,
                     const StudyOptions& options, core::Log& log) {
  return Runs(folder, all, options, log).run(at_once);
}

}  // namespace sagips::study
