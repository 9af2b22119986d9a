#include <unistd.h>

#include <iostream>
#include <optional>

#include "sagips/analysis/table.hpp"
#include "sagips/cli/commands.hpp"
#include "sagips/cli/display.hpp"
#include "sagips/cli/interrupt.hpp"
#include "sagips/core/text.hpp"
#include "sagips/run/outcome.hpp"
#include "sagips/run/train.hpp"

namespace sagips::cli {

namespace {

constexpr std::int64_t usual_timeline = 100;  // epochs that --timeline traces

/// What a person sees of a training while it runs, on rank 0, and the signals that may stop it.
class Watch {
 public:
  // Alone, a signal during the preparations ends the program; among ranks it may tell of a death.
  Watch(const comm::Ranks& ranks, bool quiet) : alone_(ranks.size() == 1) {
    if (!alone_) interrupt_.emplace();
    if (ranks.is_first())
      display_.emplace(quiet ? STDERR_FILENO : STDOUT_FILENO, DisplayConfig{.quiet = quiet});
  }

  void operator()(const record::Event& event) {
    if (std::holds_alternative<record::RunStarted>(event) && !interrupt_) interrupt_.emplace();
    if (display_) (*display_)(event);
    if (std::holds_alternative<record::RunFinished>(event) && alone_) interrupt_.reset();
  }

 private:
  bool alone_;
  const CheckpointSignal checkpoint_;
  std::optional<InterruptGuard> interrupt_;
  std::optional<Display> display_;
};

void show(const run::Results& trained, const Arguments& arguments) {
  std::cout << '\n' << analysis::result_table(trained.results) << '\n';
  if (!trained.results.errors_from.empty())
    std::cout << "errors: " << trained.results.errors_from << '\n';
  std::cout << run::goodness_lines(trained.results.goodness);
  if (trained.rows.size() > 1)
    std::cout << run::exchange_line(trained.exchange, trained.rows) << '\n';
  if (!trained.figure.empty())
    std::cout << (trained.results.parameters.empty() ? "learning curves: "
                                                     : "residuals over time: ")
              << trained.figure << '\n';
  if (!trained.page.empty()) std::cout << "report: " << trained.page << '\n';
  say_folder(arguments, trained.folder);
}

void say_stopped(const run::Results& trained, core::Log& log) {
  log.info(core::text("stopped: the same command goes on with ", trained.folder));
}

// The ranks have left each other in the middle of an epoch, so there is nothing that they could
// still do together, ending in order included. Their launcher is about to kill them.
[[noreturn]] void leave(comm::Ranks& ranks, const run::Results& trained, core::Log& log) {
  if (ranks.is_first()) {
    say_stopped(trained, log);
    log.flush();
    std::cout << "stopped; run folder: " << trained.folder << std::endl;
  }
  ranks.status().take_leave();
  comm::Communicator::abort_alone(static_cast<int>(core::ExitCode::stopped_early));
}

}  // namespace

core::ExitCode train(const Workloads& workloads, const Arguments& arguments) {
  comm::Ranks& ranks = *arguments.ranks;
  std::vector<std::string> assignments = arguments.assignments;
  if (arguments.options.contains("timeline"))
    assign_option(assignments, "timeline", "train.timeline", core::text(usual_timeline));
  if (arguments.options.contains("monitor"))
    assign_option(assignments, "monitor", "train.monitor", "true");
  const record::Start start = start_of(arguments);
  Job job = run::read_any_job(workloads, arguments.source, assignments);
  const std::string remark =
      run::keys_without_effect(workloads, job, {.command = "train", .ranks = ranks.size()});
  Watch watch(ranks, arguments.quiet);
  core::Log log({.quiet = arguments.quiet});
  run::TrainOptions options{start, {std::ref(watch)}, requests()};
  options.remark = remark;
  const run::Results trained = run::train(job, ranks, options, log);
  if (trained.left) leave(ranks, trained, log);
  if (ranks.is_first()) show(trained, arguments);
  if (ranks.is_first() && !trained.complete && !trained.failure &&
      job.settings.checkpoints.are_written())
    say_stopped(trained, log);
  if (trained.failure) {
    if (!ranks.is_first()) return core::ExitCode::failed;  // once the first has told it
    std::rethrow_exception(trained.failure);
  }
  return trained.complete ? core::ExitCode::done : core::ExitCode::stopped_early;
}

}  // namespace sagips::cli
