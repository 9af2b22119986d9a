#include "sagips/cli/study_watch.hpp"

#include <iostream>
#include <utility>

#include "sagips/core/text.hpp"

namespace sagips::cli {

StudyWatch::StudyWatch(const Arguments& arguments, core::Log& log, std::string noun)
    : arguments_(arguments), noun_(std::move(noun)), lines_(log) {}

study::StudyOptions StudyWatch::options() {
  study::StudyOptions options{start_of(arguments_), requests()};
  options.requests.begun = [this] {
    interrupt_.emplace();
    checkpoint_.emplace();
  };
  if (lines_.are_live())
    options.progress = [this](const study::StudyProgress& progress) { show(progress); };
  options.program = arguments_.program;
  return options;
}

void StudyWatch::show(const study::StudyProgress& progress) {
  if (!done_at_start_) done_at_start_ = progress.done;
  std::string line = core::text(progress.done, " of ", progress.all, " ", noun_, " done, ",
                                progress.running, " running");
  if (progress.failed > 0) line += core::text(", ", progress.failed, " failed");
  line +=
      time_left(progress.done - *done_at_start_, progress.all - progress.done - progress.failed,
                std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count());
  lines_.show(line);
}

core::ExitCode show(const study::StudyEnd& ended, const Arguments& arguments) {
  std::cout << ended.tables;
  if (!ended.figure.empty()) std::cout << "figure: " << ended.figure << '\n';
  if (!ended.figures.empty()) std::cout << "figures: " << ended.figures << '\n';
  (arguments.quiet ? std::cerr : std::cout) << ended.remarks << std::flush;
  say_folder(arguments, ended.folder);
  say_report(ended.page);
  using State = study::StudyEnd::State;
  return ended.state == State::complete  ? core::ExitCode::done
         : ended.state == State::stopped ? core::ExitCode::stopped_early
                                         : core::ExitCode::failed;
}

}  // namespace sagips::cli
