#include <cstdlib>
#include <functional>
#include <iostream>
#include <optional>

#include "sagips/cli/commands.hpp"
#include "sagips/cli/data_parts.hpp"
#include "sagips/cli/interrupt.hpp"
#include "sagips/cli/job_ranks.hpp"
#include "sagips/cli/outcome.hpp"
#include "sagips/cli/rank_summary.hpp"
#include "sagips/cli/run_outputs.hpp"
#include "sagips/cli/timing.hpp"
#include "sagips/cli/training.hpp"
#include "sagips/core/text.hpp"
#include "sagips/nn/device.hpp"
#include "sagips/optim/gan/warm_start.hpp"
#include "sagips/problem/channel_share.hpp"
#include "sagips/record/open_run.hpp"
#include "sagips/train/add_up.hpp"
#include "sagips/train/distribute.hpp"
#include "sagips/train/gather.hpp"

namespace sagips::cli {

namespace {

constexpr std::int64_t stored_proposals = 10000;
constexpr std::int64_t usual_timeline = 100;  // epochs that --timeline traces

problem::DataShare share_of(const Job& job, comm::Ranks& ranks) {
  const train::RankConfig& config = job.settings.ranks;
  problem::DataShare share;
  share.place = {ranks.rank(), ranks.size()};
  const bool sharded = config.data == train::RankConfig::Data::sharded;
  const double usual =
      sharded ? 1 : train::traits_of(job.settings.exchange_choice(), ranks.size()).data_fraction;
  share.fraction = config.fraction.value_or(usual);
  if (sharded)
    share.sharded = true;
  else
    share.distribute = [&ranks](const problem::DataShare::Load& load) {
      return train::distribute(ranks, load);
    };
  return share;
}

// What one process of a job may use, and a warning when the launcher allows less than is asked for.
int set_threads(const Job& job, comm::Ranks& ranks, core::Log& log) {
  const int sharing = ranks_on_these_processors(ranks);
  const int threads = nn::set_threads(job.settings.threads, sharing);
  const int allowed = nn::allowed_processors();
  if (ranks.is_first() && threads > allowed && ranks.size() > 1)
    log.warning(core::text(threads, " threads a rank share ", allowed,
                           allowed == 1 ? " processor" : " processors",
                           " that the launcher binds it to (they take turns). Start with --bind-to "
                           "none or --map-by slot:PE=",
                           threads, ", or set threads=", allowed, "."));
  return threads;
}

void note_failure(const std::string& folder) {
  try {
    record::write_run_status(folder, record::RunStatus::failed);
  } catch (const core::StorageError&) {  // what failed is told by its own error
  }
}

// A failure of the problem itself would come again; one of the machine may not.
Training guarded_training(const std::string& folder, const std::function<Training()>& train) {
  try {
    return train();
  } catch (const comm::CommError&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const core::StateError&) {  // of another version: that one may go on
    throw;
  } catch (const std::exception&) {
    note_failure(folder);
    throw;
  }
}

// The ranks have left each other in the middle of an epoch, so there is nothing that they could
// still do together, ending in order included. Their launcher is about to kill them.
[[noreturn]] void leave(comm::Ranks& ranks, const RunOutputs& outputs, core::Log& log) {
  if (ranks.is_first()) {
    outputs.finish(record::RunStatus::stopped);
    log.info(core::text("stopped: the same command goes on with ", outputs.path()));
    log.flush();
    std::cout << "stopped; run folder: " << outputs.path() << std::endl;
  }
  ranks.board().take_leave();
  std::_Exit(static_cast<int>(core::ExitCode::stopped_early));
}

std::string event_counts(const env::Environment& environment) {
  std::vector<std::string> counts;
  for (const env::Channel& channel : environment.channels)
    counts.push_back(core::text(channel.training.size()));
  return core::join(counts, " + ");
}

// What this rank's networks work on: all channels, or one of them.
env::Environment own_channels(const Job& job, const env::Environment& all,
                              const problem::RankPlace& place) {
  if (job.settings.ranks.channels == train::RankConfig::Channels::all) return all;
  const train::ExchangeChoice choice = job.settings.exchange_choice();
  if (choice.discriminator != "none")
    throw core::ConfigError("discriminator.exchange",
                            "ranks.channels=divided gives ranks discriminators of different data "
                            "sets (their gradients have nothing in common). Set it to none.");
  if (choice.generator == "none")
    throw core::ConfigError("exchange",
                            "ranks.channels=divided shows each rank one data set (without an "
                            "exchange each generator would know only that one). Choose another.");
  if (job.settings.gan.generator.shared != nn::SharedPart::all)
    throw core::ConfigError("generator.shared",
                            "ranks.channels=divided shows each rank one data set (what is not "
                            "exchanged, such as biases, would learn of that one alone). Set it to "
                            "all.");
  return problem::channel_share(all, place);
}

// Where the config wants it: all ranks begin at one solution, to which each adds what its events say.
void begin(const Job& job, comm::Ranks& ranks, const env::Environment& environment, optim::Gan& gan,
           core::Log& log) {
  if (job.settings.gan.generator.start != optim::GeneratorConfig::Start::moments) return;
  optim::SolveContext context;
  context.seed = job.seed();
  context.place = {ranks.rank(), ranks.size()};
  if (ranks.size() > 1)
    context.add_up = [&ranks](std::span<double> numbers) { train::add_up(ranks, numbers); };
  // the ranks' own events overlap; sums over ranks need parts that do not
  const env::Environment parts =
      ranks.size() == 1
          ? environment
          : problem::make_environment(*job.workload, job.settings.data, problem::Split::held_out,
                                      job.seed(), parts_of_data(job, ranks));
  const optim::Solution solution =
      optim::warm_start(gan, parts, job.settings.solvers.moments, context);
  if (!ranks.is_first()) return;
  std::vector<record::GoodnessResult> goodness;
  for (const optim::GoodnessOfFit& one : solution.goodness)
    goodness.push_back({one.name, one.value, one.degrees_of_freedom, one.p_value});
  warn_of_misfit(goodness, log);
  warn_at_limits(solution.at_limit, log);
  log.info(core::text("the generator begins at the solution of the moments, found in ",
                      core::duration(solution.time_s)));
}

// What the networks' answer is judged by: all events, and what the discriminators learned, where there
// is one for each channel.
env::Environment judges(const Job& job, const comm::Ranks& ranks,
                        const env::Environment& environment, const optim::Gan& gan,
                        const Training& training) {
  if (training.failure) return environment;
  const bool sharded = job.settings.ranks.data == train::RankConfig::Data::sharded;
  env::Environment seen = sharded && ranks.size() > 1
                              ? environment
                              : problem::make_environment(*job.workload, job.settings.data,
                                                          problem::Split::all_training, job.seed());
  if (gan.channels() != seen.channels.size()) return seen;
  for (std::size_t k = 0; k < seen.channels.size(); ++k)
    seen.channels[k].features.push_back(gan.feature(k));
  return seen;
}

void say_start(const Job& job, comm::Ranks& ranks, const env::Environment& environment,
               const train::RankExchange& exchange, int threads, core::Log& log) {
  std::string line =
      core::text("training ", job.settings.workload, " on ", data_origin(environment), " with ",
                 threads, threads == 1 ? " thread" : " threads", ", seed ", job.settings.run.seed);
  if (ranks.size() > 1)
    line += core::text("; ", ranks.size(), " ranks (", ranks.communicator().description(), "), ",
                       event_counts(environment), " events each; ", exchange.description());
  log.info(line);
}

// Instance noise fades with the share of the epochs that are over.
void check_fading(const Job& job) {
  if (job.settings.gan.discriminator.instance_noise > 0 && job.settings.loop.epochs == 0)
    throw core::ConfigError("discriminator.instance_noise",
                            "the noise fades to 0 at the last epoch, and train.epochs=0 names none "
                            "(it would never fade). Set train.epochs.");
}

}  // namespace

core::ExitCode train(const Workloads& workloads, const Arguments& arguments) {
  comm::Ranks& ranks = *arguments.ranks;
  Timing timing;
  timing.begin("preparation");
  const CheckpointSignal checkpoint_signal;
  const record::Start start = record::start_of(arguments.options.count("fresh") > 0,
                                               arguments.options.count("override") > 0);
  std::vector<std::string> assignments = arguments.assignments;
  if (arguments.options.contains("timeline"))
    assignments.push_back(core::text("train.timeline=", usual_timeline));
  const Job job = read_job(workloads, arguments.source, assignments);
  job.settings.loop.check();  // before anything is made
  check_fading(job);
  const auto traits = train::traits_of(job.settings.exchange_choice(), ranks.size());
  check_agreement(ranks, job.effective_config);
  // alone, a signal during the preparations ends the program; among ranks it may tell of a death
  std::optional<InterruptGuard> interrupt;
  if (ranks.size() > 1) interrupt.emplace();
  ranks.patience().set_config({.timeout_s = job.settings.ranks.timeout_s,
                               .alarmed = [] { return InterruptGuard::requested(); }});

  core::Log log;
  const torch::Device device = nn::device_from_name(job.settings.device);
  const int threads = set_threads(job, ranks, log);
  const problem::DataShare share = share_of(job, ranks);
  const env::Environment environment = problem::make_environment(
      *job.workload, job.settings.data, problem::Split::held_out, job.seed(), share);
  optim::GanConfig gan_config = job.settings.gan;
  gan_config.optimizer.generator.learning_rate *= traits.learning_rate_factor;
  const env::Environment own = own_channels(job, environment, share.place);
  optim::Gan gan(gan_config, own, job.seed(), device, share.place);
  train::RankExchange exchange(ranks, gan, job.settings.exchange_choice(), job.seed());
  RunOutputs outputs(job, ranks, start, threads, log, timing);  // what can be refused has been
  Beginning beginning = outputs.beginning();
  const double trained_before_s = beginning.restored ? beginning.restored->time_s : 0;
  if (!beginning.restored) {
    begin(job, ranks, environment, gan, log);
    check_equal_start(ranks, gan.generator().shared_weights());
  }
  const train::Evaluator evaluator(job.settings.evaluation, environment, job.seed());

  if (ranks.is_first()) say_start(job, ranks, environment, exchange, threads, log);
  if (!interrupt) interrupt.emplace();
  timing.begin("evaluations and records");
  const Training training = guarded_training(outputs.path(), [&] {
    return turn_the_crank(job, ranks, gan, exchange, evaluator, std::move(beginning), log);
  });
  if (training.left) leave(ranks, outputs, log);
  if (ranks.size() == 1) interrupt.reset();
  const record::RunFinished& finished = training.record.finished;
  timing.take_out("training", finished.time_s - trained_before_s);
  if (ranks.is_first())
    log.info(core::text("finished: ", training.failure ? "failed" : finished.reason, " after ",
                        finished.epochs, " epochs, ", core::duration(finished.time_s)));

  const auto rows = gather_rows(ranks, training.row);
  const auto proposals = train::gather(ranks, gan.predict(stored_proposals));
  const auto weights = train::gather(ranks, gan.predicting_weights());
  if (ranks.is_first())
    outputs.write(environment, judges(job, ranks, environment, gan, training), training, rows,
                  torch::stack(proposals).mean(0), torch::stack(weights), evaluator);
  outputs.finish(training.failure ? record::RunStatus::failed
                 : finished.complete || !job.settings.checkpoints.are_written()
                     ? record::RunStatus::finished  // what has no checkpoint cannot go on
                     : record::RunStatus::stopped);
  training.accord->part();
  if (training.failure) std::rethrow_exception(training.failure);
  return finished.complete ? core::ExitCode::done : core::ExitCode::stopped_early;
}

}  // namespace sagips::cli
