#include "python/src/calls.hpp"

#include <ATen/Parallel.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <thread>

#include "cli/workloads.hpp"
#include "python/src/callable.hpp"
#include "python/src/objective.hpp"
#include "python/src/tensor.hpp"
#include "sagips/analysis/report/report.hpp"
#include "sagips/cli/interrupt.hpp"
#include "sagips/cli/job_ranks.hpp"
#include "sagips/cli/program.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"
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

// MPI may be begun once in a process. Never destroyed by itself: Python says when it ends (python/sagips/ranks.py).
std::unique_ptr<comm::Ranks>& begun_ranks() {
  static auto& all = *new std::unique_ptr<comm::Ranks>;
  return all;
}

comm::Ranks& ranks() {
  if (!begun_ranks()) begun_ranks() = cli::make_ranks();
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

/// Reads how far a solver has come, from a thread of its own, as long as it is there.
class SolveWatch {
 public:
  SolveWatch(const optim::SolveProgress& progress, Watch& watch)
      : thread_([this, &progress, &watch] {
          std::unique_lock lock(mutex_);
          while (!over_.wait_for(lock, std::chrono::milliseconds(200), [this] { return ends_; }))
            watch.tell("solving", false, [&](nb::dict& facts) {
              facts["phase"] = progress.phase.load();
              facts["evaluations"] = progress.evaluations.load();
              facts["calls"] = progress.calls.load();
              facts["expected"] = progress.expected.load();
              facts["score"] = progress.score.load();
            });
        }) {}
  ~SolveWatch() {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    over_.notify_all();
    thread_.join();
  }
  SolveWatch(const SolveWatch&) = delete;
  SolveWatch& operator=(const SolveWatch&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable over_;
  bool ends_ = false;
  std::thread thread_;
};

/// What commands say beside their files, made without the interpreter.
struct Said {
  std::string folder{};
  bool complete = true;
  std::map<std::string, std::string> texts{};
  std::vector<std::string> problems{}, files{};
  std::vector<std::pair<std::string, at::Tensor>> tensors{};
};

/// A call with its options in C++, so that it needs the interpreter no longer.
class Work {
 public:
  explicit Work(const Call& call)
      : command_(call.command),
        source_(call.source),
        assignments_(call.assignments),
        options_(call.options),
        watch_(call.watch) {}

  Said operator()() {
    const auto& all = commands();
    const auto found = all.find(command_);
    if (found == all.end()) throw core::Error(text("there is no command ", command_, "."));
    const bool alone = command_ != "train" && command_ != "solve" && command_ != "check" &&
                       command_ != "ensemble" && command_ != "closure" && command_ != "tune";
    if (alone) cli::require_one_rank(ranks(), command_);
    return (this->*found->second)();
  }

 private:
  using Command = Said (Work::*)();
  static const std::map<std::string, Command>& commands() {
    static const std::map<std::string, Command> all = {
        {"train", &Work::train},       {"solve", &Work::solve},
        {"fit", &Work::fit},           {"check", &Work::check},
        {"compare", &Work::compare},   {"generate", &Work::generate},
        {"predict", &Work::predict},   {"report", &Work::report},
        {"ensemble", &Work::ensemble}, {"closure", &Work::closure},
        {"tune", &Work::tune},         {"scaling", &Work::scaling},
        {"simulate", &Work::simulate}, {"convergence", &Work::convergence}};
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
      if (!stopped_ && now - looked_ < std::chrono::milliseconds(20)) return false;
      looked_ = now;
      if (!stopped_ && interrupted()) stopped_ = now;
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
    return {.folder = trained.folder,
            .complete = trained.complete,
            .texts = {{"figure", trained.figure}, {"page", trained.page}}};
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
        return std::make_shared<SolveWatch>(progress, watch_);
      };
    const run::Solved solved = run::solve(job, ranks(), options, log_);
    return {.folder = solved.folder, .complete = solved.complete, .texts = {{"page", solved.page}}};
  }

  Said fit() {
    run::Job job = run::read_job(workloads(), source_, assignments_);
    run::warn_without_effect(workloads(), job, {.command = "fit", .trains = false}, ranks(), log_);
    const run::Fitted fitted = run::fit(job, ranks(), log_);
    return {.folder = fitted.folder, .texts = {{"page", fitted.page}}};
  }

  Said check() {
    run::Job job = run::read_any_job(workloads(), source_, assignments_);
    const run::Checked checked = run::check(workloads(), job, ranks(), log_);
    return {.complete = checked.trainable,
            .texts = {{"report", checked.report}},
            .problems = checked.problems};
  }

  Said compare() {
    run::Job job = run::read_job(workloads(), source_, assignments_);
    const auto& config = job.of<run::CompareConfig>();
    config.check();
    const bool trains = std::count(config.methods.begin(), config.methods.end(), "gan") > 0;
    run::warn_without_effect(workloads(), job,
                             {.command = "compare", .trains = trains, .methods = config.methods},
                             ranks(), log_);
    const run::Compared compared = run::compare(job, requests(), log_);
    return {.folder = compared.folder,
            .complete = compared.complete,
            .texts = {{"figure", compared.figure}}};
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
  static Said said(const study::StudyEnd& end) {
    Said said{.folder = ranks().broadcast(end.folder),  // which the first rank alone knows
              .complete = end.state == study::StudyEnd::State::complete,
              .texts = {{"tables", end.tables}, {"remarks", end.remarks}, {"page", end.page}}};
    if (end.state == study::StudyEnd::State::failed) said.problems.push_back(end.remarks);
    return said;
  }

  Said ensemble() {
    return said(study::ensemble(workloads(), source_, assignments_, ranks(), study_options(), log_));
  }
  Said closure() {
    return said(study::closure(workloads(), run::read_job(workloads(), source_, assignments_),
                               ranks(), study_options(), log_));
  }
  Said tune() {
    const study::TuneOptions options{study_options()};
    const study::TuneEnd end =
        study::tune(workloads(), source_, assignments_, ranks(), options, log_);
    Said told = said(end);
    if (end.best) told.texts["best"] = text(*end.best);
    return told;
  }
  Said scaling() {
    return said(study::scaling(workloads(), source_, assignments_, ranks(), study_options(), log_));
  }
  Said convergence() {
    return said(
        study::convergence(workloads(), source_, assignments_, ranks(), study_options(), log_));
  }
  Said simulate() {
    return said(
        study::simulate(workloads(), source_, assignments_, ranks(), study_options(), log_));
  }

  std::string command_, source_;
  std::vector<std::string> assignments_;
  std::map<std::string, std::vector<std::string>> options_;
  Watch watch_;
  core::Log log_{{.quiet = true}};
  std::optional<Clock::time_point> stopped_{};
  Clock::time_point looked_{};
};

[[noreturn]] void raise(const char* type, const std::string& message) {
  const nb::object error = nb::module_::import_("sagips.errors").attr(type);
  PyErr_SetString(error.ptr(), message.c_str());
  throw nb::python_error();
}

// The interpreter is held. What a function of the user raised comes first.
[[noreturn]] void raise(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (...) {
    keep_raised();
  }
  raise_interrupt();
  raise_kept();
  try {
    std::rethrow_exception(failure);
  } catch (const core::ConfigError& error) {
    raise("ConfigError", error.what());
  } catch (const core::DataError& error) {
    raise("DataError", error.what());
  } catch (const core::ShapeError& error) {
    raise("ShapeError", error.what());
  } catch (const core::StorageError& error) {
    raise("StorageError", error.what());
  } catch (const core::Error& error) {
    raise("Error", error.what());
  } catch (const c10::Error& error) {
    const std::string message = error.what_without_backtrace();
    raise("Error", message.substr(0, message.find('\n')));
  } catch (const std::bad_alloc&) {
    raise("Error", "out of memory. Lower batch (batch.samples where parameters are looked for).");
  } catch (const std::exception& error) {
    const std::string message = error.what();
    raise("Error", message.substr(0, message.find('\n')));
  }
}

}  // namespace

const run::Workloads& workloads() {
  static const run::Workloads all = cli::known_workloads(all_workloads());
  return all;
}

void guarded(const std::function<void()>& work) {
  forget();
  std::exception_ptr failure;
  {
    const nb::gil_scoped_release release;
    try {
      work();
    } catch (...) {
      failure = std::current_exception();
    }
  }
  if (failure) raise(failure);
}

int begin_ranks() {
  const nb::gil_scoped_release release;
  return ranks().size();
}

void end_ranks() {
  const nb::gil_scoped_release release;
  begun_ranks().reset();
}

bool claim_failure() { return ranks().status().claim_failure(); }

void abort_ranks(int exit_code) {
  const nb::gil_scoped_release release;
  cli::leave_no_unfinished_files();
  ranks().communicator().abort(exit_code);
}

nb::dict run_call(const Call& call) {
  static int depth = 0;  // the interpreter is held
  const struct Depth {
    Depth() { ++depth; }
    ~Depth() { --depth; }
  } one_more;
  if (depth > 1 && ranks().size() > 1)
    raise("ConfigError",
          "a function that SAGIPS calls on several ranks cannot call SAGIPS itself (the ranks would wait for each "
          "other). Start the script without a launcher.");
  forget();
  Said said;
  std::exception_ptr failure;
  const InterruptNotice notice;
  {
    std::optional<Work> work(call);
    const nb::gil_scoped_release release;
    const int threads = at::get_num_threads();
    try {
      said = (*work)();
    } catch (...) {
      failure = std::current_exception();
    }
    if (at::get_num_threads() != threads) at::set_num_threads(threads);
    work.reset();
  }
  interrupted();  // of a command that does not ask
  if (failure) raise(failure);
  if (!raise_interrupt()) forget();  // what a study went on without is in its remarks
  nb::dict all;
  all["folder"] = said.folder;
  all["complete"] = said.complete;
  all["problems"] = said.problems;
  all["files"] = said.files;
  for (const auto& [name, value] : said.texts) all[name.c_str()] = value;
  nb::list tensors;
  for (const auto& [name, tensor] : said.tensors) tensors.append(nb::make_tuple(name, tensor));
  all["tensors"] = tensors;
  return all;
}

int run_program(const std::vector<std::string>& words, const std::vector<std::string>& program) {
  const struct Forget {
    ~Forget() { forget(); }  // the exit code has said it
  } at_end;
  const nb::gil_scoped_release release;
  std::vector<std::string> kept{"sagips"};
  kept.insert(kept.end(), words.begin(), words.end());
  std::vector<char*> pointers;
  for (std::string& word : kept) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return cli::run(static_cast<int>(kept.size()), pointers.data(), all_workloads(), program);
}

nb::list describe(const std::string& source) {
  std::vector<core::FieldDescription> fields;
  guarded([&] {
    run::Job job = run::read_any_job(workloads(), source, {});
    fields = run::describe_job(workloads(), job, "");
  });
  nb::list all;
  for (const auto& field : fields) {
    nb::dict one;
    one["key"] = field.key;
    one["type"] = field.type;
    one["range"] = field.range;
    one["help"] = field.help;
    one["value"] = field.value;
    all.append(one);
  }
  return all;
}

}  // namespace sagips::python
