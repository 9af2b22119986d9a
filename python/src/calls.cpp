#include "python/src/calls.hpp"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <thread>

#include "cli/workloads.hpp"
#include "python/src/callable.hpp"
#include "python/src/parts.hpp"
#include "python/src/tensor.hpp"
#include "sagips/analysis/report/report.hpp"
#include "sagips/cli/interrupt.hpp"
#include "sagips/cli/job_ranks.hpp"
#include "sagips/cli/program.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"
#include "sagips/nn/device.hpp"
#include "sagips/run/check.hpp"
#include "sagips/run/compare.hpp"
#include "sagips/run/effects.hpp"
#include "sagips/run/fit.hpp"
#include "sagips/run/generate.hpp"
#include "sagips/run/predict.hpp"
#include "sagips/run/solve.hpp"
#include "sagips/run/train.hpp"
#include "sagips/study/closure.hpp"
#include "sagips/study/convergence.hpp"
#include "sagips/study/ensemble.hpp"
#include "sagips/study/scaling/scaling.hpp"
#include "sagips/study/simulated/simulate.hpp"
#include "sagips/study/tune/tune.hpp"

namespace sagips::python {

namespace {

using Clock = std::chrono::steady_clock;
using core::text;

// They are begun once, and end with the process.
std::unique_ptr<comm::Ranks>& begun_ranks() {
  static auto& all = *new std::unique_ptr<comm::Ranks>;
  return all;
}

// A process that ends with a failure would wait for the others in MPI, and they for it.
void end_ranks(int exit_code, void*) {
  if (!begun_ranks()) return;
  if (exit_code != 0 && begun_ranks()->size() > 1) abort_ranks(exit_code);
  begun_ranks().reset();
}

comm::Ranks& ranks() {
  if (!begun_ranks()) {
    begun_ranks() = cli::make_ranks();
    on_exit(end_ranks, nullptr);
  }
  return *begun_ranks();
}

std::vector<problem::Entry> all_workloads() {
  std::vector<problem::Entry> all = shipped_workloads();
  all.push_back(objective_workload());
  return all;
}

/// Tells Python what happens, now and then. Called by threads that do not hold the interpreter.
class Watch {
 public:
  Watch(const nb::object& watch) : watch_(watch), looks_(!watch.is_none()) {}
  bool looks() const { return looks_; }

  /// often: it is not told where something was told a tenth of a second ago. A display that fails is not asked again:
  /// no training ends for it.
  void tell(const char* kind, bool often, const std::function<void(nb::dict&)>& add) {
    if (!looks_ || (often && Clock::now() - told_ < std::chrono::milliseconds(100))) return;
    told_ = Clock::now();
    try {
      with_interpreter("the display", [&] {
        nb::dict facts;
        add(facts);
        watch_.get()(kind, facts);
      });
    } catch (const std::exception&) {
      looks_ = false;
    }
  }

  void operator()(const record::Event& event) {
    if (const auto* started = std::get_if<record::RunStarted>(&event)) {
      epochs_ = started->epochs;
      minutes_ = started->minutes;
    } else if (const auto* epoch = std::get_if<record::EpochDone>(&event)) {
      tell("training", epoch->epoch != epochs_, [&](nb::dict& facts) {
        facts["epoch"] = epoch->epoch;
        facts["epochs"] = epochs_;
        facts["minutes"] = minutes_;
        facts["time_s"] = epoch->time_s;
        for (const auto& loss : epoch->losses) facts[loss.name.c_str()] = loss.value;
      });
    }
  }

 private:
  Object watch_;
  std::atomic<bool> looks_;
  Clock::time_point told_{};
  std::int64_t epochs_ = 0;
  double minutes_ = 0;
};

/// What commands say beside their files, made without the interpreter.
struct Said {
  std::string folder{};
  std::map<std::string, std::string> texts{};
  std::vector<std::string> problems{}, files{}, warnings{};
  std::vector<std::pair<std::string, at::Tensor>> tensors{};
};

/// A call with its options in C++, so that it needs the interpreter no longer.
class Work {
 public:
  Work(const std::string& command, const std::string& source,
       const std::vector<std::string>& assignments,
       const std::map<std::string, std::vector<std::string>>& options, const nb::object& watch)
      : command_(command),
        source_(source),
        assignments_(assignments),
        options_(options),
        watch_(watch) {}
  ~Work() {
    if (begun_ranks()) begun_ranks()->timeout().set_config({});  // which asks this object whether to stop
  }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  Said operator()() {
    const auto& all = commands();
    const auto found = all.find(command_);
    if (found == all.end()) throw core::Error(text("there is no command ", command_, "."));
    const bool alone = command_ != "train" && command_ != "solve" && command_ != "check" &&
                       command_ != "ensemble" && command_ != "closure" && command_ != "tune";
    if (alone) cli::require_one_rank(ranks(), command_);
    Said said = (this->*found->second)();
    for (const core::Warning& one : log_.warnings()) said.warnings.push_back(one.text);
    return said;
  }

 private:
  using Command = Said (Work::*)();
  static const std::map<std::string, Command>& commands() {
    static const std::map<std::string, Command> all = {
        {"train", &Work::train},       {"solve", &Work::solve},
        {"fit", &Work::fit},           {"check", &Work::check},
        {"compare", &Work::compare},   {"generate", &Work::generate},
        {"predict", &Work::predict},   {"report", &Work::report},
        {"closure", &Work::closure},   {"tune", &Work::tune},
        {"ensemble", &Work::of_study<study::ensemble>},
        {"scaling", &Work::of_study<study::scaling>},
        {"simulate", &Work::of_study<study::simulate>},
        {"convergence", &Work::of_study<study::convergence>}};
    return all;
  }

  std::string option(const std::string& name) const {
    const auto found = options_.find(name);
    return found == options_.end() || found->second.empty() ? std::string() : found->second.front();
  }
  record::Start start() const {
    const std::string word = option("start");
    return word == "fresh"      ? record::Start::fresh
           : word == "override" ? record::Start::with_changes
                                : record::Start::resume;
  }
  run::Requests requests() {
    run::Requests requests;
    requests.stop = [this] {
      const auto now = Clock::now();
      const bool looks = now - looked_ > std::chrono::milliseconds(20);
      if (looks) looked_ = now;
      if (!stopped_ && interrupted(looks)) stopped_ = now;
      if (const auto* const solving = solving_.load())
        watch_.tell("solving", true, [&](nb::dict& facts) {
          facts["phase"] = solving->phase.load();
          facts["evaluations"] = solving->evaluations.load();
          facts["calls"] = solving->calls.load();
          facts["expected"] = solving->expected.load();
        });
      return stopped_.has_value();
    };
    requests.stop_age_s = [this] {
      return stopped_ ? std::chrono::duration<double>(Clock::now() - *stopped_).count() : 0.0;
    };
    return requests;
  }

  Said train() {
    run::Job job = run::read_any_job(workloads(), source_, assignments_);
    run::TrainOptions options{start(), {std::ref(watch_)}, requests()};
    options.remark =
        run::keys_without_effect(workloads(), job, {.command = "train", .ranks = ranks().size()});
    const run::Results trained = run::train(job, ranks(), options, log_);
    if (trained.left) {  // the ranks no longer wait for each other
      ranks().status().take_leave();
      comm::Communicator::abort_alone(static_cast<int>(core::ExitCode::stopped_early));
    }
    if (trained.failure) std::rethrow_exception(trained.failure);
    return {.folder = trained.folder};
  }

  Said solve() {
    run::Job job = run::read_job(workloads(), source_, assignments_);
    run::warn_without_effect(workloads(), job,
                             {.command = "solve",
                              .trains = false,
                              .methods = {job.inverse().solve.method},
                              .ranks = ranks().size()},
                             ranks(), log_);
    run::SolveOptions options{start(), requests()};
    if (watch_.looks())
      options.show = [this](const optim::SolveProgress& progress, double) {
        solving_ = &progress;
        return std::shared_ptr<void>(nullptr, [this](void*) { solving_ = nullptr; });
      };
    const run::Solved solved = run::solve(job, ranks(), options, log_);
    return {.folder = ranks().broadcast(solved.folder)};  // which the first rank alone knows
  }

  Said fit() {
    run::Job job = run::read_job(workloads(), source_, assignments_);
    run::warn_without_effect(workloads(), job, {.command = "fit", .trains = false}, ranks(), log_);
    return {.folder = run::fit(job, ranks(), log_).folder};
  }

  Said check() {
    run::Job job = run::read_any_job(workloads(), source_, assignments_);
    const run::Checked checked = run::check(workloads(), job, ranks(), log_);
    return {.texts = {{"report", checked.report}}, .problems = checked.problems};
  }

  Said compare() {
    run::Job job = run::read_job(workloads(), source_, assignments_);
    const auto& config = job.of<run::CompareConfig>();
    config.check();
    const bool trains = std::count(config.methods.begin(), config.methods.end(), "gan") > 0;
    run::warn_without_effect(workloads(), job,
                             {.command = "compare", .trains = trains, .methods = config.methods},
                             ranks(), log_);
    return {.folder = run::compare(job, requests(), log_).folder};
  }

  Said generate() {
    run::Job job = run::read_any_job(workloads(), source_, assignments_);
    run::warn_without_effect(workloads(), job, {.command = "generate", .trains = false}, ranks(),
                             log_);
    const run::Generated made =
        run::generate(workloads(), std::move(job), source_, option("out"));
    Said said{.texts = {{"settings", made.settings}}};
    for (const auto& one : made.channels) said.files.push_back(one.file);
    return said;
  }

  Said predict() {
    run::PredictOptions options{.out = option("out")};
    const auto whole = [this](const std::string& name) {
      const std::string word = option(name);
      return word.empty() ? std::optional<std::int64_t>() : std::stoll(word);
    };
    options.samples = whole("samples");
    options.seed = whole("seed");
    if (const std::string word = option("network"); !word.empty()) options.best = word == "best";
    if (std::string word = option("device"); !word.empty()) options.device = std::move(word);
    for (const auto& [name, words] : options_)
      if (name == "inputs" || name.starts_with("inputs."))
        options.inputs[name == "inputs" ? "" : name.substr(7)] = words.front();
    const run::Predicted predicted = run::predict(workloads(), source_, options, log_);
    Said said{.folder = source_};
    for (const auto& output : predicted.outputs) {
      said.files.push_back(output.file);
      if (output.values.defined()) said.tensors.emplace_back("values", output.values);
      if (output.deviations.defined()) said.tensors.emplace_back("deviations", output.deviations);
    }
    return said;
  }

  Said report() {
    std::vector<std::string> folders{source_};
    folders.insert(folders.end(), assignments_.begin(), assignments_.end());
    core::write_file(option("out"), analysis::report::report_page(folders, option("figures")));
    return {.texts = {{"page", option("out")}}};
  }

  study::StudyOptions study_options() {
    study::StudyOptions options{start(), requests()};
    if (watch_.looks())
      options.progress = [this](const study::StudyProgress& progress) {
        watch_.tell("study", true, [&](nb::dict& facts) {
          facts["all"] = progress.all;
          facts["done"] = progress.done;
          facts["running"] = progress.running;
          facts["failed"] = progress.failed;
        });
      };
    options.program = options_.at("program");
    return options;
  }
  // What the first rank alone knows, on all of them.
  static Said said(const study::StudyEnd& end) {
    Said said{.folder = ranks().broadcast(end.folder), .texts = {{"tables", end.tables}}};
    const std::string remarks = core::trim(ranks().broadcast(end.remarks));
    if (!remarks.empty()) said.warnings = core::split(remarks, '\n');
    const bool has_failed = end.state == study::StudyEnd::State::failed;
    if (ranks().broadcast(has_failed ? "failed" : "") == "failed") said.problems = {remarks};
    return said;
  }

  template <auto study>
  Said of_study() {
    return said(study(workloads(), source_, assignments_, ranks(), study_options(), log_));
  }
  Said closure() {
    return said(study::closure(workloads(), run::read_job(workloads(), source_, assignments_),
                               ranks(), study_options(), log_));
  }
  Said tune() {
    try {
      return said(study::tune(workloads(), source_, assignments_, ranks(), {study_options()}, log_));
    } catch (study::SearchFailed& failed) {
      failed.end.state = study::StudyEnd::State::failed;
      failed.end.remarks = failed.what();
      return said(failed.end);
    }
  }

  std::string command_, source_;
  std::vector<std::string> assignments_;
  std::map<std::string, std::vector<std::string>> options_;
  Watch watch_;
  core::Log log_{{.quiet = true}};
  std::optional<Clock::time_point> stopped_{};
  Clock::time_point looked_{};
  std::atomic<const optim::SolveProgress*> solving_ = nullptr;
};

/// What happens at these signals, as it was at the end: the program has handlers of its own.
class KeptSignals {
 public:
  KeptSignals() {
    for (std::size_t i = 0; i < kept_.size(); ++i) sigaction(signals[i], nullptr, &kept_[i]);
  }
  ~KeptSignals() {
    for (std::size_t i = 0; i < kept_.size(); ++i) sigaction(signals[i], &kept_[i], nullptr);
  }
  KeptSignals(const KeptSignals&) = delete;
  KeptSignals& operator=(const KeptSignals&) = delete;

 private:
  static constexpr std::array signals = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};
  std::array<struct sigaction, signals.size()> kept_{};
};

}  // namespace

const run::Workloads& workloads() {
  static const run::Workloads all = cli::known_workloads(all_workloads());
  return all;
}

int begin_ranks() { return ranks().size(); }

bool claim_failure() {
  static const bool is_ours = ranks().status().claim_failure();
  return is_ours;
}

void abort_ranks(int exit_code) {
  cli::leave_no_unfinished_files();
  if (claim_failure()) begun_ranks().release()->communicator().abort(exit_code);
  std::this_thread::sleep_for(std::chrono::seconds(20));  // the launcher ends this process long before
  comm::Communicator::abort_alone(exit_code);
}

nb::dict run_call(const std::string& command, const std::string& source,
                  const std::vector<std::string>& assignments,
                  const std::map<std::string, std::vector<std::string>>& options, const nb::object& watch) {
  const CallScope scope;
  if (scope.is_inner() && ranks().size() > 1)
    throw core::ConfigError("", "a function that SAGIPS calls on several ranks cannot call SAGIPS itself (the ranks "
                                "would wait for each other). Start the script without a launcher.");
  Said said;
  std::exception_ptr failure;
  {
    std::optional<Work> work(std::in_place, command, source, assignments, options, watch);
    const nb::gil_scoped_release release;
    const at::AutoGradMode with_gradients(true);  // whatever the caller does without
    const int threads = at::get_num_threads();
    try {
      said = (*work)();
    } catch (...) {
      failure = std::current_exception();
    }
    if (at::get_num_threads() != threads) at::set_num_threads(threads);
    work.reset();
    if (!scope.is_inner()) nn::leave_precision();
    interrupted(true);  // of a command that does not ask
  }
  raise_interrupt();
  if (failure) std::rethrow_exception(failure);
  nb::dict all;
  all["folder"] = said.folder;
  all["problems"] = said.problems;
  all["files"] = said.files;
  all["warnings"] = said.warnings;
  for (const auto& [name, value] : said.texts) all[name.c_str()] = value;
  nb::list tensors;
  for (const auto& [name, tensor] : said.tensors) tensors.append(nb::make_tuple(name, tensor));
  all["tensors"] = tensors;
  return all;
}

int run_program(const std::vector<std::string>& words, const std::vector<std::string>& program) {
  const KeptSignals signals;
  std::vector<std::string> kept{"sagips"};
  kept.insert(kept.end(), words.begin(), words.end());
  std::vector<char*> pointers;
  for (std::string& word : kept) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return cli::run(static_cast<int>(kept.size()), pointers.data(), all_workloads(), program);
}

std::vector<std::map<std::string, std::string>> describe(const std::string& source) {
  run::Job job = run::read_any_job(workloads(), source, {});
  std::vector<std::map<std::string, std::string>> all;
  for (const auto& field : run::describe_job(workloads(), job, ""))
    all.push_back({{"key", field.key},
                   {"type", field.type},
                   {"range", field.range},
                   {"help", field.help},
                   {"value", field.value}});
  return all;
}

}  // namespace sagips::python
