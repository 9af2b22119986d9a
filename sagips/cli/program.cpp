#include "sagips/cli/program.hpp"

#include <CLI/CLI.hpp>
#include <functional>
#include <iostream>

#include "sagips/cli/commands.hpp"
#include "sagips/core/text.hpp"
#include "sagips/core/version.hpp"
#include "sagips/nn/memory.hpp"

namespace sagips::cli {

namespace {

using Command = core::ExitCode (*)(const Workloads&, const Arguments&);

struct CommandEntry {
  const char* name;
  const char* summary;
  const char* source;  ///< name of the first argument; empty: none
  const char* source_help;
  const char* examples;
  Command command;
  enum class Source { required, optional, none } use;
};

const char* const source_help =
    "a workload, WORKLOAD/SETTINGS, or a YAML file with a key `workload`";

using Use = CommandEntry::Source;

const CommandEntry commands[] = {
    {"train", "learn the parameters behind measured events", "NAME|FILE", source_help,
     "  sagips train proxy1d\n"
     "  sagips train proxy1d train.epochs=500 run.name=short\n"
     "  sagips train resonance data.file=Zmumu_Run2011A_masses.csv\n"
     "  sagips train my_settings.yaml optimizer.generator.learning_rate=1e-4\n",
     train, Use::required},
    {"check", "look at config, data and pipeline without running", "NAME|FILE", source_help,
     "  sagips check proxy1d\n"
     "  sagips check resonance data.file=masses.csv\n",
     check, Use::required},
    {"fit", "maximum-likelihood fit, where the pipeline's density is known", "NAME|FILE",
     source_help,
     "  sagips fit proxy1d\n"
     "  sagips fit resonance data.file=Zmumu_Run2011A_masses.csv parameters.width.fixed=null\n",
     fit, Use::required},
    {"generate", "write toy events and the settings that read them", "NAME|FILE", source_help,
     "  sagips generate proxy1d events=10000 out=toy.npy\n"
     "  sagips generate resonance mass=90.5 resolution=2 events=5000 out=toy.npy run.seed=7\n",
     generate, Use::required},
    {"predict", "write proposals of a trained generator", "RUN", "the folder of a run",
     "  sagips predict runs/proxy1d/short samples=50000\n"
     "  sagips predict runs/proxy1d/short samples=1000 out=predictions.npy\n",
     predict, Use::required},
    {"list", "the workloads and their settings", "", "", "  sagips list\n", list, Use::none},
    {"explain", "what a config key means", "KEY",
     "a dotted key or the first part of one; without it all keys",
     "  sagips explain optimizer.generator.learning_rate\n"
     "  sagips explain parameters workload=resonance\n",
     explain, Use::optional},
};

int report(const core::Error& error) {
  std::cerr << "sagips: error: " << error.what() << std::endl;
  return static_cast<int>(error.exit_code());
}

int guarded(const std::function<core::ExitCode()>& call) {
  try {
    return static_cast<int>(call());
  } catch (const core::Error& error) {
    return report(error);
  } catch (const c10::Error& error) {
    const std::string message = error.what_without_backtrace();
    return report(core::Error(message.substr(0, message.find('\n'))));
  } catch (const std::bad_alloc&) {
    return report(
        core::Error("out of memory. Lower batch.samples, train.engine.tile_samples or "
                    "evaluation.samples."));
  } catch (const std::exception& error) {
    return report(core::Error(error.what()));
  }
}

}  // namespace

int run(int argc, char** argv, std::initializer_list<optim::WorkloadEntry> workloads) {
  nn::keep_freed_memory();
  return guarded([&] {
    Workloads known("workload");
    for (const auto& entry : workloads) known.add(entry.name, entry);

    CLI::App app("SAGIPS finds the parameters behind measured events.", "sagips");
    app.set_version_flag("--version",
                         core::text("sagips ", core::version(), " (", core::git_hash(), ")"));
    app.require_subcommand(1);
    app.footer(
        "Examples:\n  sagips train proxy1d\n  sagips fit proxy1d\n  sagips list\n"
        "`sagips COMMAND --help` has more.\n\n"
        "Exit codes: 0 done, 1 failed while running, 2 bad input, 3 stopped early with a usable "
        "state.");
    Arguments arguments;
    for (const CommandEntry& entry : commands) {
      CLI::App* command = app.add_subcommand(entry.name, entry.summary);
      if (entry.use != Use::none) {
        CLI::Option* source =
            command->add_option(entry.source, arguments.source, entry.source_help);
        if (entry.use == Use::required) source->required();
        command->add_option("key=value", arguments.assignments,
                            "overrides of the config; see `sagips explain`");
      }
      command->footer(std::string("Examples:\n") + entry.examples);
    }
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      if (error.get_exit_code() == 0) {  // --help, --version
        app.exit(error);
        return core::ExitCode::done;
      }
      throw core::ConfigError("command line", core::text(error.what(), ". See `sagips --help`."));
    }
    for (const CommandEntry& entry : commands)
      if (app.got_subcommand(entry.name)) return entry.command(known, arguments);
    return core::ExitCode::bad_input;
  });
}

}  // namespace sagips::cli
