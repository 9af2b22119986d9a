#include "sagips/run/train.hpp"

#include <algorithm>
#include <functional>
#include <optional>

#include "sagips/core/text.hpp"
#include "sagips/nn/device.hpp"
#include "sagips/problem/channel_share.hpp"
#include "sagips/run/loading.hpp"
#include "sagips/run/outcome.hpp"
#include "sagips/run/rank_agreement.hpp"
#include "sagips/run/run_outputs.hpp"
#include "sagips/run/timing.hpp"
#include "sagips/run/training.hpp"
#include "sagips/run/training_setup.hpp"
#include "sagips/train/collectives.hpp"

namespace sagips::run {

namespace {

constexpr std::int64_t stored_proposals = 10000;

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
  if (job.settings.gan.discriminator.exchange != "none")
    throw core::ConfigError("discriminator.exchange",
                            "ranks.channels=divided gives ranks discriminators of different data "
                            "sets (their gradients have nothing in common). Set it to none.");
  if (job.settings.exchange == "none")
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
void begin(const Job& job, comm::Ranks& ranks, const problem::LoadedData& data,
           TrainingSetup& setup, core::Log& log) {
  optim::SolveContext context;
  context.seed = job.seed();
  context.place = {ranks.rank(), ranks.size()};
  if (ranks.size() > 1)
    context.add_up = [&ranks](std::span<double> numbers) { train::add_up(ranks, numbers); };
  // the ranks' own events overlap; sums over ranks need parts that do not
  const auto solution = setup.begin(job, data.training(parts_share(job, ranks)), context);
  if (!solution || !ranks.is_first()) return;
  warn_of_misfit(goodness_results(solution->goodness), log);
  warn_of_doubts(*solution, log);
  log.info(core::text("the generator begins at the solution of the moments, found in ",
                      core::duration(solution->time_s)));
}

// What the networks' answer is judged by: all events, and what the discriminators learned, where there
// is one for each channel. data: none where no rank holds all events
env::Environment judges(const std::optional<problem::LoadedData>& data,
                        const env::Environment& environment, const optim::Gan& gan) {
  env::Environment seen = data ? data->all() : environment;
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

// Before a folder is made.
void check_metric(const Job& job, const env::Environment& environment) {
  const train::EarlyStopConfig& config = job.settings.early_stop;
  const optim::GanOptimizerConfig& rules = job.settings.gan.optimizer;
  if (!config.watches() && !rules.generator.waits_for_plateau() &&
      !rules.discriminator.waits_for_plateau())
    return;
  const std::vector<std::string> known = train::metric_names(environment);
  if (std::find(known.begin(), known.end(), config.metric) == known.end())
    throw core::ConfigError("early_stop.metric",
                            core::text("no evaluation has a '", config.metric,
                                       "'. There are: ", core::join(known, ", "), "."));
}

}  // namespace

Results train(const Job& job, comm::Ranks& ranks, const TrainOptions& options, core::Log& log) {
  Timing timing;
  timing.begin("preparation");
  job.settings.loop.check();  // before anything is made
  check_fading(job);
  check_agreement(ranks, job.effective_config);
  ranks.timeout().set_config(
      {.timeout_s = job.settings.ranks.timeout_s, .alarmed = options.requests.stop});
  nn::device_from_name(job.settings.device);
  const int threads = set_threads(job, ranks, log);
  const problem::DataShare share = training_share(job, ranks);
  std::optional<problem::LoadedData> data = load_data(job, ranks);
  const env::Environment environment = data->training(share);
  check_metric(job, environment);
  TrainingSetup setup(job, own_channels(job, environment, share.place), job.seed(), share.place);
  train::RankExchange exchange(ranks, setup.gan, job.settings.exchange_choice(), job.seed());
  const std::string print = data->print();
  RunOutputs outputs(job, ranks, options.start, print, threads, log,
                     timing);  // what can be refused has been
  Beginning beginning = outputs.beginning();
  const double trained_before_s = beginning.restored ? beginning.restored->time_s : 0;
  if (!beginning.restored) {
    begin(job, ranks, *data, setup, log);
    check_equal_start(ranks, setup.gan.generator().shared_weights());
  }
  // rank 0 alone asks for all events again, at the end
  if (!ranks.is_first() || (share.sharded && ranks.size() > 1)) data.reset();
  const train::Evaluator evaluator(job.settings.evaluation, environment, job.seed());

  if (ranks.is_first()) say_start(job, ranks, environment, exchange, threads, log);
  timing.begin("evaluations and records");
  const Training training = guarded_training(outputs.path(), [&] {
    return run_training(job, ranks, setup, exchange, evaluator, std::move(beginning),
                        options.observers, options.requests, log);
  });
  Results results{.folder = outputs.path()};
  results.left = training.left;
  if (training.left) {
    if (ranks.is_first()) outputs.finish(record::RunStatus::stopped);
    return results;
  }
  const record::RunFinished& finished = training.record.finished;
  timing.take_out("training", finished.time_s - trained_before_s);
  if (ranks.is_first())
    log.info(core::text("finished: ", training.failure ? "failed" : finished.reason, " after ",
                        finished.epochs, " epochs, ", core::duration(finished.time_s)));

  results.rows = gather_rows(ranks, training.row);
  const auto proposals = train::gather(ranks, setup.gan.predict(stored_proposals));
  const auto weights = train::gather(ranks, setup.gan.predicting_weights());
  if (ranks.is_first()) {
    const env::Environment all =
        training.failure ? environment : judges(data, environment, setup.gan);
    results.results =
        outputs.write(environment, all, training, results.rows, torch::stack(proposals).mean(0),
                      torch::stack(weights), evaluator);
  }
  results.figure = outputs.figure();
  results.page = outputs.page();
  outputs.finish(training.failure ? record::RunStatus::failed
                 : finished.complete || !job.settings.checkpoints.are_written()
                     ? record::RunStatus::finished  // what has no checkpoint cannot go on
                     : record::RunStatus::stopped);
  training.agreement->part();
  results.complete = finished.complete;
  results.failure = training.failure;
  return results;
}

}  // namespace sagips::run
