#include "sagips/cli/program.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <functional>
#include <iostream>

#include "sagips/cli/completion.hpp"
#include "sagips/cli/job_ranks.hpp"
#include "sagips/cli/output.hpp"
#include "sagips/core/log.hpp"
#include "sagips/core/process/child_process.hpp"
#include "sagips/core/text.hpp"
#include "sagips/core/version.hpp"
#include "sagips/nn/memory.hpp"
#include "sagips/nn/script.hpp"
#include "sagips/record/results.hpp"
#include "sagips/run/compare.hpp"
#include "sagips/study/convergence_plan.hpp"
#include "sagips/study/experiments.hpp"
#include "sagips/study/plan.hpp"
#include "sagips/study/scaling/scaling_plan.hpp"
#include "sagips/study/simulated/simulation_plan.hpp"
#include "sagips/study/tune/tune_config.hpp"

namespace sagips::cli {

namespace {

using Over = CommandEntry::OverRanks;

const CommandEntry commands[] = {
    {"train",
     "learn the parameters behind measured events, or train a network on rows",
     "  sagips train proxy1d\n"
     "  sagips train classify train.epochs=5\n"
     "  sagips train proxy1d train.epochs=500 run.name=short\n"
     "  sagips train resonance data.file=Zmumu_Run2011A_masses.csv\n"
     "  sagips train my_settings.yaml optimizer.generator.learning_rate=1e-4\n"
     "  sagips train proxy1d --timeline train.epochs=50\n"
     "  mpirun -n 4 sagips train proxy1d exchange=arar_arar\n"
     "The same command goes on with a run that was interrupted.\n",
     train,
     Over::all,
     {{"fresh", "", "begin a new run although the same command was interrupted earlier"},
      {"override", "", "go on with the run run.name although the config has changed"},
      {"timeline", "",
       "write a trace of the first 100 epochs (train.timeline=N: N epochs) for ui.perfetto.dev"},
      {"monitor", "", "measure processors, memory, GPUs and network twice a second"},
      quiet_option,
      json_option}},
    {"check",
     "look at config, data and pipeline or networks without running",
     "  sagips check proxy1d\n"
     "  sagips check resonance data.file=masses.csv\n"
     "  mpirun -n 4 sagips check proxy1d exchange=served generator.shared=all\n",
     check,
     Over::all,
     {quiet_option}},
    {"fit",
     "maximum-likelihood fit, where the pipeline's density is known",
     "  sagips fit proxy1d\n"
     "  sagips fit resonance data.file=Zmumu_Run2011A_masses.csv parameters.width.fixed=null\n",
     fit,
     Over::one,
     {quiet_option, json_option}},
    {"solve",
     "find the parameters without training a network",
     "  sagips solve proxy1d\n"
     "  sagips solve proxy1d solve.bootstraps=100\n"
     "  sagips solve proxy1d solve.method=likelihood\n"
     "  sagips solve resonance data.file=Zmumu_Run2011A_masses.csv\n"
     "  mpirun -n 4 sagips solve proxy1d toy.events=1000000\n"
     "With simulators of their own (`process`) the same command goes on where it was "
     "interrupted.\n",
     solve,
     Over::all,
     {{"fresh", "", "begin anew although the same command was interrupted earlier"},
      quiet_option,
      json_option}},
    {"compare",
     "several methods on one workload, distance against time",
     "  sagips compare proxy1d\n"
     "  sagips compare proxy1d compare.methods=[moments,likelihood,gan] compare.minutes=0.5\n",
     compare,
     Over::one,
     {},
     {run::settings_group<run::CompareConfig>("compare",
                                              "which methods `sagips compare` lets run")}},
    {"ensemble",
     "train many networks on the same data, or on k folds: their mean and their spread",
     "  sagips ensemble proxy1d --members 20\n"
     "  sagips ensemble proxy1d --members 10 --vary both\n"
     "  sagips ensemble classify --vary folds --members 5\n"
     "  sagips ensemble proxy1d --grid generator.width=32,64 --grid batch.samples=16,32\n"
     "  sagips ensemble proxy1d --members 5 --ranks 2 exchange=arar_arar\n"
     "  mpirun -n 8 sagips ensemble proxy1d --members 40\n",
     ensemble,
     Over::all,
     ensemble_options(),
     {run::settings_group<study::EnsembleConfig>("ensemble",
                                                 "how `sagips ensemble` trains many networks")}},
    {"tune",
     "search for the settings with which trainings end best",
     "  sagips tune classify tune.maximise=accuracy "
     "'tune.space=[{key: optimizer.learning_rate, low: 1e-4, high: 1e-1, log: true}]'\n"
     "  sagips tune my_search.yaml --trials 100\n"
     "  mpirun -n 12 sagips tune my_search.yaml --block-ranks 4\n"
     "  sagips tune runs/learning/my_search --worker\n"
     "The same command goes on with a search that was interrupted.\n",
     tune,
     Over::all,
     tune_options(),
     {run::settings_group<study::TuneConfig>("tune", "what `sagips tune` searches, and how")}},
    {"convergence",
     "compare exchanges, outer periods and numbers of ranks: residuals over time",
     "  sagips convergence proxy1d/cold --ranks 4 --members 5\n"
     "  sagips convergence proxy1d/cold --exchanges all_reduce,arar --ranks 2 --members 2\n"
     "  sagips convergence proxy1d/cold --exchanges arar_arar --outer-periods 1,5,20 "
     "exchanges.grouped.group_size=2\n"
     "  sagips convergence proxy1d/cold --exchanges arar_arar --over-ranks 1,2,4 --batch both\n",
     convergence,
     Over::one,
     convergence_options(),
     {run::settings_group<study::ConvergenceConfig>(
         "convergence", "which trainings `sagips convergence` compares")}},
    {"scaling",
     "what more ranks and larger batches bring: speed-up, where the time goes, accuracy, cost",
     "  sagips scaling jets/dense --ranks 1,2 --repeats 1 data.rows=2000 train.epochs=3\n"
     "  sagips scaling jets/dense --ranks 1,2,4 --exchanges all_reduce,ring --mode both\n"
     "  sagips scaling jets/dense --ranks 1 --batches 400,1600 --rates none,square_root,linear "
     "--target 0.7\n"
     "  sagips scaling jets/dense --ranks 1,2,4 --simulate 8,64,256 scaling.published=[horovod]\n"
     "  sagips scaling jets/dense --ranks 1,2,4 --with runs/jets/other_machine\n"
     "  sagips scaling jets/dense --ranks 1,2,4,8 --jobs slurm run.name=cluster\n",
     scaling,
     Over::one,
     scaling_options(),
     {run::settings_group<study::ScalingConfig>("scaling", "what `sagips scaling` measures")}},
    {"closure",
     "repeat a closure test: are the errors what estimates scatter by?",
     "  sagips closure proxy1d --experiments 1000\n"
     "  sagips closure resonance data.file=masses.npy --experiments 100\n"
     "  sagips closure proxy1d/closure --experiments 100 --method gan\n"
     "  mpirun -n 8 sagips closure proxy1d --experiments 1000 solve.bootstraps=20\n",
     closure,
     Over::all,
     closure_options(),
     {run::settings_group<study::ClosureConfig>("closure", "what `sagips closure` repeats")}},
    {"simulate",
     "what each exchange would take on a cluster, with its real code on simulated ranks",
     "  sagips simulate proxy1d/paper\n"
     "  sagips simulate proxy1d/paper --ranks 4,40,400 --exchanges ring,arar_arar,rabenseifner\n"
     "  sagips simulate proxy1d/paper --platform my_cluster.yaml simulate.scenario.compute_s=0.02\n"
     "  sagips simulate proxy1d/paper --ranks 1000,2000\n"
     "  sagips simulate proxy1d/paper simulate.compute_from=runs/proxy1d/one_rank\n"
     "  sagips simulate gaussians/many_ranks --convergence --ranks 64 "
     "simulate.scenario.compute_s=0.005\n",
     simulate,
     Over::one,
     simulate_options(),
     {run::settings_group<study::SimulateConfig>(
         "simulate", "what `sagips simulate` lets run on a simulated cluster")}},
    {"generate",
     "write toy events or drawn showers, and the settings that read them",
     "  sagips generate proxy1d events=10000 out=toy.npy\n"
     "  sagips generate resonance mass=90.5 resolution=2 events=5000 out=toy.npy run.seed=7\n"
     "  sagips generate calorimeter3d events=1000 data.lowest_energy_GeV=100 out=showers.h5\n",
     generate,
     Over::one,
     {quiet_option}},
    {"predict",
     "write proposals or examples of a trained generator, or what a network says of rows",
     "  sagips train proxy1d train.epochs=50 run.name=short && sagips predict runs/proxy1d/short\n"
     "  sagips predict runs/proxy1d/short samples=50000\n"
     "  sagips predict runs/proxy1d/short samples=1000 out=predictions.npy\n"
     "  sagips predict runs/learning/first inputs=new.csv out=new.npy\n"
     "  sagips predict runs/learning/first network=last\n"
     "  sagips predict runs/classify/folds\n"
     "  sagips predict runs/generation/digits samples=100 seed=7\n"
     "  sagips predict runs/calorimeter3d/first inputs.energy=2.5 inputs.angle=1.57 samples=100 "
     "out=made.h5\n"
     "A condition of a generator of examples is a number for all of them, or a file with one for "
     "each.\n",
     predict,
     Over::one,
     {quiet_option},
     {},
     "RUN",
     "the folder of a run, or of an ensemble of networks that learn from rows"},
    {"report",
     "one page with everything that a run found, or several runs side by side",
     "  sagips train proxy1d train.epochs=50 run.name=short && sagips report runs/proxy1d/short\n"
     "  sagips report runs/proxy1d/short\n"
     "  sagips report runs/proxy1d/one runs/proxy1d/two --out both.html\n"
     "  sagips report runs/proxy1d/short --figures paper_figures\n",
     report,
     Over::first,
     {{"out", "FILE", "the page; default: report.html in the run's folder, or here for several"},
      {"figures", "FOLDER", "every figure there, too, as SVG, PDF, PNG and CSV"},
      quiet_option},
     {},
     "RUN",
     "the folder of a run",
     true,
     "RUN...",
     "further runs, to compare"},
    {"new",
     "write a working folder for a stage or a program of your own",
     "  sagips new stage smearing\n"
     "  sagips new stage smearing language=cpp\n"
     "  sagips new stage simulator language=process\n"
     "  sagips new workload decay\n",
     write_skeleton,
     Over::one,
     {},
     {},
     "KIND",
     "stage or workload; NAME and language=python|cpp|process follow",
     true,
     "NAME",
     "what it is called",
     {"stage", "workload"}},
    {"list",
     "the workloads, their settings, the exchanges between ranks, the solvers, kinds of stages",
     "  sagips list\n"
     "  sagips list stages\n",
     list,
     Over::first,
     {},
     {},
     "WHAT",
     "workloads, exchanges, solvers or stages; without it all of them",
     false,
     "",
     "",
     {"workloads", "exchanges", "solvers", "stages"}},
    {"explain",
     "what a config key means",
     "  sagips explain optimizer.generator.learning_rate\n"
     "  sagips explain parameters workload=resonance\n"
     "  sagips explain event_filter\n",
     explain,
     Over::first,
     {},
     {},
     "KEY",
     "a dotted key, the first part of one, or a kind of stage; without it all keys",
     false},
    {"completion",
     "a script that lets the shell complete commands, workloads, options and config keys",
     "  sagips completion bash\n"
     "  source <(sagips completion zsh)\n",
     completion,
     Over::first,
     {},
     {},
     "SHELL",
     "bash or zsh",
     true,
     "",
     "",
     {"bash", "zsh"}},
};

// "  sagips train proxy1d\n..."
std::string first_example(const CommandEntry& entry) {
  return core::trim(core::split(entry.examples, '\n').front());
}

const CommandEntry* find_command(const std::string& name) {
  const auto* const found = std::find_if(std::begin(commands), std::end(commands),
                                         [&](const auto& entry) { return entry.name == name; });
  return found == std::end(commands) ? nullptr : found;
}

// CLI11 would show the general help for `sagips nosuch --help`.
void require_command(const std::vector<std::string>& words) {
  if (words.empty())
    throw core::ConfigError("command line",
                            "say what to do, for example: sagips solve proxy1d. `sagips --help` "
                            "lists the commands.");
  const std::string& name = words.front();
  if (name.starts_with("-") || find_command(name)) return;
  std::vector<std::string> known;
  for (const CommandEntry& entry : commands) known.emplace_back(entry.name);
  throw core::ConfigError("command line", core::text("unknown command '", core::excerpt(name), "'",
                                                     core::suggestion(name, known)));
}

// Of two values one would be passed over; an empty one is as an unset shell variable gives it.
void require_value(const std::string& name, const std::vector<std::string>& values, bool repeats) {
  if (!repeats && values.size() > 1)
    throw core::ConfigError("--" + name,
                            core::text("is given twice, '", core::excerpt(values[0]), "' and '",
                                       core::excerpt(values[1]), "'. Give it once."));
  const bool given =
      !values.empty() && std::none_of(values.begin(), values.end(), [](const std::string& value) {
        return core::trim(value).empty();
      });
  if (given) return;
  throw core::ConfigError("--" + name,
                          "has an empty value (an unset shell variable?). Give one, or leave the "
                          "option out.");
}

void add_options(CLI::App& command, const CommandEntry& entry, Arguments& arguments) {
  for (const CommandOption& option : entry.options) {
    const std::string name = option.name;
    if (*option.value == '\0')
      command.add_flag_callback(
          "--" + name, [&arguments, name] { arguments.options[name]; }, option.help);
    else
      command
          .add_option_function<std::vector<std::string>>(
              "--" + name,
              [&arguments, name, repeats = option.repeats](const auto& values) {
                require_value(name, values, repeats);
                arguments.options[name] = values;
              },
              option.help)
          ->type_name(option.value)
          ->allow_extra_args(false)
          ->group(option.hidden ? "" : "Options")
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }
}

// What the command line may say, and where it goes.
void describe(CLI::App& app, Arguments& arguments) {
  app.set_version_flag("--version",
                       core::text("sagips ", core::version(), " (", core::git_hash(), ")"));
  app.require_subcommand(1);
  app.footer(
      "Examples:\n  sagips train proxy1d\n  sagips fit proxy1d\n  sagips list\n"
      "`sagips COMMAND --help` has more.\n\n"
      "Exit codes: 0 done, 1 failed while running, 2 bad input, 3 stopped early with a usable "
      "state. mpirun gives 1 where it is stopped itself.");
  for (const CommandEntry& entry : commands) {
    CLI::App* command = app.add_subcommand(entry.name, entry.summary);
    if (*entry.source != '\0') {
      command->add_option(entry.source, arguments.source, entry.source_help);
      if (*entry.rest != '\0')
        command->add_option(entry.rest, arguments.assignments, entry.rest_help);
    }
    add_options(*command, entry, arguments);
    command->footer(std::string("Examples:\n") + entry.examples);
  }
}

// Returns false where help or the version was asked for, and shown.
bool parse(CLI::App& app, int argc, char** argv, const std::string& command,
           const comm::Ranks& ranks) {
  try {
    app.parse(argc, argv);
    return true;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      if (ranks.is_first()) app.exit(error);
      return false;
    }
    throw core::ConfigError("command line",
                            core::text(error.what(), ". See `sagips ",
                                       find_command(command) ? command + " " : "", "--help`."));
  }
}

// One rank that fails ends them all.
int report(const core::Error& error, const std::unique_ptr<comm::Ranks>& ranks) {
  if (ranks && ranks->size() > 1) end_job(*ranks, error.what(), error.exit_code());
  std::cerr << "sagips: error: " << error.what() << std::endl;
  return static_cast<int>(error.exit_code());
}

int guarded(const std::unique_ptr<comm::Ranks>& ranks,
            const std::function<core::ExitCode()>& call) {
  try {
    const core::ExitCode code = call();
    if (!std::cout.flush())
      throw core::StorageError("standard output",
                               "cannot be written. Free space, or lead it elsewhere.");
    return static_cast<int>(code);
  } catch (const core::Error& error) {
    return report(error, ranks);
  } catch (const std::exception& error) {
    return report(core::Error(nn::first_line(error)), ranks);
  }
}

core::ExitCode run_command(const CommandEntry& entry, const Workloads& known, Arguments& arguments,
                           comm::Ranks& ranks) {
  if (entry.needs_source && core::trim(arguments.source).empty())
    throw core::ConfigError(
        "command line", core::text("`sagips ", entry.name, "` needs ", entry.source, " (",
                                   entry.source_help, "), for example: ", first_example(entry)));
  arguments.ranks = &ranks;
  if (entry.over_ranks == CommandEntry::OverRanks::one) require_one_rank(ranks, entry.name);
  if (entry.over_ranks == CommandEntry::OverRanks::first && !ranks.is_first())
    return core::ExitCode::done;
  std::string folder;
  arguments.folder = &folder;
  std::vector<core::Warning> warnings;
  arguments.warnings = &warnings;
  arguments.quiet = arguments.options.contains(quiet_option.name);
  const bool json = arguments.options.contains(json_option.name);
  const Output output({arguments.quiet, json});
  const core::ExitCode code = entry.command(known, arguments);
  if (json && !folder.empty()) output.write(record::results_of_folder(folder, warnings));
  return code;
}

}  // namespace

std::string option(const Arguments& arguments, const std::string& name) {
  const auto found = arguments.options.find(name);
  return found == arguments.options.end() || found->second.empty() ? "" : found->second.front();
}

void assign_option(std::vector<std::string>& assignments, const std::string& name,
                   const std::string& key, const std::string& value) {
  for (const std::string& assignment : assignments)
    if (core::trim(assignment.substr(0, assignment.find('='))) == key)
      throw core::ConfigError("--" + name,
                              core::text("sets ", key, ", and '", core::excerpt(assignment),
                                         "' does, too. Leave either out."));
  assignments.push_back(core::text(key, "=", value));
}

void assign_options(std::vector<std::string>& assignments, const Arguments& arguments,
                    const std::string& section, const std::vector<std::string>& names,
                    bool as_list) {
  for (const std::string& name : names) {
    const std::string value = option(arguments, name);
    if (value.empty()) continue;
    std::string key = name;
    std::replace(key.begin(), key.end(), '-', '_');
    assign_option(assignments, name, section + "." + key, as_list ? "[" + value + "]" : value);
  }
}

void assign_quoted(std::vector<std::string>& assignments, const Arguments& arguments,
                   const std::string& name, const std::string& key) {
  const auto given = arguments.options.find(name);
  if (given == arguments.options.end()) return;
  std::vector<std::string> quoted;
  for (const std::string& value : given->second) {
    std::string text;
    for (const char letter : value) {
      if (letter == '"' || letter == '\\') text += '\\';
      text += letter;
    }
    quoted.push_back(core::text("\"", text, "\""));
  }
  assign_option(assignments, name, key, "[" + core::join(quoted, ", ") + "]");
}

record::Start start_of(const Arguments& arguments) {
  return record::start_of(arguments.options.count("fresh") > 0,
                          arguments.options.count("override") > 0);
}

void say_report(const std::string& page) {
  if (!page.empty()) std::cout << "report: " << page << std::endl;
}

void say_folder(const Arguments& arguments, const std::string& folder) {
  std::cout << "run folder: " << folder << std::endl;
  *arguments.folder = folder;
}

Workloads known_workloads(const std::vector<problem::Entry>& workloads) {
  Workloads known("workload");
  for (const auto& entry : workloads) known.add(entry.name, entry);
  for (const CommandEntry& entry : commands)
    known.groups.insert(known.groups.end(), entry.settings.begin(), entry.settings.end());
  return known;
}

int run(int argc, char** argv, const std::vector<problem::Entry>& workloads,
        const std::vector<std::string>& program) {
  leave_no_unfinished_files();
  std::signal(SIGUSR1, SIG_IGN);  // asks a training for a checkpoint; nobody else minds
  nn::keep_freed_memory();
  std::unique_ptr<comm::Ranks> ranks;
  return guarded(ranks, [&] {
    ranks = make_ranks();
    const Workloads known = known_workloads(workloads);
    const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
    if (words.size() > 1 && words[0] == "completion" && words[1] == "words") {  // asked by a shell
      for (const auto& one : completions(commands, known, {words.begin() + 2, words.end()}))
        std::cout << one << '\n';
      return core::ExitCode::done;
    }
    require_command(words);

    CLI::App app(
        "SAGIPS finds the parameters behind measured events, and trains networks on many ranks.",
        "sagips");
    Arguments arguments;
    arguments.program = program.empty() ? std::vector{core::own_program()} : program;
    describe(app, arguments);
    if (!parse(app, argc, argv, words[0], *ranks)) return core::ExitCode::done;
    for (const CommandEntry& entry : commands)
      if (app.got_subcommand(entry.name)) return run_command(entry, known, arguments, *ranks);
    return core::ExitCode::bad_input;
  });
}

}  // namespace sagips::cli
