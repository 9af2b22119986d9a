#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sagips/comm/ranks.hpp"
#include "sagips/core/log.hpp"
#include "sagips/record/open_run.hpp"
#include "sagips/record/study.hpp"
#include "sagips/run/requests.hpp"
#include "sagips/run/settings.hpp"

namespace sagips::study {

/// How far a study is, in trainings, experiments or simulations.
struct StudyProgress {
  std::size_t all = 0, done = 0, running = 0, failed = 0;
};
/// Called often while a study works; empty: nobody looks.
using ShowProgress = std::function<void(const StudyProgress&)>;

/// How a study is asked for.
struct StudyOptions {
  record::Start start = record::Start::resume;
  run::Requests requests{};
  ShowProgress progress{};  ///< on the first rank
  /// Words that start the program whose commands train members or make experiments in processes of their
  /// own, side by side, where the study has one rank. Empty: this process does everything itself.
  std::vector<std::string> program{};
};

/// How a study has ended, on the first rank.
struct StudyEnd {
  enum class State {
    complete,
    stopped,  ///< by a request or a limit; the same call goes on
    failed,   ///< some part of it has failed, or nothing came of it
  };
  /// What was stopped is no failure.
  static State state_of(bool stopped, bool failed) {
    return stopped ? State::stopped : failed ? State::failed : State::complete;
  }
  std::string folder;
  State state = State::complete;
  std::string tables{};   ///< what it found, for a person
  std::string remarks{};  ///< lines on what failed or is missing
  std::string figure{};   ///< the picture to look at first; empty: none
  std::string figures{};  ///< the pictures' folder, where none comes first; empty: there are none
  std::string page{};     ///< the report; empty: none
};

/// The folder of a study that works: open on the first rank, known to all of them.
class StudyRun {
 public:
  /// Opens the folder as `record::open_run` does: the one that the same command left, or a new one, with
  /// its log and what tells of the machine. With Start::with_changes only the keys in `may_change` may
  /// change: what is there must stay comparable with what is added. collective
  /// data: what tells the events that are read from others; empty: none are. throws: ConfigError,
  /// StorageError
  /// threads: of each rank; 0: members choose their own
  StudyRun(const run::Job& job, comm::Ranks& ranks, core::Log& log, const std::string& command,
           const std::string& data, record::Start start, const std::vector<std::string>& may_change,
           int threads);

  const std::string& path() const { return path_; }
  /// On the first rank.
  const record::RunDirectory& folder() const { return opened_->directory; }
  bool resumed() const { return opened_ && opened_->resumed; }
  /// Writes the config that trainings of the study start from into one of its folders.
  void write_training_config(const std::string& folder) const;
  /// Writes how it ended and the report, whose path is returned; empty: none is wanted. On the first rank.
  std::string finish(StudyEnd::State state);

 private:
  const run::Job& job_;
  core::Log& log_;
  std::optional<record::OpenedRun> opened_;
  std::string path_;
};

/// Writes study.json. A full disk costs the file, which is made anew from the members' folders when
/// the study goes on, and not the study: a warning tells.
void save_study(const std::string& path, const record::Study& study, core::Log& log);

/// How many members are in that state.
std::size_t count(const record::Study& study, record::StudyMember::State state);

/// How far it is while so many members run.
StudyProgress progress_of(const record::Study& study, std::size_t running);

/// A line for each member that failed, with its reason.
std::string failures_of(const record::Study& study);

/// A line for a study that was stopped; empty: nothing is missing. what: "trainings"
std::string stopped_line(std::size_t missing, std::size_t all, const std::string& what);

}  // namespace sagips::study
